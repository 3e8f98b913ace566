"""Which findings bring about which others: what is mended with its cause need not be looked at by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.diagnosis.catalogue import CATALOGUE
from grader.diagnosis.evidence import span_line
from grader.records import Finding

__all__ = ["CONSEQUENCES", "Consequence"]


@dataclass(frozen=True, slots=True)
class Consequence:
    """``causes`` bring about ``effects`` where ``applies`` holds; ``why`` says how, for people."""

    causes: frozenset[str]
    effects: frozenset[str]
    why: str
    applies: Callable[[Finding, Finding], bool] = lambda *_: True


def _array(finding: Finding) -> str | None:
    if finding.slot is not None:
        return finding.slot.array
    named = finding.facts.get("array")
    return named if isinstance(named, str) else None


def _same_array(cause: Finding, effect: Finding) -> bool:
    a, b = _array(cause), _array(effect)
    return a is None or b is None or a == b


def _one_array(cause: Finding, effect: Finding) -> bool:
    return _array(cause) is not None and _array(cause) == _array(effect)


def _not_guarded_later(cause: Finding, effect: Finding) -> bool:
    """A guard below the early return skipped the store by itself, whoever had left before."""
    if effect.secondary is None or cause.primary is None:
        return True
    return effect.secondary.line <= cause.primary.line


def _same_access(cause: Finding, effect: Finding) -> bool:
    lines = {span_line(effect.primary), span_line(effect.secondary)}
    # One finding stands for all arrays of a line, so that the array's name tells nothing here.
    return cause.primary is not None and span_line(cause.primary) in lines


def _same_read(cause: Finding, effect: Finding) -> bool:
    return cause.primary is not None and span_line(cause.primary) == span_line(effect.primary)


def _same_guard(cause: Finding, effect: Finding) -> bool:
    return cause.secondary is not None and cause.secondary == effect.secondary


def _inside(cause: Finding, effect: Finding) -> bool:
    """Whether a barrier, and the test that keeps threads from it, stand at or below the head of a loop."""
    if cause.primary is None or cause.secondary is None or effect.primary is None:
        return False
    head = effect.primary.line
    return cause.secondary.line >= head and cause.primary.line > head


_RACES = frozenset(name for name, entry in CATALOGUE.items() if entry.family == "racecheck")
_RESULTS = frozenset(name for name, entry in CATALOGUE.items() if entry.family == "result")
_UNFILLED = frozenset({"uninitialised-shared-read", "stale-shared-read"})
_COMPILE = frozenset(
    name
    for name, entry in CATALOGUE.items()
    if entry.family in ("compile", "launch") and name != "grid-too-small"
)


def _names(*names: str) -> frozenset[str]:
    return frozenset(names)


CONSEQUENCES: tuple[Consequence, ...] = (
    Consequence(
        _COMPILE - _names("did-not-finish", "zero-step", "not-started"),
        frozenset(CATALOGUE) - _COMPILE,
        "a kernel that cannot be compiled or launched on a device has no behaviour to judge",
    ),
    Consequence(
        _names("not-started"),
        frozenset(CATALOGUE) - _names("not-started", "syntax-error"),
        "what an unfinished skeleton does wrong is what has not been written yet",
    ),
    Consequence(
        _names("did-not-finish"),
        _names("unwritten-output") | _RESULTS,
        "a kernel that was stopped has not stored its results",
    ),
    Consequence(
        _names("zero-step"),
        _names("divergent-barrier", "exit-before-barrier", "undefined-variable", "unwritten-output")
        | _RACES
        | _UNFILLED
        | _RESULTS,
        "threads that ended reach no barrier, fill no slot and store nothing any more",
    ),
    Consequence(
        _names("divergent-barrier"),
        _names("did-not-finish"),
        "threads that part inside a loop do not leave it together, and the budget may end while some stay",
        _inside,
    ),
    Consequence(
        _names("divergent-barrier"),
        _RACES | _UNFILLED | _RESULTS,
        "a barrier that part of a block misses orders nothing, so races and unfilled slots follow from it",
    ),
    Consequence(
        _names("exit-before-barrier"),
        _UNFILLED,
        "a thread that has returned fills no slot; a guard further down skips stores for its own reason",
        _not_guarded_later,
    ),
    Consequence(
        _names("exit-before-barrier"),
        _RESULTS,
        "a tile that lacks the share of the threads that returned gives a wrong sum",
    ),
    Consequence(
        _names("shared-read-before-barrier"),
        _UNFILLED,
        "a slot that is read before the barrier may not have been written yet",
        _same_array,
    ),
    Consequence(
        _names("shared-write-conflict"),
        _UNFILLED,
        "when two threads store to one slot, the slot that one of them should have filled stays empty",
        _same_array,
    ),
    Consequence(
        _names("stale-shared-read"),
        _names("uninitialised-shared-read"),
        "one guard without a zero leaves old values in later rounds and none in the first",
        _same_guard,
    ),
    Consequence(
        _UNFILLED | _names("uninitialised-local-read", "undefined-variable"),
        _RESULTS,
        "rubbish in a sum gives a wrong sum, often one that looks like a repeated tile",
    ),
    Consequence(
        _names("grid-too-small", "bad-launch-config"),
        _names("unwritten-output") | _RESULTS,
        "elements without a thread are never stored",
    ),
    Consequence(
        _names("transposed-result", "swapped-operands"),
        _names("out-of-bounds-read", "out-of-bounds-write", "unwritten-output", "uncoalesced-access"),
        "exchanged indices run past the shorter axis, leave the longer one short and walk down columns",
    ),
    Consequence(
        _names("out-of-bounds-write"),
        _names("out-of-bounds-read"),
        "what does not fit into an array when it is stored is looked for past its end when it is read",
        _one_array,
    ),
    Consequence(
        _names("global-write-conflict"),
        _names("grid-too-small", "unwritten-output"),
        "threads that share an element leave another without one, however large the grid",
        _one_array,
    ),
    Consequence(
        _names("out-of-bounds-read", "out-of-bounds-write"),
        _RACES,
        "an address past the end of a row is another thread's place in the next",
        _same_access,
    ),
    Consequence(
        _names("out-of-bounds-write"),
        _UNFILLED,
        "a value that went past the end of the tile is missing in its slot",
        _one_array,
    ),
    Consequence(
        _names("out-of-bounds-read"),
        _UNFILLED,
        "what a read past the end of a tile finds is another slot, filled or not",
        _same_read,
    ),
    Consequence(
        _names("out-of-bounds-write"),
        _names("unwritten-output"),
        "an element that went to the wrong address is missing at the right one",
        _same_array,
    ),
    Consequence(
        _names("out-of-bounds-write", "negative-index", "precision-loss"),
        _names("wrong-result"),
        "a value at the wrong address, from the wrong end or without its fraction makes a wrong result",
    ),
    Consequence(
        _names("no-shared-reuse", "uncoalesced-access"),
        _names("low-arithmetic-intensity"),
        "loads that are not shared or spread over memory are what makes the ratio low",
    ),
)
