"""Grading a kernel: from a submission's text to a Report, by way of trials, findings and causes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.checks.evidence import Seen, collect
from grader.checks.launching import Launcher, Trial
from grader.checks.places import function_node
from grader.checks.repair import Confirmed, confirm
from grader.checks.structure import constants_of, kernel_findings, placeholders, same_code
from grader.checks.traffic import TRAFFIC
from grader.diagnosis import rank
from grader.gpu.options import Beside
from grader.kernel_messages import diagnose
from grader.kernel_scores import families_of, shape_scores
from grader.records import FamilyResult, Finding, Outcome, QuestionResult, Report
from grader.rubric.model import KernelSpec, Rubric
from grader.rubric.questions import grade_answers, unknown_answers
from grader.rubric.scoring import outcome_of, score_checks, total
from grader.rubric.suites import Shape, shapes_of
from grader.simt import Program, parse

__all__ = ["Judged", "grade_kernel", "judge", "report_of"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What judging the kernel found. ``trials`` are the shapes launched, in the order of ``shapes``.

    ``constants`` are those that the submission sets as the rubric allows; ``settings`` has a value for each.
    """

    program: Program
    seen: tuple[Seen, ...] = ()
    early: tuple[Finding, ...] = ()
    shapes: tuple[Shape, ...] = ()
    trials: tuple[Trial, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, int] = field(default_factory=dict)
    launcher: Launcher | None = None
    confirmed: Confirmed | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, of the text and of the launches."""
        return (*self.early, *(one.finding for one in self.seen))

    @property
    def not_started(self) -> bool:
        """Whether the exercise is still to be begun, or finished."""
        return any(finding.name == "not-started" for finding in self.findings)


def grade_kernel(
    rubric: Rubric,
    path: str,
    text: str,
    skeleton: str,
    key: bytes | None = None,
    beside: Beside | None = None,
) -> Report:
    """The Report on a submission's text. ``skeleton`` is the exercise as a student first gets it.

    ``beside`` asks the compiler, and NVIDIA's tools, about the kernel too.
    """
    judged = judge(rubric, parse(text), skeleton, key or b"")
    report = report_of(rubric, path, judged)
    if beside is None:
        return report
    from grader.beside import with_beside

    return with_beside(rubric, report, judged, beside)


def report_of(rubric: Rubric, path: str, judged: Judged, also_right: Sequence[bool] | None = None) -> Report:
    """The Report on what was judged; ``also_right`` says of each shape whether it was right on a GPU too."""
    program = judged.program
    scores = shape_scores(judged.shapes, judged.trials, judged.launcher, also_right)
    checks = score_checks(rubric.checks, scores, judged.settings)
    questions, notes = _answers(rubric, program)
    points, possible, pending = total(checks, questions)
    families = families_of(judged.shapes, judged.trials, judged.launcher, also_right)
    diagnostics = diagnose(
        rubric, path, program, judged.seen, judged.early, families, judged.constants, judged.confirmed
    )
    outcome = outcome_of(checks, questions)
    if any(finding.severity == "error" for finding in judged.findings) or judged.not_started:
        outcome = Outcome.FAIL
    if any(
        finding.name == "unsupported-construct" and finding.severity == "error" for finding in judged.findings
    ):
        outcome = Outcome.CANNOT_JUDGE
    headline = diagnostics[0].headline if diagnostics else ""
    return Report(
        exercise=rubric.exercise,
        title=rubric.title,
        kind=rubric.kind,
        path=path,
        outcome=outcome,
        points=points,
        possible=possible,
        pending=pending,
        status="not started" if judged.not_started else "graded",
        reason="" if outcome is Outcome.PASS else headline or _unanswered(questions),
        settings=judged.constants,
        families=families if rubric.feedback == "full" else tuple(_without_hidden(one) for one in families),
        checks=checks,
        questions=questions,
        diagnostics=diagnostics,
        notes=notes,
    )


def judge(rubric: Rubric, program: Program, skeleton: str, key: bytes = b"") -> Judged:
    """Try a submission on the machine, over the rubric's suite."""
    kernel = rubric.kernel
    assert kernel is not None
    functions = (kernel.name, *([kernel.launch.from_] if kernel.launch.from_ else []))
    early = program.findings or kernel_findings(program, kernel) or placeholders(program, functions)
    constants, wrong = constants_of(program, kernel.constants) if not program.findings else ({}, ())
    early = early or wrong
    # Without its own constants the shapes are still counted, at the rubric's first choice.
    settings = {name: constants.get(name, choices[0]) for name, choices in kernel.constants.items()}
    shapes = shapes_of(rubric, settings, private_key=key)
    if early:
        return Judged(program, early=early, shapes=shapes, constants=constants, settings=settings)
    launcher = Launcher(program, kernel, rubric.exercise, constants, key)
    trials = launcher.suite(shapes)
    if not any(trial.right for trial in trials) and same_code(program, parse(skeleton), functions):
        early = _untouched(program, kernel)
        return Judged(program, (), early, shapes, trials, constants, settings)
    seen = collect(launcher, rubric.checks, trials)
    stopped = bool(trials) and trials[-1].stopped
    confirmed = None if stopped else _confirmed(launcher, trials, seen)
    return Judged(program, seen, (), shapes, trials, constants, settings, launcher, confirmed)


def _confirmed(launcher: Launcher, trials: Sequence[Trial], seen: Sequence[Seen]) -> Confirmed | None:
    """The cause that an experiment confirms; none is sought where nothing but traffic falls short."""
    errors = {id(one.finding): one for one in seen if one.finding.severity == "error"}
    if not errors:
        return None
    ordered = rank(one.finding for one in seen)
    causes = [errors[id(finding)] for finding in ordered if id(finding) in errors]
    harmless = all(trial.right for trial in trials) and all(one.finding.name in TRAFFIC for one in causes)
    return None if harmless else confirm(launcher, trials, causes)


def _untouched(program: Program, kernel: KernelSpec) -> tuple[Finding, ...]:
    node = function_node(program, kernel.name)
    return (Finding("not-started", "note", primary=program.span(node.body[0]) if node is not None else None),)


def _answers(rubric: Rubric, program: Program) -> tuple[tuple[QuestionResult, ...], tuple[str, ...]]:
    if not rubric.questions:
        return (), ()
    value, span, findings = program.literal("ANSWERS")
    answers: dict[str, Any] = (
        {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}
    )
    lines = _lines_of(program.tree)
    results = grade_answers(rubric.questions, answers, lines=lines, given=rubric.given)
    notes = unknown_answers(rubric.questions, answers, lines=lines)
    if findings or (span is not None and not isinstance(value, dict)):
        line = span.line if span is not None else 1
        notes = (f"line {line}: ANSWERS is not a dict of plain values, so no answer was read", *notes)
    return results, notes


def _lines_of(tree: ast.Module) -> dict[str, int]:
    """The line of each key of ANSWERS."""
    lines: dict[str, int] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="ANSWERS")], value=ast.Dict(keys=keys)):
                lines = {str(key.value): key.lineno for key in keys if isinstance(key, ast.Constant)}
    return lines


def _unanswered(questions: Sequence[QuestionResult]) -> str:
    open_ones = [one for one in questions if one.status not in ("right", "needs review")]
    if not open_ones:
        return "a check of the rubric has not all its points"
    first = open_ones[0]
    return f"the kernel passes; question {first.id} is {first.status}"


def _without_hidden(family: FamilyResult) -> FamilyResult:
    return replace(family, shapes=tuple(shape for shape in family.shapes if shape.shown))
