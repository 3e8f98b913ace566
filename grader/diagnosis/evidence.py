"""A finding together with its context, read through accessors that bear any missing part."""

from __future__ import annotations

from dataclasses import dataclass

from grader.diagnosis import grammar, source
from grader.diagnosis.context import Context
from grader.records import Finding, Span


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the wording modules read. Texts are empty and numbers ``None`` where a part is missing."""

    finding: Finding
    context: Context

    @property
    def lines(self) -> source.Lines:
        """The submission's lines."""
        return tuple(self.context.source_lines)

    def code(self, fallback: str = "this code") -> str:
        """The primary span's text, quoted; without text the slot's name, else ``fallback``."""
        quoted = grammar.quote(source.text_of(self.lines, self.finding.primary))
        return quoted or self.slot() or fallback

    def other_code(self, fallback: str = "the other access") -> str:
        """The secondary span's text, quoted, or ``fallback``."""
        return grammar.quote(source.text_of(self.lines, self.finding.secondary)) or fallback

    @property
    def line(self) -> int | None:
        """Line of the primary span."""
        return None if self.finding.primary is None else self.finding.primary.line

    @property
    def other_line(self) -> int | None:
        """Line of the secondary span."""
        return None if self.finding.secondary is None else self.finding.secondary.line

    def on_line(self, before: str = " on line ") -> str:
        """The primary line with its preposition, or nothing."""
        return f"{before}{self.line}" if self.line is not None else ""

    def on_other_line(self, before: str = " on line ") -> str:
        """The secondary line with its preposition, or nothing."""
        return f"{before}{self.other_line}" if self.other_line is not None else ""

    def slot(self) -> str:
        """The slot's name, quoted, or nothing."""
        return "" if self.finding.slot is None else grammar.quote(grammar.slot_name(self.finding.slot))

    def array(self, fallback: str = "the array") -> str:
        """The array at fault, quoted: from the slot, the facts, the text, or ``fallback``."""
        name = self.finding.slot.array if self.finding.slot is not None else self.text("array")
        return grammar.quote(name or source.base_name(self.lines, self.finding.primary)) or fallback

    def slot_or(self, fallback: str) -> str:
        """The slot's name where it names one element, else ``fallback``."""
        slot = self.finding.slot
        return self.slot() if slot is not None and slot.index else fallback

    def thread(self, position: int, fallback: str = "another thread") -> str:
        """The thread at a position of the finding's list, in words."""
        if position >= len(self.finding.threads):
            return fallback
        return grammar.thread_name(self.finding.threads[position], self.context.block, self.context.grid)

    @property
    def same_block(self) -> bool | None:
        """Whether the two threads are of one block; None where fewer than two are known."""
        if len(self.finding.threads) < 2:
            return None
        return self.finding.threads[0].block == self.finding.threads[1].block

    def count(self, key: str) -> int | None:
        """A count, or None."""
        return self.finding.counts.get(key)

    def number(self, key: str) -> float | None:
        """A numeric fact, or None."""
        value = self.finding.facts.get(key)
        if isinstance(value, bool):
            return None
        return float(value) if isinstance(value, int | float) else None

    def whole(self, key: str) -> int | None:
        """A fact that is a whole number, or None."""
        value = self.finding.facts.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, key: str) -> str:
        """A fact that is text, or nothing."""
        value = self.finding.facts.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        """A fact that is a yes or no; a missing one is no."""
        return self.finding.facts.get(key) is True

    def texts(self, key: str) -> tuple[str, ...]:
        """A fact that is a tuple, each part as text; a missing one is empty."""
        value = self.finding.facts.get(key)
        return tuple(str(item) for item in value if item is not None) if isinstance(value, tuple) else ()

    def numbers(self, key: str) -> tuple[int, ...]:
        """A fact that is a tuple of whole numbers; anything else is empty."""
        value = self.finding.facts.get(key)
        if not isinstance(value, tuple):
            return ()
        picked = tuple(item for item in value if isinstance(item, int) and not isinstance(item, bool))
        return picked if len(picked) == len(value) else ()

    def pairs(self, key: str) -> tuple[tuple[str, int], ...]:
        """A fact of (variable, value) pairs, as loops are given; parts of another form are left out."""
        value = self.finding.facts.get(key)
        found: list[tuple[str, int]] = []
        for item in value if isinstance(value, tuple) else ():
            if isinstance(item, tuple) and len(item) == 2:
                name, at = item
                if isinstance(name, str) and isinstance(at, int):
                    found.append((name, at))
        return tuple(found)

    def ranges(self, key: str) -> str:
        """A fact of ((first, last), ...) pairs: "0..3, 8..11", or nothing."""
        return ", ".join(grammar.span_of_numbers(first, last) for first, last in self.range_pairs(key))

    def range_pairs(self, key: str) -> tuple[tuple[int, int], ...]:
        """A fact of ((first, last), ...) pairs; parts of another form are left out."""
        value = self.finding.facts.get(key)
        found: list[tuple[int, int]] = []
        for item in value if isinstance(value, tuple) else ():
            if isinstance(item, tuple) and len(item) == 2:
                first, last = item
                if isinstance(first, int) and isinstance(last, int):
                    found.append((first, last))
        return tuple(found)

    def role(self, name: str, fallback: str) -> str:
        """The kernel's own name for a role (out, left, right, kernel), quoted, or ``fallback``."""
        return grammar.quote(self.context.names.get(name, "")) or fallback

    def rounds(self) -> str:
        """The values of the loop variables at the access: ``t = 2, k = 8``, or nothing."""
        return loop_values(self.finding.loops)

    def rounds_of(self, key: str) -> str:
        """The values of the loop variables that a fact holds, or nothing."""
        return loop_values(self.pairs(key))

    def in_round(self) -> str:
        """The clause " when t = 2, k = 8", or nothing."""
        return f" when {self.rounds()}" if self.finding.loops else ""

    def shape(self) -> str:
        """The launch shape: "M, N, K = 50, 37, 40", or nothing."""
        shape = self.context.seen_on
        if shape is None or not shape.dims:
            return ""
        return f"{', '.join(shape.dims)} = {', '.join(str(value) for value in shape.dims.values())}"

    def wrong(self) -> str:
        """How many elements are wrong on that shape, or nothing."""
        shape = self.context.seen_on
        if shape is None or shape.wrong <= 0:
            return ""
        return f"{grammar.part(shape.wrong, shape.elements or None, 'element')} wrong"

    def at_shape(self) -> str:
        """Shape and wrong elements in one clause: "M, N, K = 50, 37, 40: 1850 of 1850 elements wrong"."""
        return grammar.sentence(self.shape(), self.wrong(), joiner=": ")

    def place(self) -> str:
        """Where it happened, for a message with nothing better to show: never empty."""
        if self.line is not None:
            return f"line {self.line} of {self.context.path or 'the file'}"
        return self.context.path or "the submitted file"


def loop_values(loops: tuple[tuple[str, int], ...]) -> str:
    """Loop variables with their values: ``t = 2, k = 8``."""
    return ", ".join(
        f"{name} = {value}" if name != "while" else f"round {value} of `while`" for name, value in loops
    )


def span_line(span: Span | None) -> int:
    """The line of a span for ordering; a missing span comes last."""
    return span.line if span is not None else 1_000_000
