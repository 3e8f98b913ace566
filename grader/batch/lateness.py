"""How late a submission is, and what that costs."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

from grader.batch.assignment import Assignment, Late, moment

__all__ = ["LateExtensionError", "extended", "lateness", "penalty"]

_RELATIVE = re.compile(r"\+\s*(?P<count>\d+(?:\.\d+)?)\s*(?P<unit>[mhd])", re.IGNORECASE)
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0}


class LateExtensionError(ValueError):
    """An extension that cannot be read. ``str()`` is what was written."""


def extended(assignment: Assignment, exercise: str, extension: str) -> datetime | None:
    """Give a student's own deadline for an exercise.

    ``extension`` is a date, ``+2d``, ``+36h`` or ``+30m``, or several as ``EXERCISE=...;EXERCISE=...``.
    Raises ``LateExtensionError``.
    """
    deadline = assignment.deadline_of(exercise)
    for part in filter(None, (one.strip() for one in extension.split(";"))):
        name, equals, written = part.rpartition("=")
        if equals and name.strip() != exercise:
            continue
        try:
            if match := _RELATIVE.fullmatch(written.strip()):
                if deadline is not None:
                    deadline += timedelta(seconds=float(match["count"]) * _UNITS[match["unit"].lower()])
            else:
                deadline = moment(written, assignment.zone, end_of_day=True)
        except (ValueError, OverflowError):
            raise LateExtensionError(written.strip()) from None
    return deadline


def lateness(modified: float | None, deadline: datetime | None, late: Late) -> int:
    """Give the whole seconds past the deadline; 0 within the grace, or where either is unknown."""
    if modified is None or deadline is None:
        return 0
    seconds = modified - deadline.timestamp()
    return math.ceil(seconds) if seconds > late.grace_minutes * 60 else 0


def penalty(points: float, seconds: int, late: Late) -> float:
    """Give the points that lateness takes away, at most the points there are."""
    if seconds <= 0 or late.policy == "none" or points <= 0:
        return 0.0
    if late.policy == "cut-off":
        return points
    percent = min(late.percent * math.ceil(seconds / 86400), late.at_most, 100.0)
    return round(points * percent / 100, 2)
