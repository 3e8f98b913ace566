"""Subscripts: elements, slices, items of tuples."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import access, arithmetic, expressions, types
from grader.simt.arguments import mapped, parts_of
from grader.simt.context import Context, Run, Typed
from grader.simt.evidence import Site
from grader.simt.local import LocalArray
from grader.simt.slices import Cut
from grader.simt.types import INT64, Array, Scalar, Tuple


def subscript(context: Context, node: ast.Subscript) -> Typed:
    """An element of an array or tuple, or an array that a slice or a partial index leaves."""
    node = fused(context, node)
    owner = expressions.expression(context, node.value)
    if isinstance(owner.kind, Tuple):
        return _of_tuple(context, node, owner, owner.kind)
    if isinstance(owner.kind, Array) and owner.kind.ndim == 0:
        context.fail(node, "index-rank", got=1, wanted=0, name=ast.unparse(node.value))
    if not isinstance(owner.kind, Array):
        context.fail(node, "not-indexable", got=owner.kind.name)
    target = array_target(context, node, owner)
    if target.whole is not None:
        return target.whole
    return Typed(Scalar(target.code), target.load())


def fused(context: Context, node: ast.Subscript) -> ast.Subscript:
    """``tile[i][j]`` of an array as ``tile[i, j]``, where no index is a slice.

    The element is the same, and each index is checked against its own dimension.
    """
    parts: list[ast.expr] = []
    step: ast.expr = node
    while isinstance(step, ast.Subscript):
        items = step.slice.elts if isinstance(step.slice, ast.Tuple) else [step.slice]
        if not items or any(isinstance(item, ast.Slice) for item in items):
            return node
        parts = [*items, *parts]
        step = step.value
    if step is node.value or not isinstance(step, ast.Name):
        return node
    if not isinstance(expressions.expression(context, step).kind, Array):
        return node
    index = ast.copy_location(ast.Tuple(parts, ast.Load()), node.slice)
    return ast.copy_location(ast.Subscript(step, index, node.ctx), node)


class Target:
    """A compiled subscript of an array: the array, the indices, the site."""

    def __init__(self, array: Typed, dims: list[Run], site: Site, code: str) -> None:
        self.array = array
        self.dims = dims
        self.site = site
        self.code = code
        self.whole: Typed | None = None
        self.cut: Cut | None = None
        self.ident = array.kind.ident if isinstance(array.kind, Array) else -1
        self.space = array.kind.space if isinstance(array.kind, Array) else ""

    def load(self) -> Run:
        """The closure that reads the element."""
        run, dims, site = self.array.run, self.dims, self.site
        if self.space == "local":
            return lambda fr, m: _load_local(fr, m, run(fr, m), [dim(fr, m) for dim in dims], site)
        if len(dims) == 2:
            one, two = dims
            return lambda fr, m: access.load(fr.mc, m, run(fr, m), [one(fr, m), two(fr, m)], site)
        return lambda fr, m: access.load(fr.mc, m, run(fr, m), [dim(fr, m) for dim in dims], site)

    def store(self, value: Run) -> Run:
        """The closure that writes ``value`` to the element."""
        run, dims, site = self.array.run, self.dims, self.site
        if self.space == "local":
            return lambda fr, m: _store_local(fr, m, run(fr, m), [d(fr, m) for d in dims], value(fr, m), site)

        def execute(fr: Any, m: Any) -> None:
            data = value(fr, m)
            access.store(fr.mc, m, run(fr, m), [dim(fr, m) for dim in dims], data, site)

        return execute


def _load_local(fr: Any, m: Any, array: Any, dims: list[Any], site: Site) -> Any:
    if isinstance(array, LocalArray):
        return array.load(fr.mc, m, dims, site)
    return access.load(fr.mc, m, array, dims, site)


def _store_local(fr: Any, m: Any, array: Any, dims: list[Any], value: Any, site: Site) -> None:
    if isinstance(array, LocalArray):
        array.store(fr.mc, m, dims, value, site)
    else:
        access.store(fr.mc, m, array, dims, value, site)


def array_target(context: Context, node: ast.Subscript, owner: Typed, truncate: bool = False) -> Target:
    """Compile the indices of an array's subscript. ``truncate`` takes floats too, as atomics do."""
    kind = owner.kind
    assert isinstance(kind, Array)
    parts = _index_parts(context, node.slice, truncate)
    count = len(parts)
    if count > kind.ndim:
        context.fail(node, "index-rank", got=count, wanted=kind.ndim, name=ast.unparse(node.value))
    name = context.alias(_root_name(node.value))
    site = context.site(node, name, kind.space, np.dtype(kind.code).itemsize)
    site.literal_dims = tuple(dim for dim, part in enumerate(parts) if _is_literal(part))
    runs = [part.run for part in parts if isinstance(part, Typed)]
    target = Target(owner, runs, site, kind.code)
    if count < kind.ndim or len(runs) < count:
        target.cut = Cut(owner, parts, context.site(node, name, kind.space))
        target.whole = target.cut.view()
    return target


def _is_literal(part: Any) -> bool:
    return isinstance(part, Typed) and isinstance(part.kind, Scalar) and part.kind.literal is not None


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _index_parts(context: Context, node: ast.expr, truncate: bool) -> list[Typed | tuple[Any, Any, Any]]:
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    parts: list[Typed | tuple[Any, Any, Any]] = []
    for item in nodes:
        if isinstance(item, ast.Slice):
            bounds = tuple(_bound(context, part) for part in (item.lower, item.upper, item.step))
            parts.append(bounds)  # type: ignore[arg-type]
            continue
        typed = expressions.expression(context, item)
        if isinstance(typed.kind, Tuple):
            parts += _unpacked(context, item, typed, truncate)
            continue
        parts.append(_checked_index(context, item, typed, truncate))
    return parts


def _unpacked(context: Context, node: ast.expr, typed: Typed, truncate: bool) -> list[Typed]:
    return [_checked_index(context, node, item, truncate) for item in parts_of(typed)]


def whole(context: Context, node: ast.expr) -> Typed:
    """An expression that has to be a whole number."""
    return _checked_index(context, node, expressions.expression(context, node))


def _bound(context: Context, node: ast.expr | None) -> Typed | None:
    """A bound of a slice, which a bool may be where it may be no index; None where there is none."""
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return None
    typed = expressions.expression(context, node)
    if isinstance(typed.kind, Scalar) and typed.kind.is_float:
        context.unsupported(node, "float-in-slice")
    if typed.kind == types.BOOL:
        return Typed(INT64, arithmetic.convert(typed, "q"))
    return _checked_index(context, node, typed)


def _checked_index(context: Context, node: ast.expr, typed: Typed, truncate: bool = False) -> Typed:
    kind = typed.kind
    if kind == types.NONE:
        context.unsupported(node, "newaxis")
    whole_number = isinstance(kind, Scalar) and kind.is_int and (truncate or kind.code != "?")
    if not isinstance(kind, Scalar) or not (whole_number or (truncate and kind.is_float)):
        context.fail(node, "index-type", got=kind.name)
    if kind.code == "?" or kind.is_float:
        return Typed(INT64, arithmetic.convert(typed, "q"))
    return typed


def _of_tuple(context: Context, node: ast.Subscript, owner: Typed, kind: Tuple) -> Typed:
    run, count = owner.run, len(kind.items)
    if isinstance(node.slice, ast.Slice):
        return _slice_of_tuple(context, node, owner, kind)
    index = whole(context, node.slice)
    assert isinstance(index.kind, Scalar)
    if index.kind.literal is not None:
        at = index.kind.literal
        if not -count <= at < count:
            context.fail(node, "tuple-index", got=at, wanted=count)
        return Typed(kind.items[at], lambda fr, m: run(fr, m)[at])
    if not kind.items or any(types.plain(item) != types.plain(kind.items[0]) for item in kind.items):
        context.fail(node, "tuple-index", got="runtime", wanted=count)
    return _of_tuple_at_run_time(context, node, owner, kind, index)


def _slice_of_tuple(context: Context, node: ast.Subscript, owner: Typed, kind: Tuple) -> Typed:
    """``shape[:2]``: bounds that the compiler knows."""
    assert isinstance(node.slice, ast.Slice)
    bounds: list[int | None] = []
    for part in (node.slice.lower, node.slice.upper, node.slice.step):
        found = whole(context, part).kind if part is not None else None
        if found is not None and (not isinstance(found, Scalar) or found.literal is None):
            context.fail(node, "tuple-index", got="runtime", wanted=len(kind.items))
        bounds.append(found.literal if isinstance(found, Scalar) else None)
    picked, run = slice(*bounds), owner.run
    return Typed(Tuple(kind.items[picked]), lambda fr, m: run(fr, m)[picked])


def _of_tuple_at_run_time(
    context: Context, node: ast.Subscript, owner: Typed, kind: Tuple, index: Typed
) -> Typed:
    """An item of a tuple of like items, by an index that may differ between threads."""
    site, run, at_run, count = context.site(node), owner.run, index.run, len(kind.items)
    item = types.plain(kind.items[0])

    def execute(fr: Any, m: Any) -> Any:
        at = at_run(fr, m)
        if type(at) is int and -count <= at < count:
            return run(fr, m)[at]
        if type(at) is int or not isinstance(item, Scalar):
            facts = {"construct": "tuple-index-per-thread"}
            raise access.refuse(Finding("unsupported-construct", "error", primary=site.span, facts=facts))
        return mapped(lambda where, *items: _picked(where, items), [at, *run(fr, m)], item.code)

    return Typed(item, execute)


def _picked(where: Any, items: tuple[Any, ...]) -> Any:
    """The item that each thread's index names; 0 where there is none."""
    count = len(items)
    result: Any = np.zeros_like(np.asarray(items[0]))
    for position, value in enumerate(items):
        result = np.where((where == position) | (where == position - count), value, result)
    return result
