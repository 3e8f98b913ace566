"""What grading one answer comes to, before it is turned into points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["right", "partly right", "wrong", "missing", "malformed", "needs review"]


class AnswerError(ValueError):
    """An answer that cannot be read as what its question asks for. ``str()`` is one line for the student."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status of an answer, the share of the points it earns, the share that waits for a person."""

    status: Status
    share: float = 0.0
    message: str = ""
    pending: float = 0.0


def right(message: str = "") -> Verdict:
    """The whole share."""
    return Verdict("right", 1.0, message)


def partly(share: float, message: str) -> Verdict:
    """``share`` of the points, or wrong where that is nothing."""
    return Verdict("partly right" if share > 0 else "wrong", max(share, 0.0), message)


def wrong(message: str) -> Verdict:
    """No points."""
    return Verdict("wrong", 0.0, message)


def review(message: str, share: float = 0.0) -> Verdict:
    """``share`` of the points now, the rest pending."""
    return Verdict("needs review", share, message, 1.0 - share)


def shortened(text: str, length: int = 40) -> str:
    """``text`` on one line, quoted, cut to ``length`` characters; unprintable characters as escapes."""
    line = " ".join(text[: 4 * length].split())
    return repr(line if len(line) <= length else line[: length - 3] + "...")
