"""The multiply-adds of a warpgroup, which read shared memory and run on while its threads compute.

What the instructions do is told in ``grader.gpu.ptx_wgmma``. Here the product is formed where a call
begins, from what shared memory holds there. The operands count as read there and again where it is
waited for, by threads of two warps each, so that a write in between is a race; from the call to the wait
the sums hold nothing defined. What nothing of this tells of (operands overwritten after a barrier, a
missing fence, part of a warpgroup) stops the launch: then the machine cannot judge.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from grader.records import Finding
from grader.simt import expressions, wide
from grader.simt.context import Context, Typed
from grader.simt.evidence import Site
from grader.simt.lanes import Lanes
from grader.simt.local import LocalArray
from grader.simt.machine import Machine, Stop
from grader.simt.mask import Active, Dead
from grader.simt.ptx_copies import advanced, split
from grader.simt.ptx_matrices import check_whole
from grader.simt.types import NONE, Scalar
from grader.simt.values import UNDEFINED, Tainted, Value, strip
from grader.simt.wgmma_operands import DEPTH, GROUP, Matrix, Operands, dealt, tainted_sums

COLUMNS = (64, 128, 192, 256)
ROW_GROUP_BYTES = 1024
WARPS = 4
#: Multiply-adds of a warp in one of 16 x 8 x 16, which the counters count in.
_STEP = 16 * 8 * 16


@dataclass(eq=False, slots=True)
class Product:
    """A call that is under way: the sums that it will leave in the threads of ``mask``."""

    array: LocalArray
    at: int
    values: list[Value]
    operands: Operands
    sums: wide.Operand
    mask: Active
    group: Any


class Products:
    """The calls of a chunk that are under way, and how many each thread has begun."""

    def __init__(self) -> None:
        self.waiting: list[Product] = []
        self.begun: Any = 0

    def add(self, m: Active, product: Product) -> None:
        """Begin a call."""
        product.group = self.begun
        self.waiting.append(product)
        self.begun = advanced(m, self.begun, lambda begun: begun + 1)

    def latest(self, m: Active, array: LocalArray, at: int, count: int, site: Site) -> Product | None:
        """The last call under way whose sums a new call of the threads of ``m`` goes on from."""
        for product in reversed(self.waiting):
            apart = at >= product.at + len(product.values) or product.at >= at + count
            if product.array is not array or apart or _disjoint(product.mask, m):
                continue
            if (product.at, len(product.values)) != (at, count) or not _same(product.mask, m):
                stop(site, "wgmma-of-other-sums-under-way")
            return product
        return None

    def wait(self, mc: Machine, fr: Any, m: Active, groups: int) -> None:
        """Let all but the latest ``groups`` calls of the threads of ``m`` end."""
        still: list[Product] = []
        ended: list[tuple[Product, Active]] = []
        for product in self.waiting:
            done: Any = np.asarray(product.group) < self.begun - groups
            if m is not None:
                done = done & m.array
            arrived, rest = split(mc, product.mask, done)
            if not isinstance(arrived, Dead):
                ended.append((product, arrived))
            if not isinstance(rest, Dead):
                product.mask = rest
                still.append(product)
        self.waiting = still
        for product, arrived in ended:
            if product.operands.read_again(mc, arrived):
                mc.settle(None)  # where no barrier lies between, it is a race
                stop(product.sums.site, "wgmma-operands-overwritten")
            self._leave(mc, fr, product, arrived)

    def _leave(self, mc: Machine, fr: Any, product: Product, arrived: Active) -> None:
        """Put the sums where they belong, unless a later call goes on from them."""
        for other in self.waiting:
            if other.array is product.array and other.at == product.at:
                if other.mask is None:
                    return
                _, rest = split(mc, arrived, other.mask.array)
                if isinstance(rest, Dead):
                    return
                arrived = rest
        wide.store(fr, arrived, product.sums, product.at, product.values)


def _same(one: Active, other: Active) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or np.array_equal(one.array, other.array)


def _disjoint(one: Active, other: Active) -> bool:
    return one is not None and other is not None and not (one.array & other.array).any()


def stop(site: Site, construct: str) -> NoReturn:
    """Give the launch up: what happens from here on is not followed."""
    raise Stop(Finding("unsupported-construct", "error", site.span, facts={"construct": construct}))


def fence(context: Context, node: ast.Call) -> Typed:
    """``fence_proxy_async()``."""
    wide.arity(context, node, 0)
    context.kernel.proxied = True

    def execute(fr: Any, m: Any) -> None:
        if fr.mc.proxy is not None:
            fr.mc.proxy.fence(m)

    return Typed(NONE, execute)


def wait(context: Context, node: ast.Call) -> Typed:
    """``wgmma_wait(groups)``, where ``groups`` is known to the compiler."""
    wide.arity(context, node, 1)
    groups = _literal(context, node, 0, range(8))

    def execute(fr: Any, m: Any) -> None:
        if fr.mc.products is not None:
            fr.mc.products.wait(fr.mc, fr, m, groups)

    return Typed(NONE, execute)


def _literal(context: Context, node: ast.Call, at: int, allowed: Any) -> int:
    kind = expressions.expression(context, node.args[at]).kind
    known = kind.literal if isinstance(kind, Scalar) else None
    if known is None or known not in allowed:
        got = kind.name if known is None else str(known)
        context.fail(node.args[at], "argument-type", name=ast.unparse(node.func), got=got, wanted="constant")
    return int(known)


def wgmma(context: Context, node: ast.Call) -> Typed:
    """``wgmma_bf16(sums, c, columns, shared, a, b)``: C += A @ B by a warpgroup, C being 64 x columns."""
    wide.arity(context, node, 6)
    context.kernel.proxied = True
    sums = wide.operand(context, node, 0, "f", 4, store=True)
    columns = _literal(context, node, 2, COLUMNS)
    first = wide.operand(context, node, 3, wide.CODES_OF_BITS[16], ROW_GROUP_BYTES)
    second = replace(first, offset=wide.scalar(context, node, node.args[5]))
    if first.site.space != "shared":
        context.unsupported(node, f"{ast.unparse(node.func)}-of-{first.site.space}-memory")
    ident, count = context.kernel.statements, columns // 2
    flops = (("mma", DEPTH * columns * DEPTH // WARPS // _STEP),)

    def execute(fr: Any, m: Any) -> None:
        mc = fr.mc
        lanes = Lanes(mc, m)
        _check_group(mc, m, lanes, sums.wide)
        array, at = sums.array(fr, m), sums.offset(fr, m)
        if not isinstance(array, LocalArray) or type(at) is not int or not 0 <= at <= array.size - count:
            stop(sums.site, "wgmma-sums-not-in-registers")
        operands = Operands(lanes, Matrix(fr, m, first), Matrix(fr, m, second, columns), first.site)
        if operands.hidden(mc):
            stop(first.site, "wgmma-operands-not-fenced")
        operands.log(mc, m)
        mc.tally.flop(-1 - ident, flops, m)
        if mc.products is None:
            mc.products = Products()
        under_way = mc.products.latest(m, array, at, count, sums.site)
        old = wide.load(fr, m, sums, at, count) if under_way is None else under_way.values
        values = _summed(lanes, operands, old)
        mc.products.add(m, Product(array, at, values, operands, sums, m, 0))
        nothing = Tainted(np.float32(np.nan), np.full((1,) * len(mc.chunk.shape), UNDEFINED, np.uint8))
        wide.store(fr, m, sums, at, [nothing] * count)

    return Typed(NONE, execute)


def _check_group(mc: Machine, m: Active, lanes: Lanes, site: Site) -> None:
    """A warpgroup multiplies as one: a part of a warp is reported, a part of the warps not followed."""
    check_whole(mc, m, lanes, site)
    if lanes.rows % WARPS or lanes.width * WARPS != GROUP:
        stop(site, "part-of-a-warpgroup")
    warps = lanes.active.any(axis=2).reshape(len(lanes.active), -1, WARPS)
    if (warps.any(axis=2) & ~warps.all(axis=2)).any():
        stop(site, "part-of-a-warpgroup")


def _summed(lanes: Lanes, operands: Operands, old: list[Value]) -> list[Value]:
    """The new sums of each thread: (float32) one for each register."""
    product: npt.NDArray[Any] = operands.product()
    held = np.stack([lanes.spread(np.asarray(strip(value), np.float32), 0) for value in old])
    new = (dealt(product) + held).astype(np.float32)
    parts = [lanes.gather(part) for part in new]
    taints = tainted_sums(lanes, operands, old)
    if taints is None:
        return list(parts)
    return [Tainted(part, taint) for part, taint in zip(parts, taints, strict=True)]


__all__ = ["Products", "fence", "wait", "wgmma"]
