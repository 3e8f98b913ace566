"""A report as JSON, of the schema published in docs/report.schema.json."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from grader import __version__
from grader.records import Report

SCHEMA: Literal["tilegrade.report/1"] = "tilegrade.report/1"
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """One graded submission.

    ``schema`` grows its number when a field changes its meaning or goes; new fields do not change
    it, so a reader must ignore what it does not know. ``exit_code`` is that of ``grader check``.
    """

    schema: Literal["tilegrade.report/1"]
    grader: str
    exit_code: int
    report: Report


def render(report: Report) -> str:
    """Write a report as indented JSON that ends with a newline; its keys are the records' names.

    Raises
    ------
    ValueError
        A number of the report is not finite: a fault of the grader.
    """
    document = Document(SCHEMA, __version__, report.outcome.exit_code, report)
    tree = _clean(msgspec.to_builtins(document))
    return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def schema() -> str:
    """Write the JSON Schema of what :func:`render` writes."""
    tree = msgspec.json.schema(Document)
    tree = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **tree}
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def _clean(value: Any) -> Any:
    """Replace what UTF-8 cannot hold: lone surrogates, which a file's path may have."""
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    return value
