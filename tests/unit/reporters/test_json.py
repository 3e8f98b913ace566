from __future__ import annotations

import importlib
import json as stdlib_json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader import __version__
from grader.records import Report
from grader.reporters import json
from tests.unit.reporters.samples import ALL, FAIL


@pytest.fixture(scope="module")
def jsonschema() -> Any:
    """Imported without a format that our schema has not, and whose grammar takes seconds to build."""
    with pytest.MonkeyPatch.context() as patch:
        if "jsonschema" not in sys.modules:
            patch.setitem(sys.modules, "rfc3987_syntax", None)
        return importlib.import_module("jsonschema")


@pytest.mark.parametrize("name", ALL)
def test_what_is_written_reads_back_as_the_same_report(name: str) -> None:
    document = msgspec.json.decode(json.render(ALL[name]), type=json.Document, strict=True)
    assert document == json.Document(
        "tilegrade.report/1", __version__, ALL[name].outcome.exit_code, ALL[name]
    )
    assert document.report.seconds == ALL[name].seconds


@pytest.mark.parametrize("name", ALL)
def test_what_is_written_fits_the_published_schema(name: str, root: Path, jsonschema: Any) -> None:
    schema = stdlib_json.loads((root / "docs/report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(stdlib_json.loads(json.render(ALL[name])), schema)


def test_the_published_schema_refuses_another_document(root: Path, jsonschema: Any) -> None:
    schema = stdlib_json.loads((root / "docs/report.schema.json").read_text(encoding="utf-8"))
    tree = stdlib_json.loads(json.render(FAIL))
    tree["report"]["outcome"] = "PROBABLY"
    with pytest.raises(jsonschema.ValidationError, match="PROBABLY"):
        jsonschema.validate(tree, schema)


def test_the_published_schema_is_that_of_the_records(root: Path, golden) -> None:  # type: ignore[no-untyped-def]
    golden(root / "docs/report.schema.json", json.schema())


def test_keys_say_what_a_reader_needs_first() -> None:
    tree = stdlib_json.loads(json.render(FAIL))
    assert list(tree) == ["schema", "grader", "exit_code", "report"]
    assert tree["exit_code"] == 1
    assert tree["report"]["outcome"] == "FAIL"
    assert tree["report"]["diagnostics"][0]["frame"]["primary"]["span"]["line"] == 41


def test_a_path_that_is_no_utf8_can_be_written() -> None:
    text = json.render(replace(FAIL, path="\udcff.py"))
    assert stdlib_json.loads(text.encode())["report"]["path"] == "\ufffd.py"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_points_that_are_no_number_are_a_fault_and_not_a_report(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json.render(replace(FAIL, points=value))


def test_every_field_of_a_report_is_written() -> None:
    tree = stdlib_json.loads(json.render(FAIL))
    assert set(tree["report"]) == set(Report.__dataclass_fields__)
