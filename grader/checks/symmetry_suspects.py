"""Suspects where the two halves of a product are no mirror images of each other.

Compared are the loads of the two operands, the stores to the two tiles and the reads of them, the tiles'
shapes, and what advances their indices. Of two places that differ, either may be at fault.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from grader.checks.access_pairs import Access, Parents, access_of, guards_of, paired
from grader.checks.definitions import definitions, parsed
from grader.checks.launching import Launcher
from grader.checks.places import base_name, is_index, parents_of
from grader.checks.rewrite import Edit
from grader.checks.spots import Spot, spot
from grader.checks.symmetry import Symmetry, symmetry_of
from grader.records import Span

__all__ = ["symmetry_suspects"]


def symmetry_suspects(launcher: Launcher, functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """Each place that is no mirror image of its counterpart, made one; the operands' loads first."""
    symmetry = symmetry_of(launcher, functions)
    defined = _defined(functions)
    parents: dict[ast.AST, ast.AST] = {}
    for function in functions:
        parents |= parents_of(function)
    for left, right in symmetry.tiles:
        yield from _unequal_depths(functions, left, right)
    for store, arrays in ((False, symmetry.operands), (False, symmetry.tiles), (True, symmetry.tiles)):
        for left, right in arrays:
            pairs = paired(functions, left, right, store)
            for first, second in pairs:
                yield from _unlike(first, second, symmetry, defined, parents)
    for left, right in symmetry.tiles:
        yield from _single_factor(functions, left, right, symmetry)
        yield from _shapes(functions, left, right)
    yield from _not_advanced(functions, symmetry)


def _defined(functions: list[ast.FunctionDef]) -> dict[str, ast.expr]:
    """The names that stand for one index, with that."""
    found: dict[str, list[ast.expr]] = {}
    for one in (one for function in functions for one in definitions(function)):
        found.setdefault(one.name, []).append(one.value)
    return {
        name: values[0]
        for name, values in found.items()
        if len(values) == 1 and is_index(values[0]) and not isinstance(values[0], ast.Attribute)
    }


def _unlike(
    first: Access, second: Access, symmetry: Symmetry, defined: Mapping[str, ast.expr], parents: Parents
) -> Iterator[Spot]:
    """The one index in which two accesses are unlike, made like in either of them."""
    for one, other in zip(first.lead, second.lead, strict=False):
        if ast.unparse(one) != ast.unparse(other):
            yield spot("index", other, ast.unparse(one))
            yield spot("index", one, ast.unparse(other))
    ours = [_resolved(one, defined) for one in first.pair]
    theirs = [_resolved(one, defined) for one in second.pair]
    # Reversed, as in a product; or not, where one of the tiles is stored transposed.
    for places in ((1, 0), (0, 1)):
        odd = [(ours[at], theirs[place]) for at, place in enumerate(places)]
        odd = [(one, other) for one, other in odd if not _alike(one, other, symmetry)]
        if not odd:
            return
        if len(odd) == 1:
            (one, other) = odd[0]
            at = next(at for at, index in enumerate(ours) if index is one)
            place = places[at]
            yield _made(
                one, _text(other, second.pair[place], one is first.pair[at], symmetry), first, parents
            )
            yield _made(
                other, _text(one, first.pair[at], other is second.pair[place], symmetry), second, parents
            )
            return


def _text(meant: ast.expr, written: ast.expr, in_place: bool, symmetry: Symmetry) -> str:
    """The mirror image of an index: of its name, where that has a counterpart and an index is replaced."""
    named = in_place and isinstance(written, ast.Name) and written.id in symmetry.names
    return symmetry.of(written if named else meant)


def _resolved(index: ast.expr, defined: Mapping[str, ast.expr]) -> ast.expr:
    """The index itself, or what the one name that it is stands for: a fault is in the definition."""
    seen: set[str] = set()
    while isinstance(index, ast.Name) and index.id in defined and index.id not in seen:
        seen.add(index.id)
        index = defined[index.id]
    return index


def _alike(one: ast.expr, other: ast.expr, symmetry: Symmetry) -> bool:
    """Whether one mirrors the other; names that have no counterpart are taken for each other's."""
    if ast.unparse(one) == symmetry.of(other):
        return True
    names = [node.id for node in (one, other) if isinstance(node, ast.Name)]
    return len(names) == 2 and not any(name in symmetry.names for name in names)


def _made(old: ast.expr, code: str, access: Access, parents: Parents) -> Spot:
    """The index replaced, and with it the same index where the access's guards test it."""
    inside = any(old is node for node in ast.walk(access.node))
    if not inside:
        return spot("mirrored", old, code)
    text = ast.unparse(old)
    tests = [
        node
        for test in guards_of(access.node, parents)
        for node in ast.walk(test)
        if isinstance(node, ast.Compare)
    ]
    tested = [node for test in tests for node in (test.left, *test.comparators)]
    same = [node for node in tested if ast.unparse(node) == text]

    def apply(edit: Edit) -> bool:
        twins = [edit.twin(node) for node in (old, *same)]
        news = [parsed(code) for _ in twins]
        return all(
            twin is not None and new is not None and edit.replace(twin, new)
            for twin, new in zip(twins, news, strict=True)
        )

    return Spot("index", old, code, apply)


def _unequal_depths(functions: list[ast.FunctionDef], left: str, right: str) -> Iterator[Spot]:
    """The k of two factors where it is not the same: each made the other's."""
    for node in (node for function in functions for node in ast.walk(function)):
        if not isinstance(node, ast.AugAssign):
            continue
        reads = [one for one in ast.walk(node.value) if isinstance(one, ast.Subscript)]
        pairs = [[access_of(one) for one in reads if base_name(one) == name] for name in (left, right)]
        match pairs:
            case [[Access() as first], [Access() as second]]:
                if {ast.unparse(one) for one in first.pair}.isdisjoint(map(ast.unparse, second.pair)):
                    yield spot("index", second.pair[0], ast.unparse(first.pair[1]))
                    yield spot("index", first.pair[1], ast.unparse(second.pair[0]))


def _single_factor(
    functions: list[ast.FunctionDef], left: str, right: str, symmetry: Symmetry
) -> Iterator[Spot]:
    """A sum of one tile's elements alone, or of their squares, as that of products with the other's."""
    for node in (node for function in functions for node in ast.walk(function)):
        if not isinstance(node, ast.AugAssign):
            continue
        reads = [one for one in ast.walk(node.value) if isinstance(one, ast.Subscript)]
        bases = {base_name(one) for one in reads}
        if len(bases) != 1 or not bases <= {left, right}:
            continue
        for read in {ast.unparse(one): one for one in reads}.values():
            access = access_of(read)
            if access is not None:
                own, other = ast.unparse(read), _mirror_of(read, access, symmetry)
                product = f"{own} * {other}" if bases == {left} else f"{other} * {own}"
                yield spot("sum", node, f"{ast.unparse(node.target)} += {product}")


def _mirror_of(read: ast.Subscript, access: Access, symmetry: Symmetry) -> str:
    """The access of the other array that mirrors this one, its indices reversed."""
    swapped = parsed(ast.unparse(read))
    again = access_of(swapped) if isinstance(swapped, ast.Subscript) else None
    if swapped is None or again is None:
        return ""
    first, second = (symmetry.of(one) for one in access.pair)
    text = symmetry.of(read.value)
    match read.slice:
        case ast.Tuple():
            lead = [ast.unparse(one) for one in access.lead]
            return f"{text}[{', '.join((*lead, second, first))}]"
        case ast.BinOp(left=ast.BinOp(right=width)):
            return f"{text}[{second} * {ast.unparse(width)} + {first}]"
    return f"{symmetry.names.get(base_name(read) or '', '')}[{second}][{first}]"


def _shapes(functions: list[ast.FunctionDef], left: str, right: str) -> Iterator[Spot]:
    """The shape of a tile as that of the other reversed."""
    shapes: dict[str, ast.Tuple] = {}
    for one in (one for function in functions for one in definitions(function)):
        match one.value:
            case ast.Call(func=ast.Attribute(attr="array"), args=[ast.Tuple() as shape, *_]):
                shapes[one.name] = shape
    if left not in shapes or right not in shapes:
        return
    for own, other in ((shapes[left], shapes[right]), (shapes[right], shapes[left])):
        texts = [ast.unparse(part) for part in other.elts]
        code = f"({', '.join((*texts[:-2], *texts[:-3:-1]))})"
        if ast.unparse(own) not in (code, ast.unparse(other)) and len(texts) > 1:
            yield spot("shape", own, code)


def _not_advanced(functions: list[ast.FunctionDef], symmetry: Symmetry) -> Iterator[Spot]:
    """``b_row += TILE`` where nothing moves ``a_col`` on: both moved on there."""
    moved = [node for one in functions for node in ast.walk(one) if isinstance(node, ast.AugAssign)]
    names = {ast.unparse(node.target) for node in moved}
    for node in moved:
        name = ast.unparse(node.target)
        other = symmetry.names.get(name)
        if other is None or other in names or not isinstance(node.target, ast.Name):
            continue
        sign = "+" if isinstance(node.op, ast.Add) else "-"
        if isinstance(node.op, ast.Add | ast.Sub):
            first, added = ast.unparse(node), ast.unparse(node.value)
            code = f"{first}; {other} {sign}= {added}"
            yield spot("step", node, code, _beside(f"{other} {sign}= {added}"))


def _beside(code: str) -> Callable[[Edit, Span], bool]:
    return lambda edit, span: edit.insert_after(span, code)
