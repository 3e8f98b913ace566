"""Grading mutants and setting the first diagnosis against labels and oracles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader.grade_kernel import grade_kernel
from grader.records import Report
from grader.rubric.load import load
from grader.rubric.model import Rubric
from tests.mutation.mutant import Mutant
from tests.mutation.oracles import faulty
from tests.mutation.styles import style


@dataclass(frozen=True)
class Grading:
    """What grading a mutant gave: the outcome, and the first diagnosis with its line."""

    key: str
    outcome: str
    name: str
    severity: str
    line: int | None
    checked: str


@dataclass(frozen=True)
class Judgement:
    """A grading beside what is true of the mutant. ``named`` and ``line_right`` are False if not found.

    ``shown`` says whether an H200 gave anything but the right result; None where none was asked.
    """

    mutant: Mutant
    grading: Grading
    faulty: bool
    shown: bool | None = None

    @property
    def found(self) -> bool:
        return self.faulty and self.grading.outcome == "FAIL" and self.grading.severity == "error"

    @property
    def named(self) -> bool:
        return self.found and self.grading.name in self.mutant.labels

    @property
    def line_right(self) -> bool:
        return self.named and self.grading.line in self.mutant.labels[self.grading.name]

    @property
    def false_alarm(self) -> bool:
        return not self.faulty and (self.grading.outcome != "PASS" or self.grading.severity == "error")


@cache
def _rubric(path: Path) -> Rubric:
    return load(path)


def report_on(mutant: Mutant) -> Report:
    rubric = _rubric(style(mutant.style).rubric)
    return grade_kernel(rubric, f"{rubric.exercise}.py", mutant.source, "")


def graded(mutant: Mutant) -> Grading:
    report = report_on(mutant)
    first = report.diagnostics[0] if report.diagnostics else None
    if first is None:
        return Grading(mutant.key, report.outcome.value, "", "", None, "")
    line = first.frame.primary.span.line if first.frame is not None else None
    return Grading(mutant.key, report.outcome.value, first.name, first.severity, line, first.checked)


def grade_all(mutants: Iterable[Mutant], processes: int) -> Iterator[Grading]:
    """In the order of the mutants."""
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(graded, mutants, chunksize=4)


def _shown(answer: dict[str, Any]) -> bool | None:
    return answer["h200"] != "right" if "h200" in answer else None


def judged(
    mutants: Iterable[Mutant], gradings: Iterable[Grading], answers: dict[str, Any]
) -> tuple[Judgement, ...]:
    return tuple(
        Judgement(one, grading, faulty(answers[one.key]), _shown(answers[one.key]))
        for one, grading in zip(mutants, gradings, strict=True)
    )
