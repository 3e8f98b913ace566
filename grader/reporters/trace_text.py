"""A thread's trace as text: the line, what it loaded, stored and set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from grader.records import Span, Thread

Pairs = tuple[tuple[str, Any], ...]


class Traced(Protocol):
    """One statement that the thread ran."""

    @property
    def span(self) -> Span:
        """Where it stands."""

    @property
    def loaded(self) -> Pairs:
        """What it loaded."""

    @property
    def stored(self) -> Pairs:
        """What it stored."""

    @property
    def sets(self) -> Pairs:
        """The variables that it set."""


def render(lines: Sequence[Traced], source: Sequence[str], thread: Thread) -> str:
    """One line for each statement: number, source, values."""
    where = f"thread {_dims(thread.thread)} of block {_dims(thread.block)}"
    if not lines:
        return f"{where} ran no statement; is it part of the launch?\n"
    width = len(str(max(line.span.line for line in lines)))
    texts = [source[line.span.line - 1].strip() for line in lines]
    room = min(60, max(len(text) for text in texts))
    out = [f"{where}:"]
    for line, text in zip(lines, texts, strict=True):
        values = [f"{name} -> {_value(value)}" for name, value in line.loaded]
        values += [f"{name} = {_value(value)}" for name, value in (*line.sets, *line.stored)]
        out.append(f"{line.span.line:>{width}} | {text:<{room}}  {', '.join(values)}".rstrip())
    return "\n".join(out) + "\n"


def _dims(dims: tuple[int, int, int]) -> str:
    x, y, z = dims
    return f"({x}, {y}, {z})" if z else f"({x}, {y})"


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
