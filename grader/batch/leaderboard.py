"""From a finished batch's journal to its leaderboard: who is on it, in which order, and who ties."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.batch.grading import pseudonyms
from grader.batch.journal import Journal
from grader.batch.out_folder import file_label
from grader.batch.task import read_report
from grader.grade_timing import kernel_passes
from grader.records import Report, Timing
from grader.reporters import feedback, leaderboard_page, timing_table
from grader.reporters.classroom import ClassRecord
from grader.reporters.leaderboard import Board, Standing

__all__ = ["Timed", "boards_of", "timed_kernels", "timing_files"]

#: Two times of one kernel, each from a process of its own, differ by less than this on an idle device;
#: docs/timing.md has the measurement.
REPEATABLE = 0.005


@dataclass(frozen=True, slots=True)
class Timed:
    """One hand-in with a report; ``who`` is the name that the board may show."""

    who: str
    report: Report


def timed_kernels(journal: Journal, *, secret: bytes | None, exercise: str | None = None) -> list[Timed]:
    """Every hand-in of the journal that was graded on a GPU.

    ``secret`` makes the pseudonyms; None shows ids.
    """
    keys = journal.keys_of(exercise=exercise)
    students = {student for student, _, _ in keys}
    shown = pseudonyms(students, secret) if secret is not None else {one: one for one in students}
    found = []
    for (student, _, _), key in sorted(keys.items()):
        text = journal.report(key)
        report = read_report(text) if text is not None else None
        if report is not None and report.gpu is not None:
            found.append(Timed(shown[student], report))
    return found


def timing_files(
    journal: Journal, record: ClassRecord, secret: bytes | None, *, held: bool
) -> Iterator[tuple[str, str]]:
    """Name and text of the files that hold times; none where nothing was timed.

    They differ from run to run on one class, as times do, so no other file of a batch holds any.
    ``held``: the release date is not there yet, so no student's own page is written.
    """
    if not any(grade.report.timings for grade in record.grades):
        return
    yield "timings.csv", timing_table.timings(record)
    yield "leaderboard.html", leaderboard_page.html(boards_of(timed_kernels(journal, secret=secret)))
    for student, grades in record.by_student().items():
        timed = [grade for grade in grades if grade.view.timings]
        if timed and not held:
            markdown, html = feedback.timing_pages(record.title, timed)
            yield f"timings/{file_label(student.id)}.md", markdown
            yield f"timings/{file_label(student.id)}.html", html


def boards_of(timed: Iterable[Timed]) -> tuple[Board, ...]:
    """The boards, ordered by exercise and device: one for each set of sizes that kernels were timed at.

    Of a person's hand-ins the fastest counts. Only kernels that pass every check are on a board, and
    only with every time of theirs counting.
    """
    groups: dict[tuple[str, str, tuple[tuple[tuple[str, int], ...], ...]], dict[str, Standing]] = {}
    titles: dict[str, str] = {}
    passing: dict[str, set[str]] = defaultdict(set)
    for one in timed:
        report = one.report
        if not kernel_passes(report):
            continue
        passing[report.exercise].add(one.who)
        titles[report.exercise] = report.title
        if not report.timings or any(timing.rejected for timing in report.timings):
            continue
        dims = tuple(tuple(timing.dims.items()) for timing in report.timings)
        group = groups.setdefault((report.exercise, report.timings[0].device, dims), {})
        standing = _standing(one.who, report.timings)
        if one.who not in group or standing.milliseconds < group[one.who].milliseconds:
            group[one.who] = standing
    on_board: dict[str, set[str]] = defaultdict(set)
    for (exercise, _, _), group in groups.items():
        on_board[exercise] |= set(group)
    return tuple(
        Board(
            exercise=exercise,
            title=titles[exercise],
            device=device,
            dims=dims,
            standings=ranked(group.values()),
            untimed=len(passing[exercise] - on_board[exercise]),
        )
        for (exercise, device, dims), group in sorted(groups.items(), key=lambda item: item[0])
    )


def ranked(standings: Iterable[Standing]) -> tuple[Standing, ...]:
    """The standings in order, with ranks: whoever reaches into the interval of the first of a rank shares it.

    After a shared rank as many are left out as share it (1, 1, 3).
    """
    placed: list[Standing] = []
    leader: Standing | None = None
    for position, one in enumerate(sorted(standings, key=lambda one: (one.milliseconds, one.who)), start=1):
        if leader is None or one.low > leader.high:
            leader = replace(one, rank=position)
        placed.append(replace(one, rank=leader.rank))
    return tuple(placed)


def _standing(who: str, timings: Sequence[Timing]) -> Standing:
    middle = _mean([timing.milliseconds for timing in timings])
    low = _mean([timing.quartiles[0] for timing in timings])
    high = _mean([timing.quartiles[1] for timing in timings])
    shares = [timing.share_of_library for timing in timings]
    known = [share for share in shares if share]
    return Standing(
        rank=0,
        who=who,
        milliseconds=middle,
        low=min(low, middle * (1 - REPEATABLE / 2)),
        high=max(high, middle * (1 + REPEATABLE / 2)),
        share=_mean(known) if len(known) == len(shares) else None,
        timings=tuple(timings),
    )


def _mean(values: Sequence[float]) -> float:
    """Geometric: no size outweighs another (P. Fleming and J. Wallace, Comm. ACM 29(3), 1986)."""
    return math.exp(sum(map(math.log, values)) / len(values))
