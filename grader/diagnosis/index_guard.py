"""The index of an access outside an array: where it comes from, what guards it, what would keep it inside."""

from __future__ import annotations

from grader.diagnosis import guards, outside, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import quote

#: The trial repairs that put a test around an access; with any other the index itself was wrong.
_GUARDS = frozenset({"guard-load", "guard-store", "suspect-guard"})


def index(evidence: Evidence) -> str:
    """The text of the index at fault, or nothing."""
    axis = evidence.whole("axis")
    return source.index_text(evidence.lines, evidence.finding.primary, axis) if axis is not None else ""


def origin(evidence: Evidence) -> str:
    """The clause about the assignment that the index at fault comes from, or nothing."""
    name = index(evidence)
    found = source.definition(evidence.lines, evidence.finding.primary, name) if name.isidentifier() else None
    return f"the index comes from {quote(found[1])} on line {found[0]}" if found is not None else ""


def guard_of_read(evidence: Evidence) -> str:
    """The clause about the tests around a read; nothing where the text does not show whether there is one."""
    tests = guards.around(evidence.lines, evidence.finding.primary)
    if tests:
        return (
            f"the {'guard around it is' if len(tests) == 1 else 'guards around it are'} {guards.named(tests)}"
        )
    return "no guard stands around the read" if _unguarded(evidence) else ""


def guard_of_store(evidence: Evidence) -> str:
    """The sentence about the tests around a store."""
    tests, store = guards.around(evidence.lines, evidence.finding.primary), f"the store{evidence.on_line()}"
    if tests:
        only = "" if guards.way_out(evidence.lines, evidence.finding.primary) else " only"
        return f"{store} is guarded by {guards.named(tests)}{only}"
    if _unguarded(evidence) and outside.is_global(evidence):
        return f"{store} runs for every thread, also for those past the edge"
    return f"follow the index of {store} for the thread that is shown"


def _unguarded(evidence: Evidence) -> bool:
    return guards.none_at_all(
        evidence.lines, evidence.finding.primary, evidence.context.names.get("kernel", "")
    )


def keep_inside(evidence: Evidence, verb: str, otherwise: str) -> str:
    """The action: end the loop earlier, where its variable is the index; else guard the access."""
    guard, name = _guard_needed(evidence), index(evidence)
    codes = evidence.context.repair_codes
    if guard and codes and not codes & _GUARDS:
        return f"correct what makes the index{evidence.on_line()}: it has to be so that `{guard}`"
    loop = source.loop_over(evidence.lines, evidence.finding.primary, name)
    if loop is not None and guard:
        return f"let the loop {quote(loop[1])} on line {loop[0]} run only while `{guard}`"
    if not guard:
        return f"guard the {verb}{evidence.on_line()} on every axis{otherwise}"
    if not outside.is_global(evidence):
        larger = "" if outside.before(evidence) else f", or make {evidence.array()} larger"
        return f"see to it that `{guard}`{evidence.on_line(' holds on line ')}{larger}"
    tests = guards.around(evidence.lines, evidence.finding.primary)
    unguarded = not tests and (outside.dimensions_of_array(evidence) or 1) > 1
    other = ", and the same for the other index" if unguarded else ""
    return f"{verb}{evidence.on_line()} only where `{guard}`{other}{otherwise}{_or_else(evidence)}"


def _or_else(evidence: Evidence) -> str:
    """For one index into what the exercise passes as a matrix: the index may be what is wrong."""
    shape, array = evidence.context.seen_on, evidence.array()
    matrix = shape is not None and len(shape.dims) > 1 and outside.dimensions_of_array(evidence) == 1
    if not matrix or not any(sign in index(evidence) for sign in "*+"):
        return ""
    return f"; or correct the index: an element of {array} is at row * (length of a row) + column"


def _guard_needed(evidence: Evidence) -> str:
    """The comparison that the access lacks, in the kernel's own names: ``col < N``, or nothing."""
    name, size = index(evidence), evidence.whole("size")
    if not name or size is None:
        return ""
    return f"{name} >= 0" if outside.before(evidence) else f"{name} < {_size_name(evidence, size)}"


def _size_name(evidence: Evidence, size: int) -> str:
    """A size by its name: a dimension of the launch for a global array, a constant for the others.

    A number of one launch would be no bound for the others, so a global array's own ``shape`` or ``size``
    stands in where no dimension, or more than one, has that size.
    """
    slot = evidence.finding.slot
    if slot is None:
        return str(size)
    if slot.space != "global":
        constants = [name for name, value in evidence.context.settings.items() if value == size]
        return constants[0] if len(constants) == 1 else str(size)
    axes, axis = outside.dimensions_of_array(evidence), evidence.whole("axis")
    if axes == 1:
        return f"{slot.array}.size"
    return evidence.context.dimension_of_size(size) or f"{slot.array}.shape[{axis}]"
