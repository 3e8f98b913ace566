"""Operators on barriers: drop, move, duplicate, weaken, put under a condition; leave before one.

What must be said follows from what the barrier orders (``Style.orders``): without it, a read comes
before the write that it needs, or an overwrite before the read. Under a test that threads of one block
answer differently it is divergent instead. A test that all threads of a block answer alike leaves
the barrier whole, but only in the rounds in which it holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.mutation.mutant import Change
from tests.mutation.styles import RAW, WAR, WAR_A, Place, Style
from tests.mutation.text import Text, code_of, mark

DIVERGENT = ("row < M", "col < N", "tx == 0", "tx < ty", "ty % 2 == 0", "tx + ty > 0")
#: Tests that a whole block answers alike, false for some blocks or shapes whatever the round.
UNIFORM = ("M > TILE", "cuda.blockIdx.x == 0", "N <= TILE")


def drop(style: Style) -> Iterator[Change]:
    for role, missing in style.orders.items():
        yield Change(role, style.text.drop(style.text.line(role)), missing)


def duplicate(style: Style) -> Iterator[Change]:
    for role in style.orders:
        number = style.text.line(role)
        copy = style.text.indent(number) + "cuda.syncthreads()"
        yield Change(role, style.text.insert(number, copy), ())


def weaken(style: Style) -> Iterator[Change]:
    """A barrier of the warp orders its own lanes only."""
    for role, missing in style.orders.items():
        text = style.text.swap(role, "syncthreads", "syncwarp")
        assert text is not None
        yield Change(role, text, missing)


def move(style: Style) -> Iterator[Change]:
    """Each barrier to each other place where a barrier could stand."""
    places = ("before_loop", "loop_start", "between_loads", "before_dot", "in_dot", "after_dot", "after_loop")
    for role in style.orders:
        for place in places:
            if (made := _moved(style, role, place)) is not None:
                yield made


def condition(style: Style) -> Iterator[Change]:
    for role, missing in style.orders.items():
        for plain in DIVERGENT:
            own = {"row < M": "top + ty < M", "col < N": "left + tx < N"}
            test = own.get(plain, plain) if style.name == "register_block" else plain
            yield Change(f"{role} if {test}", _under(style, role, test), (("divergent-barrier", (role,)),))
        for test in UNIFORM:
            yield Change(f"{role} if {test}", _under(style, role, test), missing)
        yield from _by_round(style, role, missing)


def _by_round(style: Style, role: str, missing: tuple[Place, ...]) -> Iterator[Change]:
    several = "K > TILE"
    # With a single tile nothing is ever overwritten: then only the first of the two is needed.
    needless = role in ("consumed", "turn")
    yield Change(f"{role} if {several}", _under(style, role, several), () if needless else missing)
    if role != "prologue":
        counter = "t" if "for t in" in style.text.lines[style.text.line("k_loop") - 1] else "start"
        first, later = f"{counter} == 0", f"{counter} > 0"
        yield Change(f"{role} if {first}", _under(style, role, first), missing)
        yield Change(f"{role} if {later}", _under(style, role, later), missing)


def leave_early(style: Style) -> Iterator[Change]:
    """Threads without an element of C return before the loads, and their share is missing."""
    row, col = ("top + ty", "left + tx") if style.name == "register_block" else ("row", "col")
    tests = (f"{row} >= M", f"{col} >= N", f"{row} >= M or {col} >= N", f"{row} >= M and {col} >= N")
    for test in tests:
        number = style.text.line("init")
        while len(style.text.indent(number)) > len(style.text.indent(style.text.line("k_loop"))):
            number -= 1
        pad = style.text.indent(number)
        text = style.text.insert(number, f"{pad}if {test}:", mark(f"{pad}    return", "leaves"))
        harmless = " and " in test
        yield Change(test, text, () if harmless else (("exit-before-barrier", ("leaves",)),))


def leave_in_loop(style: Style) -> Iterator[Change]:
    """Threads whose k is past the end leave the loop, and the barriers in it to the others."""
    for role in ("filled", "consumed", "turn"):
        if not style.text.has(role) or style.name == "register_block":
            continue
        number = style.text.line(role)
        pad = style.text.indent(number)
        text = style.text.insert(number, f"{pad}if row >= M:", mark(f"{pad}    break", "leaves"))
        # They never come to the barriers again, and what they loaded before stays in the tile.
        labels = (("divergent-barrier", tuple(style.orders)), ("stale-shared-read", ("dot",)))
        yield Change(f"break before {role}", text, labels)


def _under(style: Style, role: str, test: str) -> Text:
    number = style.text.line(role)
    pad, line = style.text.indent(number), style.text.lines[number - 1]
    return style.text.drop(number).insert(number, f"{pad}if {test}:", "    " + line)


def _moved(style: Style, role: str, place: str) -> Change | None:
    text = style.text
    line = mark(code_of(text.lines[text.line(role) - 1]), role)
    text = text.drop(text.line(role))
    anchors = {
        "before_loop": (text.line("k_loop"), ""),
        "loop_start": (text.line("k_loop") + 1, "    "),
        "between_loads": (text.line("begin_b"), ""),
        "before_dot": (text.line("begin_dot"), ""),
        "after_dot": (_after_dot(text), ""),
        "after_loop": (text.line("end"), ""),
    }
    if text.has("call_dot") and place == "in_dot":
        return None
    if place == "in_dot":
        number = text.line("dot_loop") + 1
        pad = text.indent(number)
    else:
        number, extra = anchors[place]
        deeper = text.line("k_loop") if place == "loop_start" else number
        pad = text.indent(deeper) + extra
        if place == "after_dot":
            pad = text.indent(text.line("begin_dot"))
    labels = _after_move(style, role, place)
    return None if labels is None else Change(f"{role} to {place}", text.insert(number, pad + line), labels)


def _after_dot(text: Text) -> int:
    if text.has("call_dot"):
        return text.line("begin_dot") + 1
    return text.last_of(text.line("dot_loop")) + 1


def _after_move(style: Style, role: str, place: str) -> tuple[Place, ...] | None:
    """What is left unordered; None where the barrier would stay where it is."""
    raw, war, part = (RAW,), (WAR,), (WAR_A,)
    table: dict[str, dict[str, tuple[Place, ...] | None]] = {
        "filled": {
            "before_loop": raw,
            "loop_start": raw,
            "between_loads": raw,
            "before_dot": None,
            "in_dot": (),
            "after_dot": raw,
            "after_loop": raw,
        },
        "consumed": {
            "before_loop": war,
            "loop_start": (),
            "between_loads": part,
            "before_dot": war,
            # It stands before each product, so none stands after the last.
            "in_dot": war,
            "after_dot": None,
            "after_loop": war,
        },
        "prologue": {
            "before_loop": None,
            "loop_start": (),
            "between_loads": (),
            "before_dot": (),
            "in_dot": (),
            "after_dot": raw,
            "after_loop": raw,
        },
        "turn": {
            "before_loop": (*raw, *war),
            "loop_start": (),
            "between_loads": part,
            "before_dot": war,
            "in_dot": war,
            "after_dot": None,
            "after_loop": (*raw, *war),
        },
    }
    return table[role][place]
