"""Known-wrong and correct-but-odd submissions, each made from a solution by a textual edit.

``tests/kernels/wrong.toml`` and ``odd.toml`` list them; a variant applies to every exercise in
``EXERCISES`` unless its ``only`` names some. The text that is edited is the solution without its
comment lines and blank lines, so that one edit fits both exercises. A variant has one or more of

    edits       pairs (old, new) within the kernel; each old text must occur there exactly once
    kernel      a new text for the whole kernel
    file_edits  pairs (old, new) anywhere in the file
    append      text added at the end of the file
    text        the whole file

and says what its grading must give: ``outcome`` (FAIL for a wrong one, PASS for an odd one, unless it
says otherwise), ``name`` where the first diagnostic has no line, ``notes`` (names that must be among
the diagnostics), ``points`` (the report's) and ``check_points`` (without the questions), one number or
one for each exercise. Where the first diagnostic has a line, a comment ``# error: [name]`` stands on
it. ``also`` lists what may be reported after it; any other error fails the test. ``disputed`` says why
the grader does not give the wanted verdict yet.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.grade import grade
from grader.records import Report

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = ("01_tiled_matmul", "02_ragged_dims")
KINDS = ("wrong", "odd")

_MARKER = re.compile(r" *# error: \[([a-z0-9-]+)\]")
_KERNEL = re.compile(r"^@cuda\.jit\ndef tiled_matmul\(.*\n(?:[ \t].*\n)*", re.MULTILINE)


class VariantError(ValueError):
    """A variant does not fit its solution: an old text is missing or ambiguous, or a key is unknown."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What grading a variant must give. ``line`` is None where the first diagnostic has no place."""

    outcome: str
    name: str | None
    line: int | None
    also: frozenset[str]
    notes: frozenset[str]
    points: float | None
    check_points: float | None
    disputed: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One submission: its full text and what must come of it."""

    exercise: str
    kind: str
    name: str
    source: str
    expected: Expected

    def __str__(self) -> str:
        return f"{self.exercise[:2]}-{self.name}"


def variants(kind: str, exercise: str) -> tuple[Variant, ...]:
    """The variants of one kind ("wrong" or "odd") of one exercise, in the order of the file."""
    table = tomllib.loads((ROOT / "tests" / "kernels" / f"{kind}.toml").read_text(encoding="utf-8"))
    return tuple(
        _variant(kind, exercise, name, entry)
        for name, entry in table.items()
        if exercise in entry.get("only", EXERCISES)
    )


@cache
def graded(variant: Variant) -> Report:
    """The report on a variant without its mark, as from its own folder: graded once, for all who read it."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        path = Path(f"{variant.exercise}.py")
        path.write_text(_MARKER.sub("", variant.source), encoding="utf-8", newline="")
        return grade(variant.exercise, path)


@cache
def plain_solution(exercise: str) -> str:
    """The exercise's solution without comment lines and blank lines."""
    text = (ROOT / "solutions" / f"{exercise}.py").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    return "\n".join(lines) + "\n"


def _variant(kind: str, exercise: str, name: str, entry: dict[str, Any]) -> Variant:
    known = {"only", "edits", "kernel", "file_edits", "append", "text"}
    expectations = {"outcome", "name", "also", "notes", "points", "check_points", "disputed"}
    if unknown := entry.keys() - known - expectations:
        raise VariantError(f"{kind}.toml, {name}: unknown key {', '.join(sorted(unknown))}")
    source = entry.get("text") or _edited(f"{kind}.toml, {name}", exercise, entry)
    return Variant(exercise, kind, name, source, _expected(kind, source, entry, exercise))


def _edited(place: str, exercise: str, entry: dict[str, Any]) -> str:
    text = plain_solution(exercise)
    found = _KERNEL.search(text)
    if found is None:
        raise VariantError(f"{place}: no kernel tiled_matmul in the solution of {exercise}")
    kernel = entry.get("kernel") or found.group()
    for old, new in entry.get("edits", ()):
        kernel = _replaced(place, kernel, old, new)
    text = text[: found.start()] + kernel + text[found.end() :]
    for old, new in entry.get("file_edits", ()):
        text = _replaced(place, text, old, new)
    return text + str(entry.get("append", ""))


def _replaced(place: str, text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise VariantError(f"{place}: the text occurs {text.count(old)} times, not once: {old!r}")
    return text.replace(old, new)


def _expected(kind: str, source: str, entry: dict[str, Any], exercise: str) -> Expected:
    errors = [
        (found[1], number)
        for number, line in enumerate(source.splitlines(), start=1)
        for found in _MARKER.finditer(line)
    ]
    if len(errors) > 1:
        raise VariantError(f"{kind}.toml: more than one line is marked '# error:': {errors}")
    name, line = errors[0] if errors else (entry.get("name"), None)
    return Expected(
        outcome=entry.get("outcome", "FAIL" if kind == "wrong" else "PASS"),
        name=name,
        line=line,
        also=frozenset(entry.get("also", ())),
        notes=frozenset(entry.get("notes", ())),
        points=_points(entry.get("points"), exercise),
        check_points=_points(entry.get("check_points"), exercise),
        disputed=entry.get("disputed", ""),
    )


def _points(value: float | dict[str, float] | None, exercise: str) -> float | None:
    return value[exercise] if isinstance(value, dict) else value
