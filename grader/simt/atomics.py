"""Atomic read-modify-write operations, in the fixed order of threads."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import access, arithmetic, expressions, subscripts
from grader.simt.aliases import Alias, adder, over_units, units
from grader.simt.context import Context, Typed
from grader.simt.evidence import Site
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active
from grader.simt.memory import Buffer, View, code_of
from grader.simt.race import ATOMIC, WRITE
from grader.simt.tally import STORE
from grader.simt.types import CONSTANT_ARRAY, NAMES, Array, Scalar, Space
from grader.simt.values import UNDEFINED, Tainted, Value, strip, taint_of, wrap

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    # A NaN on either side leaves the word as it is; nanmax and nanmin take the number.
    "max": lambda old, new: np.where(new > old, new, old),
    "min": lambda old, new: np.where(new < old, new, old),
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda _, new: new,
    "inc": lambda old, limit: np.where(old >= limit, 0, old + 1),
    "dec": lambda old, limit: np.where((old == 0) | (old > limit), limit, old - 1),
    "cas": lambda _, new: new,
    "compare_and_swap": lambda _, new: new,
}


#: Element types that numba-cuda's operations take, where not all 32- and 64-bit numbers.
_ACCEPTED = {
    **dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), "iqIQ"),
    **dict.fromkeys(("inc", "dec"), "IQ"),
}


def atomic(context: Context, node: ast.Call) -> Typed:
    """``cuda.atomic.add(array, index, value)`` and its siblings; gives the old value."""
    path = expressions.expression(context, node.func).kind
    name = path.path.rsplit(".", 1)[1] if isinstance(path, Space) else ""
    wanted = {"cas": 4, "compare_and_swap": 3}.get(name, 3)
    if len(node.args) != wanted or node.keywords:
        context.fail(node, "argument-count", name=ast.unparse(node.func), got=len(node.args), wanted=wanted)
    place = _place(node, name)
    array = expressions.expression(context, place.value)
    if not isinstance(array.kind, Array):
        context.fail(node, "argument-type", name=ast.unparse(node.func), got=array.kind.name)
    accepted = _ACCEPTED.get(name, "iqIQfd")
    if array.kind.code not in accepted:
        types = ", ".join(NAMES[code] for code in accepted)
        context.fail(node, "argument-type", name=ast.unparse(node.func), got=array.kind.name, wanted=types)
    if array.kind.space == "local":
        context.unsupported(node, "atomic-on-local-array")
    if array.kind.ident == CONSTANT_ARRAY:
        context.fail(node, "readonly-array", name=ast.unparse(node.args[0]))
    if array.kind.space == "global":
        context.kernel.stores.add(array.kind.ident)
        context.kernel.counters.append(context.program.span(node).line)
    target = subscripts.array_target(context, place, array, truncate=True)
    if target.whole is not None:
        got, axes = len(target.dims), array.kind.ndim
        context.fail(node, "index-rank", got=got, wanted=axes, name=ast.unparse(place.value))
    code = array.kind.code
    values = [arithmetic.convert(_scalar(context, item), code) for item in node.args[wanted - 1 :]]
    if name in ("cas", "compare_and_swap"):
        old = node.args[1] if name == "compare_and_swap" else node.args[2]
        values.insert(0, arithmetic.convert(_scalar(context, old), code))
    run, dims, site = array.run, target.dims, target.site

    def execute(fr: Any, m: Any) -> Any:
        operands = [value(fr, m) for value in values]
        return update(fr, m, run(fr, m), [dim(fr, m) for dim in dims], operands, site, name)

    return Typed(Scalar(code), execute)


def _place(node: ast.Call, name: str) -> ast.Subscript:
    """The element that is updated; ``compare_and_swap(a[i:], ...)`` means the first of the slice."""
    owner, index = node.args[0], node.args[1]
    if name == "compare_and_swap":
        index = ast.copy_location(ast.Constant(0), node)
        if isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Slice):
            part = owner.slice
            if part.lower is not None and part.upper is None and part.step is None:
                owner, index = owner.value, part.lower
    return ast.copy_location(ast.Subscript(owner, index, ast.Load()), node)


def _scalar(context: Context, node: ast.expr) -> Typed:
    typed = expressions.expression(context, node)
    if not isinstance(typed.kind, Scalar) or typed.kind.is_complex:
        context.fail(node, "argument-type", name="atomic", got=typed.kind.name)
    return typed


def update(
    fr: Any, m: Active, view: View, dims: list[Value], operands: list[Value], site: Site, name: str
) -> Value:
    """Apply one atomic operation for each active thread, lowest thread first."""
    mc = fr.mc
    address, valid, clean = access.locate(mc, m, view, dims, site, WRITE)
    buffer = view.buffer
    if buffer.shadowed:
        add = buffer.log.add if buffer.plain else adder(buffer)
        if add(ATOMIC, site, view, address, clean, m, valid, mc.loops, operands[-1]):
            mc.fold(buffer.log)
    mc.tally.access(site, STORE, address, m, valid)
    if mc.observers:
        mc.show("store", site, view, address, m, operands[-1])
    shape = mc.chunk.shape
    where = np.ones(shape, bool) if m is None else np.broadcast_to(m.array, shape)
    if valid is not None:
        where = where & valid
    spread = np.broadcast_to(address.array() if hasattr(address, "array") else address, shape)[where]
    _check_widths(mc, buffer, spread, site)
    given = [_spread(value, buffer.data.dtype, shape)[where] for value in operands]
    old = _apply(buffer.data, spread, given, name)
    result = np.zeros(shape, buffer.data.dtype)
    result[where] = old
    taint = _operand_taint(operands, shape, where)
    if buffer.space == "global":
        mc.written[id(buffer)][spread] = True
        if taint is not None:
            mc.trail.reach(taint, m, "output")
        return result
    if buffer.stamp is not None:
        for there in units(buffer, spread):
            buffer.stamp[there] = mc.interval
    if buffer.taint is None or (taint is None and not buffer.dirty):
        return result
    return _follow_taint(fr, m, view, address, where, spread, taint, site, name, result)


def _check_widths(mc: Machine, buffer: Buffer, words: Any, site: Site) -> None:
    """Stop where bytes are updated in two widths: such operations are not atomic to one another."""
    if not isinstance(buffer, Alias):
        return
    size = buffer.data.itemsize
    if mc.widths is None:
        mc.widths = np.zeros(buffer.whole.data.size, np.uint8)
    for part in units(buffer, words):
        if np.any((mc.widths[part] != 0) & (mc.widths[part] != size)):
            facts = {"construct": "atomics-of-mixed-sizes"}
            raise Stop(Finding("unsupported-construct", "error", site.span, facts=facts))
        mc.widths[part] = size


def _spread(value: Value, dtype: Any, shape: tuple[int, ...]) -> Any:
    """An operand of the array's type for each thread of the chunk."""
    plain = strip(value)
    if isinstance(plain, int) and dtype.kind in "iu":
        plain = wrap(plain, code_of(dtype))
    return np.broadcast_to(np.asarray(plain).astype(dtype), shape)


def _operand_taint(operands: list[Value], shape: tuple[int, ...], where: Any) -> Any:
    """Taint of what is added, for each thread of the chunk; None where it is clean."""
    found = None
    for value in operands:
        taint = taint_of(value)
        if taint is not None:
            found = np.broadcast_to(taint, shape) * where if found is None else found | taint * where
    return found


def _follow_taint(
    fr: Any,
    m: Active,
    view: View,
    address: Any,
    where: Any,
    words: Any,
    taint: Any,
    site: Site,
    name: str,
    old: Any,
) -> Value:
    """An update of a word that nobody wrote leaves it undefined; of a stale one, as good as new."""
    buffer, mc = view.buffer, fr.mc
    before = np.zeros(where.shape, np.uint8)
    parts = units(buffer, words)
    before[where] = np.bitwise_or.reduce([buffer.taint[part] for part in parts]) & UNDEFINED  # type: ignore[index]
    given = np.zeros(where.shape, np.uint8) if taint is None else taint
    after = given if name == "exch" else before | given
    for part in parts:
        buffer.taint[part] = 0  # type: ignore[index]
        np.bitwise_or.at(buffer.taint, part, after[where])  # type: ignore[arg-type]
    buffer.dirty = True
    if not before.any():
        return old
    mc.trail.read(site, over_units(view), before, m, units(buffer, address)[0], mc.loops)
    return Tainted(old, before)


def _apply(data: Any, words: Any, given: list[Any], name: str) -> Any:
    """Update word by word in order; returns each thread's old value."""
    old = np.empty(len(words), data.dtype)
    operation = OPERATIONS[name]
    compare = given[0] if len(given) > 1 else None
    for position, word in enumerate(words):
        before = data[word]
        old[position] = before
        if compare is None or before == compare[position]:
            data[word] = operation(before, given[-1][position])
    return old
