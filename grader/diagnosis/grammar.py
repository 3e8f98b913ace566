"""Small matters of English and of notation: plurals, ranges, thread and slot names."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Dim3, Slot, Thread

#: Longest quotation of source text in a sentence.
QUOTE_LIMIT = 46


def quote(text: str, limit: int = QUOTE_LIMIT) -> str:
    """Source text in backticks, shortened at its end; empty text stays empty."""
    clean = " ".join(text.replace("`", "'").split())
    if not clean:
        return ""
    if len(clean) > limit:
        clean = clean[: limit - 4].rstrip() + " ..."
    return f"`{clean}`"


def number(value: float) -> str:
    """A number as people write it: 1,850, 65,536, 3.94."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.3g}"


def plural(count: int, noun: str, several: str | None = None) -> str:
    """A count with its noun: 1 thread, 2 threads."""
    return f"{number(count)} {noun if count == 1 else several or noun + 's'}"


def part(count: int, whole: int | None, noun: str) -> str:
    """A part of a whole: 128 of 256 threads; without the whole, 128 threads; "all 256 threads" for all."""
    if whole is None or whole < count:
        return plural(count, noun)
    if count == whole and whole > 1:
        return f"all {plural(whole, noun)}"
    return f"{number(count)} of {plural(whole, noun)}"


def listing(items: Sequence[str], joiner: str = "and") -> str:
    """Items in a sentence: a, b and c."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {joiner} {items[-1]}"


def span_of_numbers(first: int, last: int) -> str:
    """A range that includes both ends: 32..39, or 32 alone."""
    return str(first) if first == last else f"{first}..{last}"


def coordinates(at: Dim3, extent: Dim3 | None = None) -> str:
    """Coordinates (x, y) or (x, y, z) without needless zeros; plain x where the extent is one line."""
    if extent is not None and extent[1:] == (1, 1) and at[1:] == (0, 0):
        return str(at[0])
    if at[2] == 0 and (extent is None or extent[2] == 1):
        return f"({at[0]}, {at[1]})"
    return f"({at[0]}, {at[1]}, {at[2]})"


def thread_name(thread: Thread, block: Dim3 | None = None, grid: Dim3 | None = None) -> str:
    """A thread in words: thread (3, 0) of block (1, 0), each as (x, y)."""
    return f"thread {coordinates(thread.thread, block)} of block {coordinates(thread.block, grid)}"


def element(array: str, index: Sequence[int]) -> str:
    """An element in the notation of the kernel: As[0, 8]."""
    return f"{array}[{', '.join(str(i) for i in index)}]" if index else array


def slot_name(slot: Slot) -> str:
    """The element that a slot stands for: As[0, 8]."""
    return element(slot.array, slot.index)


def axis_name(axis: int, dimensions: int | None) -> str:
    """What an axis counts: rows and columns of a matrix, elements of a vector."""
    if dimensions == 2 and axis in (0, 1):
        return ("row", "column")[axis]
    if dimensions == 1:
        return "element"
    return f"index on axis {axis}"


def sentence(*clauses: str, joiner: str = ", ") -> str:
    """Join the clauses that are not empty."""
    return joiner.join(clause for clause in clauses if clause)


def first_capital(text: str) -> str:
    """The text with its first letter as a capital; a quotation stays as it is."""
    return text[:1].upper() + text[1:]
