"""On which side of an array an access lies, and what valid indices it has."""

from __future__ import annotations

from grader.diagnosis import grammar
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import axis_name


def dimensions_of_array(evidence: Evidence) -> int | None:
    """How many axes the index at fault has, or None."""
    return len(evidence.finding.slot.index) or None if evidence.finding.slot is not None else None


def before(evidence: Evidence) -> bool:
    """Whether the first access at fault lies before the start of the axis rather than past its end."""
    slot, axis = evidence.finding.slot, evidence.whole("axis")
    return slot is not None and axis is not None and 0 <= axis < len(slot.index) and slot.index[axis] < 0


def beyond(evidence: Evidence, of: str) -> str:
    """On which side of the array the access lies."""
    return f"before the start{of}" if before(evidence) else f"past the end{of}"


def bounds(evidence: Evidence) -> str:
    """The valid indices of the axis at fault: "columns 0..36", or nothing."""
    axis, size = evidence.whole("axis"), evidence.whole("size")
    if size is None or size < 1:
        return ""
    noun = axis_name(axis, dimensions_of_array(evidence)) if axis is not None else "index"
    if size == 1:
        return f"{noun.replace('index', 'index 0', 1) if noun.startswith('index on') else f'{noun} 0'} only"
    numbers = grammar.span_of_numbers(0, size - 1)
    if noun.startswith("index on"):
        return f"indices {numbers} on axis {axis}"
    return f"{'indices' if noun == 'index' else f'{noun}s'} {numbers}"


def is_global(evidence: Evidence) -> bool:
    """Whether the array is in global memory, as far as is known."""
    slot = evidence.finding.slot
    return slot is None or slot.space == "global"


def _within_rows(evidence: Evidence) -> bool:
    """Whether what lies beyond may be another row of the array: not along its first axis of all."""
    axis = evidence.whole("axis")
    return axis is None or axis > 0 or bool(evidence.numbers("aliases"))


def _beyond_the_array(evidence: Evidence, access: str, does: str) -> str:
    side = "before the start" if before(evidence) else "past the end"
    return (
        f"a GPU does not check an index: {access} {side} of an array {does} whatever lies there, "
        "or the launch fails"
    )


def unchecked_read(evidence: Evidence) -> str:
    """What a read outside a row, or outside the array, returns."""
    if not _within_rows(evidence):
        return _beyond_the_array(evidence, "a read", "returns")
    if before(evidence):
        return (
            "a GPU does not check an index: a read before a row returns the end of the row before, "
            "and before the allocation anything, or the launch fails"
        )
    return (
        "a GPU does not check an index: a read past a row returns the start of the next row, "
        "and past the allocation anything, or the launch fails"
    )


def row_overrun(evidence: Evidence) -> str:
    """What a store outside a row, or outside the array, damages."""
    if not _within_rows(evidence):
        return _beyond_the_array(evidence, "a store", "changes")
    where = "before the start of a row is the end of the row before"
    if not before(evidence):
        where = "past the end of a row is the start of the next row"
    return (
        f"memory is one line of numbers: an index {where}, "
        "so such a store damages a right result before it ever leaves the array"
    )
