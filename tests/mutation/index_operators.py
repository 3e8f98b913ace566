"""Operators on subscripts: exchange a pair, shift an index by one, repeat one, set one to zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.mutation.mutant import Change
from tests.mutation.styles import Place, Style

#: (role of the line, array, what stands there): store to a tile, load of an input, read of a tile, output.
SITES = (
    ("load_a", "As", "fill"),
    ("load_a", "A", "input"),
    ("load_b", "Bs", "fill"),
    ("load_b", "B", "input"),
    ("dot", "As", "read"),
    ("dot", "Bs", "read"),
    ("store", "C", "output"),
)
_ZERO = {"load_a": "zero_a", "load_b": "zero_b"}
_UNFILLED: tuple[Place, ...] = (("uninitialised-shared-read", ("dot",)), ("stale-shared-read", ("dot",)))


def _sites(style: Style) -> Iterator[tuple[str, str, str, ast.Subscript]]:
    for role, array, kind in SITES:
        for node in style.text.subscripts(role, array)[:1] if style.text.has(role) else ():
            yield role, array, kind, node


def _pair(node: ast.Subscript) -> list[ast.expr]:
    """The two indices within the matrix or tile; a buffer's number in front of them is no part."""
    return node.slice.elts[-2:] if isinstance(node.slice, ast.Tuple) else []


def exchange(style: Style) -> Iterator[Change]:
    for role, array, kind, node in _sites(style):
        pair = _pair(node)
        if not pair:
            continue
        first, second = (style.text.code(one) for one in pair)
        text = style.text.put(pair[1], first).put(pair[0], second)
        yield Change(f"{array} in {role}", text, _exchanged(role, kind))
    for role in ("zero_a", "zero_b"):
        if style.text.has(role) and (made := _zero_exchanged(style, role)) is not None:
            yield made


def _exchanged(role: str, kind: str) -> tuple[Place, ...]:
    wrong: Place = ("transposed-result", (role,))
    if kind == "fill":
        # Its zeros still go to the old slots: two threads then share one, wherever a guard is false.
        return wrong, ("shared-write-conflict", (role, _ZERO[role])), *_UNFILLED
    if kind == "input":
        return wrong, ("out-of-bounds-read", (role,))
    if kind == "output":
        return wrong, ("out-of-bounds-write", (role,))
    return (wrong,)


def _zero_exchanged(style: Style, role: str) -> Change | None:
    node = next(iter(style.text.subscripts(role, "As") + style.text.subscripts(role, "Bs")), None)
    if node is None or not _pair(node) or style.name == "conditional_loads":
        return None
    first, second = (style.text.code(one) for one in _pair(node))
    text = style.text.put(_pair(node)[1], first).put(_pair(node)[0], second)
    load = role.replace("zero", "load")
    labels: tuple[Place, ...] = (("transposed-result", (role,)), ("shared-write-conflict", (load, role)))
    return Change(role, text, (*labels, *_UNFILLED))


def shift(style: Style) -> Iterator[Change]:
    """Each index one up and one down."""
    for role, array, kind, node in _sites(style):
        for axis, one in enumerate(_pair(node)):
            code = style.text.code(one)
            up = {"fill": "out-of-bounds-write", "output": "out-of-bounds-write"}.get(
                kind, "out-of-bounds-read"
            )
            labels: tuple[Place, ...] = ((up, (role,)),)
            if kind == "fill":
                labels = (*labels, ("shared-write-conflict", (role, _ZERO[role])))
            if kind == "output":
                labels = (*labels, ("unwritten-output", (role,)))
            yield Change(f"{array} in {role} axis {axis} + 1", style.text.put(one, f"{code} + 1"), labels)
            down: tuple[Place, ...] = (("negative-index", (role,)),)
            if kind == "fill":
                down = (*down, ("shared-write-conflict", (role, _ZERO[role])))
            yield Change(f"{array} in {role} axis {axis} - 1", style.text.put(one, f"{code} - 1"), down)


def repeat(style: Style) -> Iterator[Change]:
    """One index in both places."""
    for role, array, kind, node in _sites(style):
        pair = _pair(node)
        for axis, one in enumerate(pair):
            text = style.text.put(one, style.text.code(pair[1 - axis]))
            yield Change(f"{array} in {role} axis {axis} repeated", text, _repeated(role, kind))


def _repeated(role: str, kind: str) -> tuple[Place, ...]:
    if kind == "fill":
        return ("shared-write-conflict", (role, _ZERO[role])), *_UNFILLED
    if kind == "input":
        return ("out-of-bounds-read", (role,)), ("wrong-result", (role,))
    if kind == "output":
        return ("global-write-conflict", (role,)), ("out-of-bounds-write", (role,))
    return (("wrong-result", (role,)),)


def zero(style: Style) -> Iterator[Change]:
    """An index that is always the first."""
    for role, array, kind, node in _sites(style):
        for axis, one in enumerate(_pair(node)):
            labels: tuple[Place, ...] = (("wrong-result", (role,)),)
            if kind == "fill":
                labels = (("shared-write-conflict", (role, _ZERO[role])), *_UNFILLED)
            if kind == "output":
                labels = (("global-write-conflict", (role,)),)
            yield Change(f"{array} in {role} axis {axis} zero", style.text.put(one, "0"), labels)


def flat(style: Style) -> Iterator[Change]:
    """Flat storage: the two parts exchanged, and a stride one off."""
    for role, array, kind, node in _sites(style):
        if isinstance(node.slice, ast.Tuple):
            continue
        code = style.text.code(node.slice)
        high, low = code.split(" * TILE + ")
        text = style.text.put(node.slice, f"{low} * TILE + {high}")
        yield Change(f"{array} in {role} exchanged", text, _exchanged(role, kind))
        for stride, sign in (("(TILE - 1)", -1), ("(TILE + 1)", 1), ("HALF", -2)):
            body = style.text.put(node.slice, f"{high} * {stride} + {low}")
            if stride == "HALF":
                body = body.insert(body.lines.index("TILE = 16") + 2, "HALF = TILE // 2")
            yield Change(f"{array} in {role} stride {stride}", body, _strided(role, kind, sign))
        text = style.text.put(node.slice, f"{code} + 1")
        name = "out-of-bounds-write" if kind == "fill" else "out-of-bounds-read"
        yield Change(f"{array} in {role} + 1", text, ((name, (role,)),))
        text = style.text.put(node.slice, f"{high} * TILE")
        yield Change(f"{array} in {role} without {low}", text, _repeated(role, kind))


def _strided(role: str, kind: str, sign: int) -> tuple[Place, ...]:
    if kind == "fill":
        if sign > 0:
            return ("out-of-bounds-write", (role,)), ("shared-write-conflict", (role, _ZERO[role]))
        return ("shared-write-conflict", (role, _ZERO[role])), *_UNFILLED
    return (("out-of-bounds-read", (role,)),) if sign > 0 else (("wrong-result", (role,)),)
