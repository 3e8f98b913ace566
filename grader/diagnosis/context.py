"""What a message may draw on besides its finding: the text, the shapes, the outcome of a trial repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from grader.records import Dim3, FamilyResult, ShapeResult


@dataclass(frozen=True, slots=True)
class MendedPart:
    """What a trial repair put right: so many of the failing shapes, so many wrong elements of one shape."""

    shapes: int
    failing: int
    elements: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of one finding.

    ``path`` is shown in the frame as it is. ``source_lines`` are the submission's lines without
    line ends. ``settings`` are its constants, say ``{"TILE": 16}``. ``confirmed`` says how the
    cause was tested: "experiment" where a repair of this one cause made every shape pass,
    "schedule" where besides that an order of the warps gave a wrong element, "order" where an order gave
    one and no repair is known to mend it, "part" where a repair
    put right what ``mended`` says and no repair all, ``None`` where nothing of it happened.
    ``repair`` completes the sentence "with ... this kernel passes every shape" ("a barrier after
    line 33") and is shown at the last hint level only; ``repair_codes`` are the kebab codes of its
    edits. ``orders`` is the number of warp orders that were tried. ``names`` maps roles to the
    kernel's own names: kernel, out, left, right, reference.
    ``causes`` is how many faults had to be repaired together for that confirmation. ``shape`` is
    the launch shape on which the finding was made, by default the first failing one; ``grid`` and
    ``block`` are that launch's, as (x, y, z).
    """

    path: str
    source_lines: tuple[str, ...] = ()
    settings: Mapping[str, int] = field(default_factory=dict)
    families: tuple[FamilyResult, ...] = ()
    failing: tuple[ShapeResult, ...] = ()
    passing: tuple[ShapeResult, ...] = ()
    confirmed: Literal["experiment", "schedule", "order", "part"] | None = None
    mended: MendedPart | None = None
    repair: str | None = None
    repair_codes: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    orders: int = 0
    causes: int = 1
    shape: ShapeResult | None = None
    grid: Dim3 | None = None
    block: Dim3 | None = None

    @property
    def seen_on(self) -> ShapeResult | None:
        """The shape that the message's numbers belong to."""
        if self.shape is not None:
            return self.shape
        return self.failing[0] if self.failing else None

    def dimension_of_size(self, size: int) -> str | None:
        """The name of the one dimension of the shape with that size; None where none or several have it."""
        shape = self.seen_on
        if shape is None:
            return None
        matching = [name for name, value in shape.dims.items() if value == size]
        return matching[0] if len(matching) == 1 else None
