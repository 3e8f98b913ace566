"""What a batch is told, and what it has read before it grades anything."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from grader import exercises
from grader.batch.assignment import Assignment, read_assignment
from grader.batch.discovery import Found, discover
from grader.batch.layouts import Catalogue
from grader.batch.overrides import read_overrides
from grader.batch.problems import BatchError, Problem
from grader.batch.roster import Roster, read_roster
from grader.batch.task import Bundle, bundle_of
from grader.records import CheckResult, Outcome, QuestionResult, Report
from grader.reporters.classroom import ExerciseInfo, Override
from grader.rubric import RubricError
from grader.rubric.load import load_text

__all__ = ["SIMULATOR_MB", "Batch", "Settings", "prepare"]

#: Address space that a child with numba's simulator is known to run in; 256 threads need more than 2048 MB.
SIMULATOR_MB = 4096


@dataclass(frozen=True, slots=True)
class Settings:
    """What a batch is told. ``now`` decides whether the release date has come.

    ``archs`` are the architectures to compile kernels for; ``bare`` lets kernels run on a GPU, and be
    compiled, without a sandbox.
    """

    submissions: Path
    out: Path
    assignment: Path | None = None
    roster: Path | None = None
    rubrics: Path | None = None
    overrides: Path | None = None
    private_key: bytes | None = field(default=None, repr=False)
    workers: int = 1
    cluster: str | None = None
    gradebook: str | None = None
    run: Literal["", "sandbox", "bare"] = ""
    backend: Literal["machine", "gpu"] = "machine"
    archs: tuple[str, ...] = ()
    bare: bool = False
    names: bool = False
    junit_per_student: bool = False
    junit_strict: bool = False
    quiet: bool = False
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    regrade_students: tuple[str, ...] = ()
    regrade_exercises: tuple[str, ...] = ()
    regrade: bool = False


@dataclass(slots=True)
class Batch:
    """The parts of a batch once its inputs are read. ``toolkit`` names the versions that compile kernels.

    ``environments`` has one for each worker here that is bound to a GPU, and none for other workers.
    ``purged`` are the marks of students who were removed.
    """

    settings: Settings
    assignment: Assignment
    bundles: dict[str, Bundle]
    infos: dict[str, ExerciseInfo]
    blanks: dict[str, Report]
    roster: Roster | None
    found: Found
    problems: list[Problem]
    toolkit: str = ""
    environments: tuple[Mapping[str, str], ...] = ()
    overrides: tuple[Override, ...] = ()
    purged: Collection[str] = ()

    @property
    def held(self) -> bool:
        """Whether the release date is still to come."""
        release = self.assignment.release
        return release is not None and self.settings.now < release


def prepare(settings: Settings) -> Batch:
    """Read everything that a batch needs. Raises ``BatchError`` where something cannot be used."""
    if sys.platform == "win32":
        raise BatchError("grader batch needs Linux or macOS; on Windows run it under WSL")
    _check_installed(settings)
    _check_sandbox(settings)
    environments = _environments(settings)
    known = exercises.names(settings.rubrics)
    if not known:
        raise BatchError(f"{settings.rubrics}: there are no rubrics in this folder")
    assignment = Assignment(exercises=known)
    if settings.assignment is not None:
        assignment = read_assignment(settings.assignment, known)
    bundles = {name: bundle_of(name, settings.rubrics) for name in sorted(assignment.exercises)}
    blanks = {name: _blank(bundle) for name, bundle in bundles.items()}
    infos = {
        name: ExerciseInfo(name, blank.title, bundles[name].file_name, blank.possible)
        for name, blank in blanks.items()
    }
    roster = None if settings.roster is None else read_roster(settings.roster)
    catalogue = Catalogue({bundle.file_name.casefold(): name for name, bundle in bundles.items()})
    found = discover(settings.submissions, catalogue, roster, assignment.zone)
    if not found.submissions and roster is None:
        files = ", ".join(sorted(catalogue.files))
        raise BatchError(
            f"{settings.submissions}: there is no submission in it; looked for {files}{_first(found)}"
        )
    if settings.assignment is None:
        # Nobody said which exercises were set: those that somebody handed in.
        present = {one.exercise for one in found.submissions} | {exercise for _, exercise in found.unopened}
        infos = {name: info for name, info in infos.items() if name in present} or infos
    _check_memory(settings, assignment)
    toolkit = _toolkit(settings, assignment)
    return Batch(
        settings,
        assignment,
        bundles,
        infos,
        blanks,
        roster,
        found,
        list(found.problems),
        toolkit,
        environments,
        _overrides(settings, blanks),
    )


def _first(found: Found) -> str:
    """The first of what was found and not used, for whoever reads that there is nothing else."""
    return f". {found.problems[0].where}: {found.problems[0].what}" if found.problems else ""


def _check_installed(settings: Settings) -> None:
    """What an option needs is there before anything is graded, or written, in vain."""
    if settings.run and settings.cluster is None and importlib.util.find_spec("numba") is None:
        raise BatchError(
            "--run-code: numba is not installed; pip install '.[compile]' in Tilegrade's checkout"
        )
    if settings.cluster is not None and importlib.util.find_spec("distributed") is None:
        raise BatchError("--cluster: dask is not installed; pip install '.[cluster]' in Tilegrade's checkout")
    if settings.gradebook is not None:
        from grader.batch.gradebook import check_installed

        check_installed()


def _environments(settings: Settings) -> tuple[Mapping[str, str], ...]:
    """One for each worker here that is bound to a GPU; none for others: a cluster's know their own."""
    if settings.backend != "gpu" or settings.cluster is not None:
        return ()
    from grader.batch.gpu_workers import device_environments

    return device_environments(settings.workers)


def _overrides(settings: Settings, blanks: Mapping[str, Report]) -> tuple[Override, ...]:
    path = settings.overrides or settings.out / "overrides.csv"
    if settings.overrides is None and not path.exists():
        return ()
    return read_overrides(path, blanks)


def _check_memory(settings: Settings, assignment: Assignment) -> None:
    if settings.run and assignment.limits.memory_mb < SIMULATOR_MB:
        raise BatchError(
            f"--run-code: numba's simulator takes {SIMULATOR_MB} MB of address space, a thread for each "
            f"of the kernel's; the assignment's limits allow a grading {assignment.limits.memory_mb}"
        )


def _toolkit(settings: Settings, assignment: Assignment) -> str:
    """The compiler's versions, where it is asked; loaded here, since it brings the machine."""
    if not settings.archs:
        return ""
    from grader.batch.compiling import toolkit_of

    return toolkit_of(settings.archs, assignment.limits, bare=settings.bare)


def _blank(bundle: Bundle) -> Report:
    """Give a report on nothing, with the checks and questions that an exercise has."""
    try:
        rubric = load_text(bundle.rubric, exercise=bundle.exercise, path=f"{bundle.exercise}.yaml")
    except RubricError as error:
        raise BatchError(str(error)) from None
    checks = tuple(
        CheckResult(name, 0.0, one.points, passed=False) for name, one in rubric.checks.present.items()
    )
    questions = tuple(
        QuestionResult(one.id, one.title, "missing", 0.0, one.points) for one in rubric.questions
    )
    possible = sum(one.possible for one in checks) + sum(one.possible for one in questions)
    return Report(
        bundle.exercise,
        rubric.title,
        rubric.kind,
        bundle.file_name,
        Outcome.FAIL,
        possible=round(possible, 2),
        checks=checks,
        questions=questions,
    )


def _check_sandbox(settings: Settings) -> None:
    runs = settings.run == "sandbox"
    runs = runs or ((settings.backend == "gpu" or bool(settings.archs)) and not settings.bare)
    if not runs or settings.cluster is not None:
        return
    from grader.gpu.sandbox import find_sandbox

    if find_sandbox() is None:
        raise BatchError(
            "there is no sandbox here to run or compile submissions in: install bubblewrap (and setpriv and "
            "prlimit of util-linux), or take the risk with --unsafe-no-sandbox"
        )
