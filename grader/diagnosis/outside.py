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
        return f"{noun} 0 only"
    several = f"indices on axis {axis}" if noun.startswith("index on") else f"{noun}s"
    return f"{'indices' if noun == 'index' else several} {grammar.span_of_numbers(0, size - 1)}"


def row_overrun(evidence: Evidence) -> str:
    """What a store outside a row damages."""
    where = "before the start of a row is the end of the row before"
    if not before(evidence):
        where = "past the end of a row is the start of the next row"
    return (
        f"memory is one line of numbers: an index {where}, "
        "so such a store damages a right result before it ever leaves the array"
    )
