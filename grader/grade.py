"""Grading one submission: load, run, check, diagnose, score. The result is a Report, whatever happens."""

from __future__ import annotations

import traceback
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from grader import exercises, source
from grader.gpu.options import Backend, Beside, GpuOptions
from grader.records import Fault, Outcome, QuestionResult, Report
from grader.rubric import RubricError
from grader.rubric.load import load
from grader.rubric.model import Rubric
from grader.rubric.questions import grade_answers, unknown_answers
from grader.rubric.scoring import outcome_of, total
from grader.rubric.worksheet import WorksheetAnswers, read

__all__ = ["grade"]


def grade(
    exercise_name: str,
    path: Path | str,
    *,
    rubric_dir: Path | None = None,
    private_key: str | bytes | None = None,
    hint_level: int = 1,
    backend: Backend = "machine",
    gpu: GpuOptions | None = None,
    beside: Beside | None = None,
) -> Report:
    """Grade the file at ``path`` as a submission to an exercise.

    A bad submission never raises: an unreadable one is a FAIL with its reason, and a crash of ours is a
    HARNESS FAULT. ``private_key`` draws other hidden shapes and numbers of the same kinds. The hint
    level is capped by the rubric. ``backend`` "gpu" runs a kernel on a GPU besides, as ``gpu`` allows, and
    ends in CANNOT JUDGE where there is none; "auto" then leaves it to the machine and says so. ``beside``
    asks the compiler, and NVIDIA's tools, about a kernel too.

    Raises
    ------
        UnknownExerciseError: no exercise, or several, have that name.
        RubricError: the exercise's rubric is wrong, which is the instructor's to mend.
    """
    started = perf_counter()
    exercise = exercises.find(exercise_name, rubric_dir)
    rubric = load(exercise.rubric)
    if rubric.kind == "kernel" and exercise.solution is None and not exercise.original.is_file():
        missing = (
            f"there is no exercises/{exercise.file_name} beside this folder: a kernel's skeleton lies there"
        )
        raise RubricError(str(exercise.rubric), 1, missing)
    key = private_key.encode() if isinstance(private_key, str) else private_key
    try:
        report = _graded(rubric, exercise, str(path), key, backend, gpu or GpuOptions(), beside or Beside())
    except source.SourceError as error:
        report = replace(_empty(rubric, str(path), Outcome.FAIL), reason=str(error))
    except Exception as error:  # noqa: BLE001  whatever it is, it is ours, and no student must bear it
        fault = Fault(f"{type(error).__name__}: {error}".splitlines()[0], traceback.format_exc())
        reason = "the grader failed; this is not in your code"
        report = replace(_empty(rubric, str(path), Outcome.HARNESS_FAULT), reason=reason, fault=fault)
    level = max(0, min(hint_level, rubric.max_hint_level))
    return replace(report, hint_level=level, seconds=perf_counter() - started)


def _graded(
    rubric: Rubric,
    exercise: exercises.Exercise,
    path: str,
    key: bytes | None,
    backend: Backend,
    gpu: GpuOptions,
    beside: Beside,
) -> Report:
    submission = source.read(path)
    if rubric.kind != "kernel":
        return _worksheet(rubric, path, submission.text)
    # Loaded here, since it brings the machine and NumPy, which a worksheet can do without.
    from grader.grade_kernel import grade_kernel

    skeleton = exercises.skeleton(exercise)
    if backend == "machine":
        return grade_kernel(rubric, path, submission.text, skeleton, key, beside)
    from grader.gpu.available import gpu_reason

    reason = "" if gpu.simulated else gpu_reason()
    if not reason:
        from grader.grade_gpu import grade_on_gpu

        return grade_on_gpu(rubric, path, submission.text, skeleton, key, gpu, beside)
    if backend == "gpu":
        from grader.grade_gpu import no_gpu

        return no_gpu(_empty(rubric, path, Outcome.CANNOT_JUDGE), reason)
    report = grade_kernel(rubric, path, submission.text, skeleton, key, beside)
    return replace(report, notes=(*report.notes, f"graded by the machine alone: {reason}"))


def _worksheet(rubric: Rubric, path: str, text: str) -> Report:
    sheet = read(text)
    results = grade_answers(
        rubric.questions, sheet.answers, lines=sheet.lines, student=sheet.student, given=rubric.given
    )
    points, possible, pending = total((), results)
    outcome = outcome_of((), results)
    strays = unknown_answers(rubric.questions, sheet.answers, lines=sheet.lines)
    return replace(
        _empty(rubric, path, outcome),
        points=points,
        possible=possible,
        pending=pending,
        status="graded" if sheet.started else "not started",
        reason="" if outcome is Outcome.PASS else _reason(sheet, results),
        questions=results,
        notes=(*sheet.problems, *strays),
    )


def _reason(sheet: WorksheetAnswers, results: tuple[QuestionResult, ...]) -> str:
    if not sheet.started:
        return "not started yet: no question is answered"
    right = sum(result.status in ("right", "needs review") for result in results)
    return f"{right} of {len(results)} questions are right"


def _empty(rubric: Rubric, path: str, outcome: Outcome) -> Report:
    possible = sum(check.points for check in rubric.checks.present.values())
    possible += sum(question.points for question in rubric.questions)
    return Report(
        exercise=rubric.exercise,
        title=rubric.title,
        kind=rubric.kind,
        path=path,
        outcome=outcome,
        possible=round(possible, 2),
    )
