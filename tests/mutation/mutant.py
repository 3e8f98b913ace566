"""What an operator makes: a changed text, and what must be said of it, fixed before anything is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.mutation.styles import Place, Style
from tests.mutation.text import Text


@dataclass(frozen=True)
class Change:
    """An operator's change. ``labels`` are the (name, roles of the right lines) that are true of it.

    Most have one. Several stand where the change makes several faults at once, each of which a student
    has to mend. None says that the operator holds the change to be harmless.
    """

    what: str
    text: Text
    labels: tuple[Place, ...]


@dataclass(frozen=True)
class Mutant:
    """One mutated submission; ``labels`` maps each true name to the right lines of ``source``."""

    style: str
    operator: str
    what: str
    source: str
    labels: dict[str, frozenset[int]]

    @property
    def key(self) -> str:
        return f"{self.style}/{self.operator}/{self.what}"


Operator = Callable[[Style], Iterator[Change]]


def mutant(style: Style, operator: str, change: Change) -> Mutant:
    labels: dict[str, frozenset[int]] = {}
    for name, roles in change.labels:
        lines = {line for role in roles for line in change.text.at(role)}
        labels[name] = labels.get(name, frozenset()) | frozenset(lines)
    return Mutant(style.name, operator, change.what, change.text.plain(), labels)
