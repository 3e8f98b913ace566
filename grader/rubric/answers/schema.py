"""The questions of a rubric as typed records: what YAML may say, and nothing else.

Every question has an ``id`` (the key of its answer), a ``title`` and ``points``; its ``kind`` picks the
record. Values are numbers or expressions (``grader.rubric.expressions``) over the names in ``given`` and,
where ``uses`` lists them, over the ids of earlier number questions. Field by field, with examples:
docs/worksheets.md.
"""

from __future__ import annotations

import msgspec

Value = int | float | str


class Option(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One outcome of a draw that is more than a number: ``NAME_key`` becomes a name for each value."""

    label: str
    values: dict[str, Value]
    source: str = ""


class Given(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A named quantity: either a ``value`` or a ``draw`` of which each student gets one."""

    value: Value | None = None
    draw: tuple[int | float | Option, ...] = ()
    unit: str = ""
    source: str = ""


GivenValue = int | float | str | Given
Givens = dict[str, GivenValue]


class Mistake(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known wrong answer of a number or formula question, with what to say to it.

    ``value`` is an expression like the question's own. ``credit`` is the share of the points it still
    earns: above 0 for an answer that is right in another convention than the one asked for.
    """

    value: Value
    says: str
    credit: float = 0.0


class Idea(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing a short text must say: in one sentence, one phrase of every group.

    ``name`` completes "not found: ...". A phrase is one or more words; a final ``*`` matches any ending.
    """

    name: str
    groups: tuple[tuple[str, ...], ...]


class WrongClaim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A statement that shows a misunderstanding: groups as in ``Idea``."""

    groups: tuple[tuple[str, ...], ...]
    says: str


class _Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """What all questions share.

    ``hint`` is shown with a wrong answer that no known mistake explains, ``explain`` with a right one.
    """

    id: str
    title: str
    points: float
    text: str = ""
    hint: str = ""
    explain: str = ""
    given: Givens = {}


class NumberQuestion(_Question, frozen=True, kw_only=True, tag="number"):
    """A number, with a unit where ``unit`` is not empty (``value`` is then in that unit).

    An answer is right within ``relative`` times the value or within ``absolute``, whichever is more.
    ``mistakes`` are names from ``misconceptions.LIBRARY`` (derived from ``value``) or written out.
    """

    value: Value
    unit: str = ""
    unit_optional: bool = False
    relative: float = 0.01
    absolute: float = 0.0
    uses: tuple[str, ...] = ()
    mistakes: tuple[str | Mistake, ...] = ()


class FormulaQuestion(_Question, frozen=True, kw_only=True, tag="formula"):
    """Algebra in named ``variables``, each with the least and greatest value it is tried at."""

    value: str
    variables: dict[str, tuple[float, float]]
    mistakes: tuple[Mistake, ...] = ()


class ChoiceQuestion(_Question, frozen=True, kw_only=True, tag="choice"):
    """One of ``options`` (key to text). ``because`` gives the message for a wrong key."""

    options: dict[str, str]
    answer: str
    because: dict[str, str] = {}


class MultiChoiceQuestion(_Question, frozen=True, kw_only=True, tag="choices"):
    """All the true ``options``; every wrong or missing key costs one true key's share."""

    options: dict[str, str]
    answer: tuple[str, ...]
    because: dict[str, str] = {}


class OrderingQuestion(_Question, frozen=True, kw_only=True, tag="order"):
    """All of ``items`` (key to text) in the right order."""

    items: dict[str, str]
    answer: tuple[str, ...]
    because: dict[str, str] = {}


class TextQuestion(_Question, frozen=True, kw_only=True, tag="text"):
    """A sentence or two that must hold every one of ``ideas``; ``example`` is an answer that does."""

    ideas: tuple[Idea, ...]
    example: str
    wrong_claims: tuple[WrongClaim, ...] = ()


class FreeQuestion(_Question, frozen=True, kw_only=True, tag="free"):
    """An answer that a person grades, by ``guidance``."""

    guidance: str = ""
    least_words: int = 5


Question = (
    NumberQuestion
    | FormulaQuestion
    | ChoiceQuestion
    | MultiChoiceQuestion
    | OrderingQuestion
    | TextQuestion
    | FreeQuestion
)
