"""The assignment file: which exercises, which attempt counts, until when, and what students may see."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, tzinfo
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta, Struct

from grader.batch.problems import BatchError
from grader.rubric.typed_yaml import RubricError, TypedYaml

__all__ = ["Assignment", "Late", "Limits", "moment", "read_assignment"]

Level = Literal["none", "category", "full"]


class Late(Struct, frozen=True, forbid_unknown_fields=True):
    """What lateness costs.

    ``cut-off``: no points. ``per-day``: ``percent`` of the points earned for each day begun, at most
    ``at_most`` per cent. Within ``grace_minutes`` nothing is late.
    """

    policy: Literal["none", "cut-off", "per-day"] = "none"
    percent: Annotated[float, Meta(ge=0, le=100)] = 10.0
    at_most: Annotated[float, Meta(ge=0, le=100)] = 100.0
    grace_minutes: Annotated[float, Meta(ge=0)] = 0.0


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """What one grading may use: seconds of wall and of processor time, and megabytes of address space."""

    seconds: Annotated[float, Meta(gt=0, le=86400)] = 60.0
    memory_mb: Annotated[int, Meta(ge=512)] = 4096


class AssignmentFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of an assignment file; docs/instructors.md is the reference."""

    title: str = "Assignment"
    exercises: tuple[str, ...] = ()
    attempts: Literal["last", "best"] = "last"
    timezone: str = "UTC"
    deadline: str = ""
    deadlines: dict[str, str] = {}
    late: Late = Late()
    feedback: Level = "full"
    release: str = ""
    hint_level: Annotated[int, Meta(ge=0, le=3)] = 1
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment as the batch uses it. Deadlines and the release are moments with a time zone."""

    title: str = "Assignment"
    exercises: tuple[str, ...] = ()
    attempts: Literal["last", "best"] = "last"
    zone: tzinfo = UTC
    deadline: datetime | None = None
    deadlines: tuple[tuple[str, datetime], ...] = ()
    late: Late = field(default_factory=Late)
    feedback: Level = "full"
    release: datetime | None = None
    hint_level: int = 1
    limits: Limits = field(default_factory=Limits)

    def deadline_of(self, exercise: str) -> datetime | None:
        """Give the deadline of one exercise: its own, else the assignment's."""
        return dict(self.deadlines).get(exercise, self.deadline)


def read_assignment(path: Path, known: tuple[str, ...]) -> Assignment:
    """Read an assignment file; ``known`` are the names of the exercises that have a rubric.

    Raises
    ------
    BatchError
        The file cannot be read or says something that is not allowed: its line and the allowed words.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BatchError(f"{path}: the assignment file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BatchError(f"{path}: the assignment file is not UTF-8") from None
    try:
        file = TypedYaml(text, str(path), {}, "the assignment file")
        return _checked(file, file.read(AssignmentFile), known)
    except RubricError as error:
        raise BatchError(str(error)) from None


def _checked(file: TypedYaml, written: AssignmentFile, known: tuple[str, ...]) -> Assignment:
    try:
        zone: tzinfo = UTC if written.timezone == "UTC" else ZoneInfo(written.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise file.error(
            ("timezone",), f"{written.timezone!r} is no time zone; write for example Europe/Berlin"
        ) from None
    for index, name in enumerate(written.exercises):
        if name not in known:
            raise file.error(
                ("exercises", index), f"no rubric is named {name!r}; there are {', '.join(known)}"
            )
    chosen = written.exercises or known
    for name in written.deadlines:
        if name not in chosen:
            raise file.error(("deadlines", name), f"{name!r} is no exercise of this assignment")
    return Assignment(
        title=written.title,
        exercises=chosen,
        attempts=written.attempts,
        zone=zone,
        deadline=_moment(file, ("deadline",), written.deadline, zone, end_of_day=True),
        deadlines=tuple(
            (name, at)
            for name, text in written.deadlines.items()
            if (at := _moment(file, ("deadlines", name), text, zone, end_of_day=True)) is not None
        ),
        late=written.late,
        feedback=written.feedback,
        release=_moment(file, ("release",), written.release, zone),
        hint_level=written.hint_level,
        limits=written.limits,
    )


def _moment(
    file: TypedYaml, path: tuple[str | int, ...], text: str, zone: tzinfo, *, end_of_day: bool = False
) -> datetime | None:
    if not text:
        return None
    try:
        return moment(text, zone, end_of_day=end_of_day)
    except ValueError:
        raise file.error(path, f"{text!r} is no date; write for example 2026-12-01 23:59") from None


def moment(text: str, zone: tzinfo, *, end_of_day: bool = False) -> datetime:
    """Read a date and time; without an offset of its own it is meant in ``zone``.

    A date alone is its first moment, or with ``end_of_day`` its last second. Raises ``ValueError``.
    """
    text = text.strip()
    read = datetime.fromisoformat(text)
    if end_of_day and re.fullmatch(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d-?\d", text):
        read = datetime.combine(read.date(), time(23, 59, 59))
    return read if read.tzinfo is not None else read.replace(tzinfo=zone)
