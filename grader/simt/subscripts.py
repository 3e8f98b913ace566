"""Subscripts and attributes: elements, slices, shapes, the builtin index variables."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import access, affine, expressions, types
from grader.simt.affine import Affine
from grader.simt.context import Context, Run, Typed, constant_typed
from grader.simt.evidence import Site
from grader.simt.host import _path_value
from grader.simt.local import LocalArray
from grader.simt.memory import View
from grader.simt.types import INT32, INT64, NAMES, Array, Kind, Scalar, Space, Tuple

DIMS = {"x": 0, "y": 1, "z": 2}
INDEX_PATHS = ("numba.cuda.threadIdx", "numba.cuda.blockIdx", "numba.cuda.blockDim", "numba.cuda.gridDim")


# -- attributes ------------------------------------------------------------------------------------


def attribute(context: Context, node: ast.Attribute) -> Typed:
    """``cuda.threadIdx.x``, ``A.shape``, ``math.pi`` and the like."""
    owner = expressions.expression(context, node.value)
    kind = owner.kind
    if isinstance(kind, Space):
        return _of_path(context, node, kind.path)
    if isinstance(kind, Array):
        return _of_array(context, node, owner, kind)
    if isinstance(kind, Scalar) and node.attr in ("real", "imag"):
        return _of_number(owner, kind, node.attr)
    context.fail(node, "unknown-attribute", name=node.attr, got=kind.name)


def _of_path(context: Context, node: ast.Attribute, path: str) -> Typed:
    full = f"{path}.{node.attr}"
    if path in INDEX_PATHS:
        if node.attr not in DIMS:
            context.fail(node, "unknown-attribute", name=node.attr, got=path)
        return Typed(INT32, index_run(path.rsplit(".", 1)[1], DIMS[node.attr]))
    if full in ("numba.cuda.warpsize", "numba.cuda.laneid"):
        if node.attr == "warpsize":
            return Typed(INT32, lambda fr, m: fr.mc.tally.warp)
        return Typed(INT32, lambda fr, m: lane(fr))
    return constant_typed(context, node, _path_value(full))


def lane(fr: Any) -> Any:
    """A thread's number within its warp."""
    from grader.simt.values import int_remainder

    return int_remainder(fr.mc.chunk.lane_number, fr.mc.tally.warp)


def index_run(name: str, dim: int) -> Run:
    """The closure of one component of an index variable."""
    if name == "threadIdx":
        return lambda fr, m: fr.mc.chunk.index(False, dim)
    if name == "blockIdx":
        return lambda fr, m: fr.mc.chunk.index(True, dim)
    if name == "blockDim":
        return lambda fr, m: fr.mc.geometry.block[dim]
    return lambda fr, m: fr.mc.geometry.grid[dim]


def _of_array(context: Context, node: ast.Attribute, owner: Typed, kind: Array) -> Typed:
    run = owner.run
    match node.attr:
        case "shape":
            return Typed(Tuple((INT64,) * kind.ndim), lambda fr, m: tuple(run(fr, m).shape))
        case "size":
            return Typed(INT64, lambda fr, m: run(fr, m).size)
        case "ndim":
            return constant_typed(context, node, kind.ndim)
        case "itemsize":
            return constant_typed(context, node, np.dtype(kind.code).itemsize)
        case "strides":
            size = np.dtype(kind.code).itemsize
            strides = Tuple((INT64,) * kind.ndim)
            return Typed(strides, lambda fr, m: tuple([s * size for s in run(fr, m).strides]))
        case "dtype":
            return Typed(Space(f"numba.{NAMES[kind.code]}"), lambda fr, m: None)
        case "T":
            return Typed(kind, lambda fr, m: _transposed(run(fr, m)))
    context.fail(node, "unknown-attribute", name=node.attr, got=kind.name)


def _transposed(view: Any) -> Any:
    return View(view.buffer, view.base, view.shape[::-1], view.strides[::-1], view.name, view.code)


def _of_number(owner: Typed, kind: Scalar, attr: str) -> Typed:
    run = owner.run
    if not kind.is_complex:
        return owner
    code = "f" if kind.code == "F" else "d"
    take = np.real if attr == "real" else np.imag
    return Typed(Scalar(code), lambda fr, m: take(run(fr, m)))


# -- subscripts ------------------------------------------------------------------------------------


def subscript(context: Context, node: ast.Subscript) -> Typed:
    """An element of an array or tuple, or an array that a slice or a partial index leaves."""
    node = fused(node)
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


def fused(node: ast.Subscript) -> ast.Subscript:
    """``tile[i][j]`` as ``tile[i, j]``, where no index is a slice.

    The element is the same, and each index is checked against its own dimension.
    """
    parts: list[ast.expr] = []
    step: ast.expr = node
    while isinstance(step, ast.Subscript) and not _is_pick(step):
        items = step.slice.elts if isinstance(step.slice, ast.Tuple) else [step.slice]
        if any(isinstance(item, ast.Slice) for item in items):
            return node
        parts = [*items, *parts]
        step = step.value
    if step is node.value or not isinstance(step, ast.Name):
        return node
    index = ast.copy_location(ast.Tuple(parts, ast.Load()), node.slice)
    return ast.copy_location(ast.Subscript(step, index, node.ctx), node)


def _is_pick(node: ast.Subscript) -> bool:
    """Whether the subscript picks from a shape, which is a tuple and no array."""
    return isinstance(node.value, ast.Attribute)


class Target:
    """A compiled subscript of an array: the array, the indices, the site."""

    def __init__(self, array: Typed, dims: list[Run], site: Site, code: str) -> None:
        self.array = array
        self.dims = dims
        self.site = site
        self.code = code
        self.whole: Typed | None = None
        self.ident = array.kind.ident if isinstance(array.kind, Array) else -1
        self.space = array.kind.space if isinstance(array.kind, Array) else ""

    def load(self) -> Run:
        run, dims, site = self.array.run, self.dims, self.site
        if self.space == "local":
            return lambda fr, m: _load_local(fr, m, run(fr, m), [dim(fr, m) for dim in dims], site)
        if len(dims) == 2:
            one, two = dims
            return lambda fr, m: access.load(fr.mc, m, run(fr, m), [one(fr, m), two(fr, m)], site)
        return lambda fr, m: access.load(fr.mc, m, run(fr, m), [dim(fr, m) for dim in dims], site)

    def store(self, value: Run) -> Run:
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


def array_target(context: Context, node: ast.Subscript, owner: Typed) -> Target:
    """Compile the indices of an array's subscript."""
    kind = owner.kind
    assert isinstance(kind, Array)
    parts = _index_parts(context, node.slice)
    count = len(parts)
    if count > kind.ndim:
        context.fail(node, "index-rank", got=count, wanted=kind.ndim, name=ast.unparse(node.value))
    name = context.alias(_root_name(node.value))
    site = context.site(node, name, kind.space, np.dtype(kind.code).itemsize)
    site.literal_dims = tuple(dim for dim, part in enumerate(parts) if _is_literal(part))
    runs = [part.run for part in parts if isinstance(part, Typed)]
    target = Target(owner, runs, site, kind.code)
    if count < kind.ndim or len(runs) < count:
        target.whole = _sub_array(context, node, owner, kind, parts)
    return target


def _is_literal(part: Any) -> bool:
    return isinstance(part, Typed) and isinstance(part.kind, Scalar) and part.kind.literal is not None


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _index_parts(context: Context, node: ast.expr) -> list[Typed | tuple[Any, Any, Any]]:
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    parts: list[Typed | tuple[Any, Any, Any]] = []
    for item in nodes:
        if isinstance(item, ast.Slice):
            bounds = tuple(part and whole(context, part) for part in (item.lower, item.upper, item.step))
            parts.append(bounds)  # type: ignore[arg-type]
            continue
        typed = expressions.expression(context, item)
        if isinstance(typed.kind, Tuple):
            parts += _unpacked(context, item, typed)
            continue
        parts.append(_checked_index(context, item, typed))
    return parts


def _unpacked(context: Context, node: ast.expr, typed: Typed) -> list[Typed]:
    assert isinstance(typed.kind, Tuple)
    run = typed.run
    items = [
        Typed(kind, lambda fr, m, position=position: run(fr, m)[position])
        for position, kind in enumerate(typed.kind.items)
    ]
    return [_checked_index(context, node, item) for item in items]


def whole(context: Context, node: ast.expr) -> Typed:
    """An expression that has to be a whole number."""
    return _checked_index(context, node, expressions.expression(context, node))


def _checked_index(context: Context, node: ast.expr, typed: Typed) -> Typed:
    if not isinstance(typed.kind, Scalar) or not typed.kind.is_int:
        context.fail(node, "index-type", got=typed.kind.name)
    if typed.kind.code == "?":
        from grader.simt.arithmetic import convert

        return Typed(INT64, convert(typed, "q"))
    return typed


def _of_tuple(context: Context, node: ast.Subscript, owner: Typed, kind: Tuple) -> Typed:
    run, count = owner.run, len(kind.items)
    index = whole(context, node.slice)
    assert isinstance(index.kind, Scalar)
    if index.kind.literal is not None:
        at = index.kind.literal
        if not -count <= at < count:
            context.fail(node, "tuple-index", got=at, wanted=count)
        return Typed(kind.items[at], lambda fr, m: run(fr, m)[at])
    if not kind.items or any(types.plain(item) != types.plain(kind.items[0]) for item in kind.items):
        context.fail(node, "tuple-index", got="runtime", wanted=count)
    site, at_run = context.site(node), index.run

    def execute(fr: Any, m: Any) -> Any:
        at = at_run(fr, m)
        if type(at) is int and -count <= at < count:
            return run(fr, m)[at]
        facts = {"construct": "tuple-index-per-thread"}
        raise access.refuse(Finding("unsupported-construct", "error", primary=site.span, facts=facts))

    return Typed(types.plain(kind.items[0]), execute)


def _sub_array(context: Context, node: ast.Subscript, owner: Typed, kind: Array, parts: list[Any]) -> Typed:
    """A view with fewer dimensions or a narrower range, for slices and partial indices."""
    kept = kind.ndim - sum(isinstance(part, Typed) for part in parts)
    result: Kind = Array(kind.code, kept, kind.space, kind.ident)
    run, site = owner.run, context.site(node, context.alias(_root_name(node.value)), kind.space)

    def execute(fr: Any, m: Any) -> Any:
        view = run(fr, m)
        if isinstance(view, LocalArray):
            view = view.spread(fr.mc)
        base, shape, strides = view.base, [], []
        for dim, stride in enumerate(view.strides):
            part = parts[dim] if dim < len(parts) else (None, None, None)
            if isinstance(part, Typed):
                base = _moved(base, part.run(fr, m), view.shape[dim], stride, site)
            else:
                start, stop, step = _bounds(fr, m, part, view.shape[dim], site)
                base = affine.add(base, start * stride)
                shape.append(max(0, -(-(stop - start) // step)))
                strides.append(stride * step)
        return View(view.buffer, base, tuple(shape), tuple(strides), view.name, view.code)

    return Typed(result, execute)


def _moved(base: Any, index: Any, size: int, stride: int, site: Site) -> Any:
    if type(index) is int:
        return affine.add(base, (index + size if index < 0 else index) * stride)
    if type(index) is Affine and index.bounds()[0] >= 0:
        return affine.add(base, affine.scale(index, stride))
    facts = {"construct": "sub-array-per-thread"}
    raise access.refuse(Finding("unsupported-construct", "error", primary=site.span, facts=facts))


def _bounds(fr: Any, m: Any, part: Any, size: int, site: Site) -> tuple[int, int, int]:
    found = [piece if piece is None else piece.run(fr, m) for piece in part]
    if any(piece is not None and type(piece) is not int for piece in found) or (found[2] or 1) <= 0:
        facts = {"construct": "slice-per-thread"}
        raise access.refuse(Finding("unsupported-construct", "error", primary=site.span, facts=facts))
    return slice(*found).indices(size)
