"""A batch from a folder of submissions to a folder of grades."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from grader import exercises
from grader.batch.assignment import Assignment, read_assignment
from grader.batch.discovery import Found, Submission, discover
from grader.batch.dispatch import Job, dispatch
from grader.batch.executors import open_executor
from grader.batch.grading import Grading, pseudonyms
from grader.batch.journal import Journal
from grader.batch.layouts import Catalogue
from grader.batch.out_folder import OutFolder
from grader.batch.outputs import outputs
from grader.batch.overrides import read_overrides
from grader.batch.problems import BatchError, Problem
from grader.batch.progress import Progress
from grader.batch.purge import purge_mark, purged_marks
from grader.batch.roster import Roster, read_roster
from grader.batch.similarity import similar
from grader.batch.task import Bundle, Task, bundle_of, read_report, task_key
from grader.records import CheckResult, Outcome, QuestionResult, Report
from grader.reporters import csv_text
from grader.reporters.classroom import ClassRecord, ExerciseInfo, Override, SimilarGroup
from grader.rubric import RubricError
from grader.rubric.load import load_text

__all__ = ["BatchResult", "Settings", "run"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a batch is told. ``now`` decides whether the release date has come."""

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
    names: bool = False
    junit_per_student: bool = False
    quiet: bool = False
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    regrade_students: tuple[str, ...] = ()
    regrade_exercises: tuple[str, ...] = ()
    regrade: bool = False


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch did: the class, how many gradings were made and how many were there already."""

    record: ClassRecord
    graded: int
    kept: int
    before: Mapping[tuple[str, str], Report] = field(default_factory=dict)


@dataclass(slots=True)
class _Batch:
    """The parts of a batch once its inputs are read."""

    settings: Settings
    assignment: Assignment
    bundles: dict[str, Bundle]
    infos: dict[str, ExerciseInfo]
    blanks: dict[str, Report]
    roster: Roster | None
    found: Found
    problems: list[Problem]


def run(settings: Settings) -> BatchResult:
    """Grade a class and write everything.

    Raises
    ------
    BatchError
        An input cannot be used, the output folder is taken or cannot be written. What was graded is kept.
    """
    _check_sandbox(settings)
    batch = _prepare(settings)
    folder = OutFolder(settings.out)
    with folder.locked():
        journal = Journal(settings.out / "journal.sqlite3")
        try:
            return _graded(batch, folder, journal)
        finally:
            journal.close()


def _check_sandbox(settings: Settings) -> None:
    if settings.run != "sandbox" or settings.cluster is not None:
        return
    from grader.batch.sandbox import find_sandbox

    if find_sandbox() is None:
        raise BatchError(
            "there is no sandbox here to run submissions in: install bubblewrap (and setpriv and prlimit "
            "of util-linux), or take the risk with --unsafe-no-sandbox"
        )


def _prepare(settings: Settings) -> _Batch:
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
    found = discover(settings.submissions, catalogue, roster)
    if not found.submissions and roster is None:
        files = ", ".join(sorted(catalogue.files))
        raise BatchError(f"{settings.submissions}: there is no submission in it; looked for {files}")
    if settings.assignment is None:
        # Nobody said which exercises were set: those that somebody handed in.
        present = {one.exercise for one in found.submissions}
        infos = {name: info for name, info in infos.items() if name in present} or infos
    return _Batch(settings, assignment, bundles, infos, blanks, roster, found, list(found.problems))


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


def _graded(batch: _Batch, folder: OutFolder, journal: Journal) -> BatchResult:
    settings = batch.settings
    _leave_out_purged(batch, journal)
    keys, contents = _keys(batch)
    _remember(batch, journal)
    before = _regraded(batch, journal) if settings.regrade else {}
    salt = journal.setdefault("salt", _salt(batch, contents))
    journal.hand_in(
        (one.student.id, one.exercise, one.path, key)
        for one, key in zip(batch.found.submissions, keys)
        if key
    )
    settled = journal.settled()
    todo = {key: one for one, key in zip(batch.found.submissions, keys) if key and key not in settled}
    done = 0
    if todo:
        progress = Progress(len(todo), quiet=settings.quiet)
        with open_executor(
            settings.workers, batch.assignment.limits, settings.cluster, may_run=bool(settings.run)
        ) as executor:
            done = dispatch(_jobs(batch, todo), executor, journal, progress, settings.workers)
        progress.close()
    reports = [_report(batch, journal, one, key) for one, key in zip(batch.found.submissions, keys)]
    record = _record(batch, reports, bytes.fromhex(salt))
    held = _held(batch)
    files = outputs(record, held=held, names=settings.names, junit_per_student=settings.junit_per_student)
    folder.write({**files, "times.csv": _times(batch, journal, keys)})
    if settings.gradebook is not None:
        from grader.batch.gradebook import write_gradebook

        write_gradebook(settings.gradebook, record)
    return BatchResult(record, done, len({key for key in keys if key}) - len(todo), before)


def _leave_out_purged(batch: _Batch, journal: Journal) -> None:
    """Whoever was purged stays out, though the submissions may still lie in the folder."""
    marks = purged_marks(journal)
    if not marks:
        return
    gone = {one.student.id for one in batch.found.submissions if purge_mark(one.student.id) in marks}
    if batch.roster is not None:
        gone |= {name for name in batch.roster.students if purge_mark(name) in marks}
        staying = {name: one for name, one in batch.roster.students.items() if name not in gone}
        batch.roster = replace(batch.roster, students=staying)
    kept = tuple(one for one in batch.found.submissions if one.student.id not in gone)
    paths = {one.path for one in batch.found.submissions} - {one.path for one in kept}
    batch.found = replace(batch.found, submissions=kept)
    batch.problems = [one for one in batch.problems if one.where not in gone and one.where not in paths]


def _task(batch: _Batch, one: Submission, content: bytes) -> Task:
    limits = batch.assignment.limits
    return Task(
        batch.bundles[one.exercise],
        content,
        batch.settings.private_key,
        batch.assignment.hint_level,
        limits.seconds,
        limits.memory_mb,
        batch.settings.run,
    )


def _keys(batch: _Batch) -> tuple[list[str], list[str]]:
    """Give each submission's key and its content's hash; both empty for one that cannot be read."""
    keys, contents = [], []
    for one in batch.found.submissions:
        try:
            content = one.read()
        except OSError as error:
            keys.append("")
            contents.append("")
            batch.problems.append(
                Problem("unreadable", one.path, f"cannot be read: {error.strerror or error}")
            )
            continue
        keys.append(task_key(_task(batch, one, content)))
        contents.append(hashlib.sha256(content).hexdigest())
    return keys, contents


def _jobs(batch: _Batch, todo: Mapping[str, Submission]) -> Iterator[Job]:
    for key, one in todo.items():
        try:
            task = _task(batch, one, one.read())
        except OSError:
            continue
        # What changed while the batch ran is graded by the next one.
        if task_key(task) == key:
            yield Job(key, task)


def _report(batch: _Batch, journal: Journal, one: Submission, key: str) -> tuple[Submission, Report]:
    text = journal.report(key) if key else None
    if text is not None:
        return one, read_report(text)
    reason = "the file could not be read; ask for it again"
    blank = batch.blanks[one.exercise]
    return one, replace(blank, outcome=Outcome.CANNOT_JUDGE, reason=reason, checks=(), questions=())


def _held(batch: _Batch) -> bool:
    release = batch.assignment.release
    return release is not None and batch.settings.now < release


def _record(batch: _Batch, reports: list[tuple[Submission, Report]], salt: bytes) -> ClassRecord:
    students = {one.student.id: one.student for one, _ in reports}
    if batch.roster is not None:
        students |= batch.roster.students
    hidden_names = pseudonyms(students, batch.settings.private_key or salt)
    people = {name: replace(one, pseudonym=hidden_names[name]) for name, one in students.items()}
    grading = Grading(
        batch.assignment,
        batch.infos,
        "none" if _held(batch) else batch.assignment.feedback,
        _overrides(batch),
    )
    grades = grading.grades(reports, people.values())
    return ClassRecord(
        batch.assignment.title,
        tuple(batch.infos.values()),
        grades,
        tuple(sorted({*batch.problems, *grading.problems})),
        _similar(batch),
        batch.assignment.release,
        _remarks(batch.settings),
    )


def _remarks(settings: Settings) -> tuple[str, ...]:
    if not settings.run:
        return ()
    if settings.run == "bare":
        return ("Submissions were also run WITHOUT a sandbox, as --unsafe-no-sandbox asked for.",)
    return ("Submissions were also run under numba's simulator, each in a sandbox.",)


def _overrides(batch: _Batch) -> tuple[Override, ...]:
    path = batch.settings.overrides or batch.settings.out / "overrides.csv"
    if batch.settings.overrides is None and not path.exists():
        return ()
    return read_overrides(path, batch.blanks)


def _similar(batch: _Batch) -> tuple[SimilarGroup, ...]:
    groups: list[SimilarGroup] = []
    for name, bundle in batch.bundles.items():
        if not bundle.file_name.endswith(".py"):
            continue
        last = {one.student.id: one for one in batch.found.submissions if one.exercise == name}
        texts = {}
        for student, one in last.items():
            try:
                texts[student] = one.read().decode("utf-8", "replace")
            except OSError:
                continue
        solution = exercises.find(name, batch.settings.rubrics).solution
        published = solution.read_text(encoding="utf-8") if solution is not None else None
        groups += similar(name, texts, bundle.skeleton, published)
    return tuple(groups)


def _salt(batch: _Batch, contents: list[str]) -> str:
    """Give a secret of the class's own: nobody knows all its submissions; the same class gives the same."""
    digest = hashlib.sha256(b"tilegrade pseudonyms\0")
    for one, content in zip(batch.found.submissions, contents):
        digest.update(f"{one.student.id}\0{one.exercise}\0{content}\0".encode())
    return digest.hexdigest()


def _remember(batch: _Batch, journal: Journal) -> None:
    """Keep how this batch was started, for ``grader regrade``; the private key is never kept."""
    settings = batch.settings
    paths = {
        name: str(path.resolve()) if path is not None else None
        for name, path in (
            ("submissions", settings.submissions),
            ("assignment", settings.assignment),
            ("roster", settings.roster),
            ("rubrics", settings.rubrics),
            ("overrides", settings.overrides),
        )
    }
    flags = {"names": settings.names, "junit_per_student": settings.junit_per_student, "run": settings.run}
    journal.note("settings", json.dumps({**paths, **flags, "keyed": settings.private_key is not None}))


def _regraded(batch: _Batch, journal: Journal) -> dict[tuple[str, str], Report]:
    """Forget the gradings that are to be made again; give what they said."""
    settings = batch.settings
    old: dict[tuple[str, str], Report] = {}
    forgotten = set()
    for (student, exercise, _), key in sorted(journal.keys_of().items()):
        text = journal.report(key)
        if text is not None:
            old[student, exercise] = read_report(text)
        wanted_student = not settings.regrade_students or student in settings.regrade_students
        wanted_exercise = not settings.regrade_exercises or exercise in settings.regrade_exercises
        if wanted_student and wanted_exercise:
            forgotten.add(key)
    journal.forget(forgotten)
    return old


def _times(batch: _Batch, journal: Journal, keys: list[str]) -> str:
    rows: list[list[csv_text.Cell]] = [
        [one.student.id, one.exercise, round(journal.seconds(key), 3)]
        for one, key in zip(batch.found.submissions, keys)
        if key
    ]
    return csv_text.render(["student", "exercise", "seconds"], rows)
