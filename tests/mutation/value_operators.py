"""Operators on values: types, the accumulator, what is added and what is stored."""

from __future__ import annotations

from collections.abc import Iterator

from tests.mutation.mutant import Change
from tests.mutation.styles import Place, Style
from tests.mutation.text import Text, code_of, mark

HARMLESS: tuple[Place, ...] = ()


def shared_type(style: Style) -> Iterator[Change]:
    for role, matrix in (("shared_a", "a"), ("shared_b", "b")):
        loaded = "a" if style.text.has("call_a") else matrix
        fills = (f"load_{loaded}", f"zero_{loaded}", f"first_{loaded}")
        lines = tuple(one for one in (*fills, role) if style.text.has(one))
        lost: tuple[Place, ...] = (("precision-loss", lines),)
        for dtype, labels in (("float64", HARMLESS), ("int32", lost), ("float16", lost)):
            text = style.text.swap(role, "float32", dtype)
            assert text is not None
            number = text.lines.index("from numba import cuda, float32") + 1 if _imports(text) else None
            if number is not None:
                text = text.set(number, f"from numba import cuda, float32, {dtype}")
            else:
                found = next(n for n, line in enumerate(text.lines, 1) if "from numba import config" in line)
                text = text.set(found, f"{text.lines[found - 1]}, {dtype}")
            yield Change(f"{role} {dtype}", text, labels)


def _imports(text: Text) -> bool:
    return "from numba import cuda, float32" in text.lines


def shared_shape(style: Style) -> Iterator[Change]:
    """Shapes that the compiler refuses, and one that it takes but that is too small, or larger."""
    width = "width" if style.name == "factory" else "TILE"
    for role, load in (("shared_a", "load_a"), ("shared_b", "load_b")):
        if style.name in ("flat_storage", "double_buffer", "factory"):
            continue
        old = f"({width}, {width})"
        refused: tuple[Place, ...] = (("non-constant-shared-shape", (role,)),)
        zero = load.replace("load", "zero")
        small: tuple[Place, ...] = (
            ("out-of-bounds-write", ("load_a", "zero_a") if style.text.has("call_a") else (load, zero)),
        )
        for new, labels in (
            ("(TILE, TILE + 1)", refused),
            ("(TILE, cuda.blockDim.x)", refused),
            ("(QUARTER, TILE)", small),
            ("(TILE, QUARTER)", small),
            ("(TILE, PITCH)", HARMLESS),
        ):
            text = style.text.swap(role, old, new)
            assert text is not None
            number = text.lines.index("TILE = 16") + 1
            text = text.insert(number + 1, "QUARTER = TILE // 4", "PITCH = TILE + 1")
            yield Change(f"{role} {new}", text, labels)


def start_value(style: Style) -> Iterator[Change]:
    """What the accumulator holds before the first product."""
    line = style.text.lines[style.text.line("init") - 1]
    wrong: tuple[Place, ...] = (("wrong-result", ("init",)),)
    cases = {"0.0": HARMLESS, "0": HARMLESS, "float32(1.0)": wrong, "float32(tx)": wrong}
    for value, labels in cases.items():
        text = style.text.swap("init", "float32(0.0)", value)
        assert text is not None, line
        yield Change(value, text, labels)
    if style.name == "register_block":
        text = style.text.swap("init", "acc[i, j] = float32(0.0)", "pass")
        assert text is not None
        yield Change("none", text, (("uninitialised-local-read", ("dot",)),))
    else:
        where = ("call_dot",) if style.text.has("call_dot") else ("dot",)
        none: tuple[Place, ...] = (("undefined-variable", where), ("type-error", where))
        yield Change("none", style.text.drop(style.text.line("init")), none)
        yield _reset(style)


def _reset(style: Style) -> Change:
    number = style.text.line("init")
    code = code_of(style.text.lines[number - 1])
    text = style.text.drop(number)
    first = text.line("k_loop") + 1
    text = text.insert(first, mark(text.indent(text.line("k_loop")) + "    " + code, "init"))
    return Change("every tile", text, (("wrong-result", ("init", "k_loop")),))


def sum_(style: Style) -> Iterator[Change]:
    """What is done with each product."""
    wrong: tuple[Place, ...] = (("wrong-result", ("dot",)),)
    twice: tuple[Place, ...] = (("repeated-k-tail", ("dot", "dot_loop")),)
    for old, new, labels in ((" += ", " -= ", wrong), (" += ", " = ", wrong), (" += ", " += 2 * ", twice)):
        text = style.text.swap("dot", old, new)
        assert text is not None
        yield Change(new.strip(), text, labels)
    number = style.text.line("dot")
    line = style.text.lines[number - 1]
    head, _, product = code_of(line).partition(" += ")
    left, _, right = _factors(product)
    pad = style.text.indent(number)
    for what, new, labels in (
        ("sum of the factors", f"{left} + {right}", wrong),
        ("left factor twice", f"{left} * {left}", wrong),
        ("difference", f"{left} * {right} - {left}", wrong),
        ("whole numbers", f"int({left} * {right})", (("precision-loss", ("dot",)),)),
        ("in float64", f"float({left}) * {right}", HARMLESS),
    ):
        yield Change(what, style.text.set(number, mark(f"{pad}{head} += {new}", "dot")), labels)
    yield Change("twice", style.text.insert(number, line), twice)


def _factors(product: str) -> tuple[str, str, str]:
    place = product.index("] * ") + 1
    return product[:place], " * ", product[place + 3 :]


def store(style: Style) -> Iterator[Change]:
    number = style.text.line("store")
    line = style.text.lines[number - 1]
    target, _, value = code_of(line).partition(" = ")
    pad = style.text.indent(number)
    wrong: tuple[Place, ...] = (("wrong-result", ("store",)),)
    for what, code, labels in (
        ("added", f"{target} += {value}", (("accumulated-into-output", ("store",)),)),
        ("negated", f"{target} = -{value}", wrong),
        ("whole", f"{target} = int({value})", (("precision-loss", ("store",)),)),
        ("old value", f"{target} = {target} + {value}", (("accumulated-into-output", ("store",)),)),
        (
            "doubled",
            f"{target} = {value} + {value}",
            (("repeated-k-tail", ("store",)), ("wrong-result", ("store",))),
        ),
        ("none", "pass", (("unwritten-output", ("store", "guard_c", "def")),)),
        ("twice", None, HARMLESS),
    ):
        text = (
            style.text.insert(number, line)
            if code is None
            else style.text.set(number, mark(pad + code, "store"))
        )
        yield Change(what, text, labels)
    if style.name != "register_block":
        yield from _stored_in_loop(style)


def _stored_in_loop(style: Style) -> Iterator[Change]:
    """The store at the end of every round: the last one wins, so nothing is wrong, but with ``+=``."""
    start = style.text.line("guard_c")
    end = style.text.last_of(start)
    moved = ["    " + line for line in style.text.lines[start - 1 : end]]
    yield Change("every tile", style.text.drop(start).drop(start).insert(start, *moved), HARMLESS)
    added = [line.replace(" = ", " += ") for line in moved]
    text = style.text.drop(start).drop(start).insert(start, *added)
    yield Change("added every tile", text, (("accumulated-into-output", ("store",)),))
