"""Operators on what runs how far and starts where: k-tiles, products, offsets, the launch."""

from __future__ import annotations

from collections.abc import Iterator

from tests.mutation.mutant import Change
from tests.mutation.styles import Place, Style
from tests.mutation.text import Text, code_of, mark

DROPPED: tuple[Place, ...] = (("dropped-k-tail", ("k_loop",)),)
FIRST: tuple[Place, ...] = (("wrong-result", ("k_loop",)),)
#: Products are missing that are not the last of the sum, or not only those: that is no dropped tail.
GAPS = FIRST
HARMLESS: tuple[Place, ...] = ()
#: A sum cut short at a size that may also be too long; past K only zeros are added.
WIDTH = {"factory": "width"}

#: How the number of k-tiles is written, and what else it may become.
_TILES: dict[str, tuple[tuple[str, tuple[Place, ...]], ...]] = {
    "range((K + TILE - 1) // TILE)": (
        ("range(K // TILE)", DROPPED),
        ("range((K - 1) // TILE)", DROPPED),
        ("range((K + TILE - 2) // TILE)", DROPPED),
        ("range((K + TILE // 2) // TILE)", DROPPED),
        ("range(round(K / TILE))", DROPPED),
        ("range((K + TILE) // TILE)", HARMLESS),
        ("range(K // TILE + 1)", HARMLESS),
        ("range((K + TILE - 1) // TILE + 2)", HARMLESS),
        ("range((M + TILE - 1) // TILE)", DROPPED),
        ("range((N + TILE - 1) // TILE)", DROPPED),
        ("range(cuda.gridDim.x)", DROPPED),
        ("range(cuda.gridDim.y)", DROPPED),
        ("range(1)", DROPPED),
        ("range(1, (K + TILE - 1) // TILE)", FIRST),
        ("range(0, (K + TILE - 1) // TILE, 2)", GAPS),
        ("range((K + TILE - 1) // (TILE + 1))", DROPPED),
    ),
    "range(0, K, WIDTH)": (
        ("range(0, K - WIDTH + 1, WIDTH)", DROPPED),
        ("range(0, K - 1, WIDTH)", DROPPED),
        ("range(0, K + 1, WIDTH)", HARMLESS),
        ("range(0, K + WIDTH, WIDTH)", HARMLESS),
        ("range(0, M, WIDTH)", DROPPED),
        ("range(0, N, WIDTH)", DROPPED),
        ("range(0, WIDTH, WIDTH)", DROPPED),
        ("range(0, cuda.gridDim.x * WIDTH, WIDTH)", DROPPED),
        ("range(WIDTH, K, WIDTH)", FIRST),
        ("range(0, K, WIDTH + 1)", GAPS),
        ("range(0, K, WIDTH - 1)", (("repeated-k-tail", ("k_loop",)),)),
        ("range(0, K, 2 * WIDTH)", GAPS),
        ("range(0, K, 1)", (("repeated-k-tail", ("k_loop",)),)),
    ),
    "start < K": (
        ("start < K - TILE + 1", DROPPED),
        ("start + TILE <= K", DROPPED),
        ("start < K - 1", DROPPED),
        ("start <= K", HARMLESS),
        ("start < K + TILE", HARMLESS),
        ("start < M", DROPPED),
        ("start < N", DROPPED),
        ("start < TILE", DROPPED),
        ("start < cuda.gridDim.y * TILE", DROPPED),
        ("start > K", GAPS),
        ("start < 2 * TILE", DROPPED),
    ),
}


def tiles(style: Style) -> Iterator[Change]:
    width = WIDTH.get(style.name, "TILE")
    line = style.text.lines[style.text.line("k_loop") - 1]
    for known, others in _TILES.items():
        old = known.replace("WIDTH", width)
        for new, labels in others if old in line else ():
            code = new.replace("WIDTH", width)
            text = style.text.swap("k_loop", old, code)
            assert text is not None
            yield Change(code, text, _for_two_buffers(style, labels))


def _for_two_buffers(style: Style, labels: tuple[Place, ...]) -> tuple[Place, ...]:
    """The second buffer's first tile is never loaded where the loop starts late."""
    if style.name == "double_buffer" and labels == FIRST:
        return (*labels, ("uninitialised-shared-read", ("dot",)))
    return labels


def products(style: Style) -> Iterator[Change]:
    """The loop over one tile's products."""
    width, line = WIDTH.get(style.name, "TILE"), style.text.lines[style.text.line("dot_loop") - 1]
    # Products are missing from every tile, not only the last: that is no dropped tail.
    gaps: tuple[Place, ...] = (("wrong-result", ("dot_loop",)),)
    long: tuple[Place, ...] = (("out-of-bounds-read", ("dot",)),)
    ranges = {
        f"range({width} - 1)": gaps,
        f"range({width} // 2)": gaps,
        f"range(1, {width})": gaps,
        f"range(0, {width}, 2)": gaps,
        f"range({width} + 1)": long,
        f"range(2 * {width})": long,
        f"range({width} - 1, 0, -1)": gaps,
        f"range({width} - 1, -1, -1)": HARMLESS,
    }
    tests = {f"k < {width} - 1": gaps, f"k <= {width}": long, f"2 * k < {width}": gaps, "k < K": long}
    loop = f"range({width})"
    for code, labels in (ranges if loop in line else tests).items():
        text = style.text.swap("dot_loop", loop if loop in line else f"k < {width}", code)
        assert text is not None
        yield Change(code, text, labels)
    if style.text.has("k_start"):
        late = style.text.swap("k_start", "k = 0", "k = 1")
        assert late is not None
        yield Change("k = 1", late, (("wrong-result", ("k_start", "dot_loop")),))


def steps(style: Style) -> Iterator[Change]:
    """A while loop's step."""
    if not style.text.has("step"):
        return
    cases: dict[str, tuple[Place, ...]] = {
        "start += TILE + 1": (("wrong-result", ("step", "k_loop")),),
        "start += TILE - 1": (("repeated-k-tail", ("step", "k_loop")),),
        "start += 2 * TILE": (("wrong-result", ("step", "k_loop")),),
        "pass": (("did-not-finish", ("k_loop",)),),
    }
    for code, labels in cases.items():
        text = style.text.swap("step", "start += TILE", code)
        assert text is not None
        yield Change(code, text, labels)


def offsets(style: Style) -> Iterator[Change]:
    """Where a thread's row, column and share of a tile begin."""
    unwritten: tuple[Place, ...] = (("unwritten-output", ("row", "col", "store")),)
    for role, axis, other in (("row", "y", "x"), ("col", "x", "y")):
        block = f"cuda.blockIdx.{axis}"
        others = (
            f"cuda.blockIdx.{other} * TILE",
            "0",
            f"{block} * (TILE - 1)",
            f"{block} * (TILE + 1)",
            block,
            f"({block} + 1) * TILE",
            f"(cuda.gridDim.{axis} - {block}) * TILE",
        )
        for new in others if style.text.has(role) else ():
            text = style.text.swap(role, f"{block} * TILE", new)
            assert text is not None
            yield Change(f"{role} {new}", text, unwritten)
    yield from _k_offsets(style)


def _k_offsets(style: Style) -> Iterator[Change]:
    for role, load in (("a_col", "load_a"), ("b_row", "load_b")):
        code = code_of(style.text.lines[style.text.line(role) - 1])
        name, _, value = code.partition(" = ")
        own = value.split(" + ")[-1]
        base = value.removesuffix(f" + {own}")
        wrong: tuple[Place, ...] = (("wrong-result", (role, load)),)
        cases = {own: wrong, base: wrong, f"{value} + 1": wrong, f"{value} + TILE": wrong}
        lower = load if style.text.has(load) else "load_a"
        cases[f"{value} - 1"] = (("negative-index", (lower,)),)
        if style.name == "double_buffer":
            # The first tile is loaded elsewhere, so no index is negative.
            cases[f"{value} - 1"] = wrong
        for new, labels in cases.items():
            text = style.text.swap(role, f"= {value}", f"= {new}")
            assert text is not None
            yield Change(f"{name} = {new}", text, labels)


def transpose(style: Style) -> Iterator[Change]:
    """Rows from x and columns from y, of the grid, of the block, of both."""
    if not style.text.has("row", "col"):
        text = style.text.swap("grid", "col, row", "row, col")
        assert text is not None
        yield Change(
            "cuda.grid", text, (("unwritten-output", ("store", "grid")), ("wrong-result", ("grid",)))
        )
        return
    both = (style.text.swap("row", "blockIdx.y", "blockIdx.x") or style.text).swap(
        "col", "blockIdx.x", "blockIdx.y"
    )
    assert both is not None
    yield Change("grid", both, (("unwritten-output", ("store", "row", "col")),))
    if style.name == "register_block":
        return
    threads = (style.text.swap("row", "+ ty", "+ tx") or style.text).swap("col", "+ tx", "+ ty")
    assert threads is not None
    yield Change("block", threads, (("wrong-result", ("row", "col")),))
    row = style.text.swap("row", "+ ty", "+ tx")
    column = style.text.swap("col", "+ tx", "+ ty")
    for what, text in (("row from x", row), ("column from y", column)):
        assert text is not None
        conflict: tuple[Place, ...] = (
            ("global-write-conflict", ("store", "row", "col")),
            ("unwritten-output", ("store", "row", "col")),
        )
        yield Change(what, text, conflict)


def launch(style: Style) -> Iterator[Change]:
    """The student's own grid and block."""
    if not style.text.has("launch"):
        return
    small: tuple[Place, ...] = (
        ("grid-too-small", ("launch",)),
        ("bad-launch-config", ("launch", "launch_return")),
    )
    full_x, full_y = "(N + TILE - 1) // TILE", "(M + TILE - 1) // TILE"
    cases: dict[str, tuple[Place, ...]] = {}
    for x, y in (
        ("N // TILE", full_y),
        (full_x, "M // TILE"),
        ("(N - 1) // TILE", full_y),
        (full_x, "(M - 1) // TILE"),
        ("(N + TILE - 2) // TILE", full_y),
        (full_x, "(M + TILE - 2) // TILE"),
        (full_y, full_x),
        (full_x, full_x),
        (full_y, full_y),
        ("1", full_y),
        (full_x, "1"),
        ("N // (TILE + 1) + 1", full_y),
    ):
        cases[f"({x}, {y})"] = small
    cases[f"({full_x} + 1, {full_y})"] = HARMLESS
    cases[f"(N // TILE + 1, {full_y})"] = HARMLESS
    cases[f"({full_x},)"] = small
    cases["(N / TILE, M / TILE)"] = (("bad-launch-config", ("launch", "launch_return")),)
    number = style.text.line("launch")
    base = style.text.set(number + 1, mark(style.text.lines[number], "launch_return"))
    for code, labels in cases.items():
        text = base.swap("launch", f"({full_x}, {full_y})", code)
        assert text is not None
        yield Change(code, text, labels)
    block = base.swap("block", "(TILE, TILE)", "(2 * TILE, 2 * TILE)")
    assert block is not None
    # 32 x 32 threads with tiles of 16 x 16: the upper ones have no slot, which is the block's doing alone.
    yield Change("block of four tiles", block, (("bad-launch-config", ("block",)),))


def register_shares(style: Style) -> Iterator[Change]:
    """The part of a tile that each thread loads where it loads four elements."""
    if style.name != "register_block":
        return
    text: Text = style.text
    for number, line in enumerate(text.lines, 1):
        if code_of(line) in ("r = ty + i * HALF", "c = tx + j * HALF"):
            code = code_of(line)
            one = text.set(number, line.replace("HALF", "TILE"))
            yield Change(
                f"{code[0]} by TILE",
                one,
                (("out-of-bounds-write", ("load_a", "load_b", "zero_a", "zero_b")),),
            )
            none = text.set(number, line.replace(f" + {code[-8]} * HALF", ""))
            yield Change(f"{code[0]} once", none, (("uninitialised-shared-read", ("dot",)),))
