"""Whose hand-ins could not be used: their students shall not read that they handed in nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader.batch.layouts import Catalogue, Placed, place, whose
from grader.batch.problems import Problem
from grader.batch.roster import Roster
from grader.batch.tree import archive_stem

__all__ = ["NOT_OPENED", "WRAPPERS", "Refused", "refused", "unnamed"]

#: Folders around a class's submissions that are nobody's.
WRAPPERS = {"submitted", "submissions", "submission"}
#: The kinds of problems with a hand-in that leave it unopened.
NOT_OPENED = {"archive-refused", "link", "not-a-file", "too-deep", "unreadable"}


@dataclass(frozen=True, slots=True)
class Refused:
    """A problem with a hand-in and whose it is; the exercise is empty where no name tells it."""

    problem: Problem
    placed: Placed


def refused(
    problems: Iterable[Problem],
    catalogue: Catalogue,
    roster: Roster | None,
    *,
    above: str | None = None,
    root: str | None = None,
) -> Iterator[Refused]:
    """Give what was not opened and whose that is, where its path tells.

    ``above`` is the folder that holds all submissions where there is one; ``root`` the name of the archive
    that the whole class came in, where it came in one.
    """
    for one in problems:
        if one.kind not in NOT_OPENED or one.where == root:
            continue
        parts = _within(tuple(one.where.split("/")), above)
        placed = _owner(parts, one.kind, catalogue, roster) if parts else None
        if placed is not None:
            yield Refused(one, placed)


def unnamed(files: Iterable[tuple[Problem, tuple[str, ...]]], roster: Roster | None) -> Iterator[Refused]:
    """Give those of some files that name no exercise, with their paths' parts, that are a student's."""
    for problem, parts in files:
        placed = whose(parts)
        student = len(parts) > 1 or placed.campus_id if roster is None else roster.find(placed) is not None
        if student:
            yield Refused(problem, replace(placed, exercise=""))


def _within(parts: Sequence[str], above: str | None) -> tuple[str, ...]:
    """The path from the submissions down; empty where it leads elsewhere, or to all of them."""
    if above is not None:
        return tuple(parts[1:]) if parts[0] == above else ()
    return tuple(parts[1:] if parts[0].casefold() in WRAPPERS else parts)


def _owner(parts: tuple[str, ...], kind: str, catalogue: Catalogue, roster: Roster | None) -> Placed | None:
    placed = place(parts, catalogue)
    if placed is not None:
        return placed
    placed = whose(parts)
    if len(parts) > 1 or placed.campus_id or (roster is not None and roster.find(placed) is not None):
        return placed
    stem = archive_stem(parts[0])
    if stem is not None:
        return None if any(name.startswith(f"{stem.casefold()}.") for name in catalogue.files) else placed
    # What lies beside the students' folders may be one: a link to it, or one that cannot be read.
    folder = "." not in parts[0] and kind in {"link", "unreadable"}
    return placed if folder and roster is None else None
