"""Every message in full, as reviewed prose.

``UPDATE_GOLDEN=1`` rewrites the files: read them before a commit.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.diagnosis import CATALOGUE, explain
from grader.records import Diagnostic, Label
from tests.unit.diagnosis.examples import EXAMPLES

GOLDEN = Path(__file__).parent / "golden"


def as_text(diagnostic: Diagnostic) -> str:
    rows = [f"{diagnostic.severity}[{diagnostic.name}]: {diagnostic.headline}"]
    if diagnostic.frame is not None:
        labels = [label for label in (diagnostic.frame.primary, diagnostic.frame.secondary) if label]
        for number, line in diagnostic.frame.lines:
            rows.append(f"{number:>4} | {line}")
            rows += [_mark(label) for label in labels if label.span.line == number]
    rows += [f"picture: {row}" for row in diagnostic.picture]
    rows += [f"seen:    {item}" for item in diagnostic.seen]
    rows += [f"because: {diagnostic.because}"]
    rows += [f"passed:  {diagnostic.passed}"] if diagnostic.passed else []
    rows += [f"checked: {diagnostic.checked}"]
    rows += [f"hint {level}:  {hint}" for level, hint in enumerate(diagnostic.hints, 1)]
    return "\n".join(row.rstrip() for row in rows) + "\n"


def _mark(label: Label) -> str:
    width = max(1, label.span.end_column - label.span.column)
    return "     | " + " " * (label.span.column - 1) + "^" * width + " " + label.text


def test_every_name_of_the_catalogue_has_an_example() -> None:
    assert set(EXAMPLES) == set(CATALOGUE)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_message_is_the_reviewed_one(name: str) -> None:
    example = EXAMPLES[name]
    text = as_text(explain(example.finding, example.context))
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CATALOGUE)
