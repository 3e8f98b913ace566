"""Calls: casts, builtins, math, arrays, barriers, atomics, device functions."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.simt import arithmetic, arrays, atomics, barriers, devices, expressions, types, values, warps
from grader.simt.affine import Affine
from grader.simt.context import Context, Run, Typed
from grader.simt.subscripts import index_run
from grader.simt.types import CODES, FLOAT64, INT64, NONE, Array, Device, Scalar, Space, Text, Tuple
from grader.simt.values import Tainted, cast, join, numeric, strip

Handler = Callable[[Context, ast.Call, list[Typed]], Typed]


def call(context: Context, node: ast.Call) -> Typed:
    """Compile one call by the dotted path of what is called."""
    function = expressions.expression(context, node.func)
    if isinstance(function.kind, Device):
        return devices.call(context, node, context.kernel.devices[function.kind.ident])
    if not isinstance(function.kind, Space):
        context.fail(node, "not-callable", name=ast.unparse(node.func), got=function.kind.name)
    path = function.kind.path
    special = _SPECIAL.get(path)
    if special is not None:
        return special(context, node)
    if node.keywords or any(isinstance(item, ast.Starred) for item in node.args):
        context.unsupported(node, f"{path}-keywords")
    arguments = [expressions.expression(context, item) for item in node.args]
    handler = _PLAIN.get(path)
    if handler is not None:
        return handler(context, node, arguments)
    scalar = _scalar_code(path)
    if scalar is not None:
        return _cast(context, node, arguments, scalar)
    module, _, name = path.rpartition(".")
    name = _NUMPY_NAMES.get(name, name) if module == "numpy" else name
    if module in ("math", "numpy") and name in _MATH:
        return _math(context, node, arguments, name)
    context.unsupported(node, path)


def _scalar_code(path: str) -> str | None:
    module, _, name = path.rpartition(".")
    return CODES.get(name) if module in ("numba", "numpy", "numba.cuda") else None


def _one(context: Context, node: ast.Call, arguments: list[Typed], count: int = 1) -> list[Scalar]:
    """Check that there are ``count`` scalar arguments."""
    if len(arguments) != count:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(arguments), wanted=count)
    for argument in arguments:
        if not isinstance(argument.kind, Scalar):
            context.fail(node, "argument-type", name=ast.unparse(node.func), got=argument.kind.name)
    return [argument.kind for argument in arguments]  # type: ignore[misc]


def _cast(context: Context, node: ast.Call, arguments: list[Typed], code: str) -> Typed:
    if not arguments and code in "qd?":
        return Typed(Scalar(code), lambda fr, m: values.cast_scalar(0, code))
    _one(context, node, arguments)
    return Typed(Scalar(code), arithmetic.convert(arguments[0], code))


def _int(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``int(x)`` keeps an integer's own width, as numba has it."""
    kinds = _one(context, node, arguments)
    code = kinds[0].code if kinds[0].is_int and kinds[0].code != "?" else "q"
    return Typed(Scalar(code), arithmetic.convert(arguments[0], code))


def _float(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = _one(context, node, arguments)
    code = kinds[0].code if kinds[0].is_float else "d"
    return Typed(Scalar(code), arithmetic.convert(arguments[0], code))


def _bool(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    _one(context, node, arguments)
    run = arguments[0].run
    return Typed(types.BOOL, lambda fr, m: values.as_condition(run(fr, m)))


def _abs(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = _one(context, node, arguments)
    code = {"F": "f", "D": "d"}.get(kinds[0].code, kinds[0].code)
    run = arguments[0].run

    def execute(fr: Any, m: Any) -> Any:
        value = run(fr, m)
        if isinstance(value, int | float):
            return abs(value)
        return np.abs(numeric(value))

    return Typed(Scalar(code), execute)


def _extreme(least: bool) -> Handler:
    whole = values.int_minimum if least else values.int_maximum
    ufunc = np.fmin if least else np.fmax

    def handler(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
        if len(arguments) == 1 and isinstance(arguments[0].kind, Tuple):
            return _extreme_of_tuple(context, node, arguments[0], handler)
        if len(arguments) < 2:
            context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(arguments), wanted=2)
        kinds = _one(context, node, arguments, len(arguments))
        kind = kinds[0]
        for other in kinds[1:]:
            kind = types.unify(types.plain(kind), types.plain(other))  # type: ignore[assignment]
        code = kind.code
        runs = [arithmetic.convert(argument, code) for argument in arguments]

        def execute(fr: Any, m: Any) -> Any:
            result = runs[0](fr, m)
            for run in runs[1:]:
                other = run(fr, m)
                if code in "?bhiqBHIQ":
                    result = whole(result, other)
                elif isinstance(result, float) and isinstance(other, float):
                    result = (min if least else max)(result, other)
                else:
                    result = ufunc(result, other)
            return result

        return Typed(Scalar(code), execute)

    return handler


def _extreme_of_tuple(context: Context, node: ast.Call, argument: Typed, handler: Handler) -> Typed:
    assert isinstance(argument.kind, Tuple)
    run = argument.run
    parts = [
        Typed(kind, lambda fr, m, at=position: run(fr, m)[at])
        for position, kind in enumerate(argument.kind.items)
    ]
    return handler(context, node, parts)


def _len(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kind = arguments[0].kind if len(arguments) == 1 else NONE
    if isinstance(kind, Tuple):
        size = len(kind.items)
        return Typed(INT64, lambda fr, m: size)
    if not isinstance(kind, Array):
        context.fail(node, "argument-type", name="len", got=kind.name)
    run = arguments[0].run
    return Typed(INT64, lambda fr, m: run(fr, m).shape[0])


def _round(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = _one(context, node, arguments, min(max(len(arguments), 1), 2))
    code = kinds[0].code if kinds[0].is_float else "d"
    run = arithmetic.convert(arguments[0], code)
    if len(arguments) == 2:
        digits = arguments[1].run
        return Typed(Scalar(code), lambda fr, m: _map(lambda x: np.round(x, int(digits(fr, m))), run(fr, m)))
    return Typed(INT64, lambda fr, m: cast(_map(np.rint, run(fr, m)), "q"))


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    result = function(strip(value))
    return Tainted(result, value.taint) if type(value) is Tainted else result


def _math(context: Context, node: ast.Call, arguments: list[Typed], name: str) -> Typed:
    """A function of ``math``: of one float type throughout, float64 for integers."""
    function, arity, result = _MATH[name]
    kinds = _one(context, node, arguments, arity)
    code = "d"
    if all(kind.is_float for kind in kinds):
        unified = kinds[0]
        for kind in kinds[1:]:
            unified = types.unify(unified, kind)  # type: ignore[assignment]
        code = unified.code
    runs = [arithmetic.convert(argument, code) for argument in arguments]

    def execute(fr: Any, m: Any) -> Any:
        found = [run(fr, m) for run in runs]
        value = function(*(strip(item) for item in found))
        wanted = result or code
        return join(cast(value if isinstance(value, np.ndarray) else np.asarray(value)[()], wanted), *found)

    return Typed(Scalar(result or code), execute)


_ERF = np.frompyfunc(math.erf, 1, 1)
_GAMMA = np.frompyfunc(math.gamma, 1, 1)
_LGAMMA = np.frompyfunc(math.lgamma, 1, 1)
_MATH: dict[str, tuple[Callable[..., Any], int, str]] = {
    **{
        name: (getattr(np, other), 1, "")
        for name, other in {
            "sqrt": "sqrt",
            "exp": "exp",
            "expm1": "expm1",
            "log": "log",
            "log2": "log2",
            "log10": "log10",
            "log1p": "log1p",
            "sin": "sin",
            "cos": "cos",
            "tan": "tan",
            "asin": "arcsin",
            "acos": "arccos",
            "atan": "arctan",
            "sinh": "sinh",
            "cosh": "cosh",
            "tanh": "tanh",
            "asinh": "arcsinh",
            "acosh": "arccosh",
            "atanh": "arctanh",
            "ceil": "ceil",
            "floor": "floor",
            "trunc": "trunc",
            "fabs": "abs",
            "cbrt": "cbrt",
            "degrees": "degrees",
            "radians": "radians",
        }.items()
    },
    "pow": (np.power, 2, ""),
    "fmod": (np.fmod, 2, ""),
    "hypot": (np.hypot, 2, ""),
    "atan2": (np.arctan2, 2, ""),
    "copysign": (np.copysign, 2, ""),
    "erf": (lambda x: np.asarray(_ERF(x), float), 1, ""),
    "erfc": (lambda x: 1 - np.asarray(_ERF(x), float), 1, ""),
    "gamma": (lambda x: np.asarray(_GAMMA(x), float), 1, ""),
    "lgamma": (lambda x: np.asarray(_LGAMMA(x), float), 1, ""),
    "isnan": (np.isnan, 1, "?"),
    "isinf": (np.isinf, 1, "?"),
    "isfinite": (np.isfinite, 1, "?"),
}
# NumPy's spellings of functions that math names otherwise.
_NUMPY_NAMES = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "power": "pow",
    "absolute": "fabs",
}
# math.ceil, floor and trunc give floats in numba, as in C: an index made of one needs int(). But
# kernels write range(math.ceil(n / T)) and numba takes it, since range casts its bounds.


def _grid(context: Context, node: ast.Call, arguments: list[Typed], size: bool) -> Typed:
    kind = arguments[0].kind if len(arguments) == 1 else NONE
    ndim = kind.literal if isinstance(kind, Scalar) else None
    if ndim not in (1, 2, 3):
        context.fail(node, "grid-dimension", got=ast.unparse(node), wanted="1..3")
    parts = [_grid_part(dim, size) for dim in range(ndim)]
    if ndim == 1:
        return Typed(INT64, parts[0])
    return Typed(Tuple((INT64,) * ndim), lambda fr, m: tuple([part(fr, m) for part in parts]))


def _grid_part(dim: int, size: bool) -> Run:
    block, width = index_run("blockIdx", dim), index_run("blockDim", dim)
    if size:
        grid = index_run("gridDim", dim)
        return lambda fr, m: grid(fr, m) * width(fr, m)
    thread = index_run("threadIdx", dim)

    def run(fr: Any, m: Any) -> Any:
        start = values.int_multiply(block(fr, m), width(fr, m))
        return values.int_add(start, thread(fr, m))

    return run


def _fma(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    kinds = _one(context, node, arguments, 3)
    kind = types.unify(types.unify(types.plain(kinds[0]), types.plain(kinds[1])), types.plain(kinds[2]))
    code = kind.code if isinstance(kind, Scalar) and kind.is_float else "d"
    a, b, c = (arithmetic.convert(argument, code) for argument in arguments)
    return Typed(Scalar(code), lambda fr, m: np.add(np.multiply(a(fr, m), b(fr, m)), c(fr, m)))


def _select(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """``cuda.selp(condition, a, b)``: both are evaluated."""
    kinds = _one(context, node, arguments, 3)
    kind = types.unify(types.plain(kinds[1]), types.plain(kinds[2]))
    assert isinstance(kind, Scalar)
    condition = arguments[0].run
    yes, no = (arithmetic.convert(argument, kind.code) for argument in arguments[1:])

    def execute(fr: Any, m: Any) -> Any:
        chosen = values.as_condition(condition(fr, m))
        a, b = yes(fr, m), no(fr, m)
        if type(chosen) is bool:
            return a if chosen else b
        return join(values.select(strip(chosen), a, b), chosen)

    return Typed(kind, execute)


def _pow(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    _one(context, node, arguments, 2)
    return arithmetic.binary(context, node, ast.Pow(), arguments[0], arguments[1])


def _nothing(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
    """A call without effect on what the machine models: fences and printing."""
    return Typed(NONE, lambda fr, m: None)


def _print(context: Context, node: ast.Call) -> Typed:
    for item in node.args:
        if not isinstance(item, ast.JoinedStr):
            expressions.expression(context, item)
    return Typed(NONE, lambda fr, m: None)


def _bits(function: Callable[[int, int], int], result: str = "") -> Handler:
    """A bit intrinsic, element by element; width by the argument's type."""

    def handler(context: Context, node: ast.Call, arguments: list[Typed]) -> Typed:
        kinds = _one(context, node, arguments)
        code = kinds[0].code if kinds[0].is_int else "q"
        run = arithmetic.convert(arguments[0], code)
        width = np.dtype(code).itemsize * 8
        each = np.frompyfunc(lambda x: function(int(x) & ((1 << width) - 1), width), 1, 1)
        code = result or code

        def execute(fr: Any, m: Any) -> Any:
            value = run(fr, m)
            if type(value) is int:
                return values.wrap(function(value & ((1 << width) - 1), width), code)
            return _map(lambda x: each(x).astype(code), value)

        return Typed(Scalar(code), execute)

    return handler


def _leading_zeros(value: int, width: int) -> int:
    return width - value.bit_length()


def _reversed_bits(value: int, width: int) -> int:
    return int(format(value, f"0{width}b")[::-1], 2)


def _first_set(value: int, width: int) -> int:
    return (value & -value).bit_length()


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
    "print": _print,
}
_PLAIN: dict[str, Handler] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "abs": _abs,
    "min": _extreme(True),
    "max": _extreme(False),
    "len": _len,
    "round": _round,
    "numba.cuda.grid": lambda context, node, arguments: _grid(context, node, arguments, False),
    "numba.cuda.gridsize": lambda context, node, arguments: _grid(context, node, arguments, True),
    "numba.cuda.fma": _fma,
    "numba.cuda.selp": _select,
    "numba.cuda.cbrt": lambda context, node, arguments: _math(context, node, arguments, "cbrt"),
    "pow": lambda context, node, arguments: _pow(context, node, arguments),
    "numba.cuda.threadfence": _nothing,
    "numba.cuda.threadfence_block": _nothing,
    "numba.cuda.threadfence_system": _nothing,
    "numba.cuda.nanosleep": _nothing,
    "numba.cuda.popc": _bits(lambda value, width: value.bit_count()),
    "numba.cuda.clz": _bits(_leading_zeros),
    "numba.cuda.ffs": _bits(_first_set),
    "numba.cuda.brev": _bits(_reversed_bits),
}

__all__ = ["FLOAT64", "Affine", "Text", "call"]
