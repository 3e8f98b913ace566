"""What a family's module gives for one finding, before frame, shapes and trial are added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.passing import Reason


@dataclass(frozen=True, slots=True)
class Wording:
    """The parts of a message that depend on the finding's name.

    ``primary`` and ``secondary`` are the remarks under the two spans. ``seen`` may hold empty
    strings, which are left out. ``hints`` are a question, a pointer and the action.
    ``why_passed`` is said only where it holds of every shape that passes. ``all_the_same`` completes
    "no wrong value was seen, and it is a fault all the same:".
    """

    headline: str
    primary: str
    because: str
    hints: tuple[str, str, str]
    secondary: str = ""
    seen: tuple[str, ...] = ()
    picture: tuple[str, ...] = ()
    why_passed: Reason | None = None
    all_the_same: str = ""


Writer = Callable[[Evidence], Wording]
