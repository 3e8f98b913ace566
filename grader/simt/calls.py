"""Calls: what is called decides who compiles it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from grader.simt import (
    arithmetic,
    array_methods,
    arrays,
    atomics,
    barriers,
    bits,
    builtin_calls,
    cache_hints,
    complex_math,
    devices,
    expressions,
    fences,
    half,
    mathematics,
    numpy_functions,
    ptx_calls,
    starred,
    texts,
    warps,
    whole_numbers,
)
from grader.simt.arguments import Handler, scalars
from grader.simt.attributes import index_run
from grader.simt.context import Context, Run, Typed
from grader.simt.type_names import code_of_path
from grader.simt.types import INT64, NONE, Array, Device, Scalar, Space, Tuple


def call(context: Context, node: ast.Call) -> Typed:
    """Compile one call."""
    method = _method(context, node)
    if method is not None:
        return method
    function = expressions.expression(context, node.func)
    if isinstance(function.kind, Device):
        node = starred.spread(context, node)
        return devices.call(context, node, context.kernel.devices[function.kind.ident])
    if not isinstance(function.kind, Space):
        context.fail(node, "not-callable", name=ast.unparse(node.func), got=function.kind.name)
    path = function.kind.path
    special = _SPECIAL.get(path)
    # Among other arguments, those of a starred tuple are no constants to numba.
    constant = path == "len" or (special is not None and len(node.args) > 1)
    if constant and any(isinstance(item, ast.Starred) for item in node.args):
        context.unsupported(node, "starred-argument")
    if special is not None:
        return special(context, starred.spread(context, node))
    if node.keywords:
        context.unsupported(node, f"{path}-keywords")
    arguments = expressions.items(context, node.args)
    found = _of_library(context, node, arguments, path)
    return found if found is not None else context.unsupported(node, path)


def _of_library(context: Context, node: ast.Call, arguments: list[Typed], path: str) -> Typed | None:
    handler = _PLAIN.get(path)
    if handler is not None:
        return handler(context, node, arguments)
    scalar = code_of_path(path)
    if scalar is not None:
        return builtin_calls.to_type(context, node, arguments, scalar)
    module, _, name = path.rpartition(".")
    if module == "operator" and name in _OPERATORS:
        scalars(context, node, arguments, 2)
        return arithmetic.binary(context, node, _OPERATORS[name](), *arguments)
    if module == "math":
        return mathematics.call(context, node, arguments, name)
    if module == "numpy":
        return numpy_functions.call(context, node, arguments, name)
    return None


def _method(context: Context, node: ast.Call) -> Typed | None:
    """A method of a number or an array."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in (*_METHODS, *array_methods.METHODS):
        return None
    owner = expressions.expression(context, node.func.value)
    if isinstance(owner.kind, Array) and node.func.attr in array_methods.METHODS:
        return array_methods.method(context, node, owner, node.func.attr)
    if node.func.attr not in _METHODS or not isinstance(owner.kind, Scalar) or node.args or node.keywords:
        return None
    if node.func.attr == "bit_count" and not owner.kind.is_int:
        return None
    if node.func.attr == "conjugate" and owner.kind.code == "?":
        return None
    return _METHODS[node.func.attr](owner)


def _grid(size: bool) -> Handler:
    def handler(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
        kind = arguments[0].kind if len(arguments) == 1 else NONE
        ndim = kind.literal if isinstance(kind, Scalar) else None
        if ndim not in (1, 2, 3):
            context.fail(node, "grid-dimension", got=ast.unparse(node), wanted="1..3")
        parts = [_grid_part(dim, size) for dim in range(ndim)]
        if ndim == 1:
            return Typed(INT64, parts[0])
        return Typed(Tuple((INT64,) * ndim), lambda fr, m: tuple([part(fr, m) for part in parts]))

    return handler


def _grid_part(dim: int, size: bool) -> Run:
    block, width = index_run("blockIdx", dim), index_run("blockDim", dim)
    if size:
        grid = index_run("gridDim", dim)
        return lambda fr, m: grid(fr, m) * width(fr, m)
    thread = index_run("threadIdx", dim)

    def run(fr: Any, m: Any) -> Any:
        start = whole_numbers.int_multiply(block(fr, m), width(fr, m))
        return whole_numbers.int_add(start, thread(fr, m))

    return run


_METHODS: dict[str, Callable[[Typed], Typed]] = {
    "bit_count": bits.bit_count,
    "conjugate": complex_math.conjugate,
}
_OPERATORS: dict[str, type[ast.AST]] = {
    name: kind for kind, name in arithmetic.NAMES.items() if issubclass(kind, ast.operator | ast.cmpop)
}
_SPECIAL: dict[str, Callable[[Context, ast.Call], Typed]] = {
    "numba.cuda.shared.array": arrays.shared,
    "numba.cuda.local.array": arrays.local,
    "numba.cuda.const.array_like": arrays.constant,
    "numba.cuda.syncthreads": barriers.syncthreads,
    "numba.cuda.syncthreads_count": barriers.counting,
    "numba.cuda.syncthreads_and": barriers.counting,
    "numba.cuda.syncthreads_or": barriers.counting,
    "numba.cuda.syncwarp": warps.syncwarp,
    "numba.cuda.activemask": warps.activemask,
    "numba.cuda.lanemask_lt": warps.lanemask_lt,
    **{f"numba.cuda.{name}": warps.shuffle for name in warps.SHUFFLES},
    **{f"numba.cuda.{name}": warps.vote for name in warps.VOTES},
    "numba.cuda.match_any_sync": warps.match,
    "numba.cuda.match_all_sync": warps.match,
    "numba.cuda.cg.this_grid": barriers.this_grid,
    f"{barriers.GRID}.sync": barriers.grid_sync,
    **{f"numba.cuda.atomic.{name}": atomics.atomic for name in atomics.OPERATIONS},
    **{f"numba.cuda.{name}": cache_hints.load for name in cache_hints.LOADS},
    **{f"numba.cuda.{name}": cache_hints.store for name in cache_hints.STORES},
    **ptx_calls.CALLS,
    "print": texts.printing,
}
_PLAIN: dict[str, Handler] = {
    "int": builtin_calls.whole,
    "float": builtin_calls.floating,
    "bool": builtin_calls.boolean,
    "abs": mathematics.absolute,
    "min": builtin_calls.extreme(True),
    "max": builtin_calls.extreme(False),
    "len": builtin_calls.length,
    "round": builtin_calls.rounded,
    "str": texts.from_value,
    "repr": texts.from_value,
    "pow": builtin_calls.power,
    "divmod": builtin_calls.quotient_and_rest,
    "sum": builtin_calls.total,
    "tuple": builtin_calls.as_tuple,
    "numba.cuda.grid": _grid(False),
    "numba.cuda.gridsize": _grid(True),
    "numba.cuda.fma": builtin_calls.fused,
    "numba.cuda.selp": builtin_calls.chosen,
    "numba.cuda.cbrt": lambda context, node, arguments: (
        mathematics.call(context, node, arguments, "cbrt") or context.unsupported(node, "cbrt")
    ),
    "numba.cuda.threadfence": fences.fence,
    "numba.cuda.threadfence_block": builtin_calls.nothing,
    "numba.cuda.threadfence_system": fences.fence,
    "numba.cuda.nanosleep": builtin_calls.nothing,
    **bits.INTRINSICS,
    **half.FUNCTIONS,
    **complex_math.FUNCTIONS,
}

__all__ = ["call"]
