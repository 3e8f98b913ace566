"""From the AST of a loop's body to its plan, or the verdict that it has to go iteration by iteration."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import numpy as np

from grader.simt import arithmetic, expressions, subscripts, types
from grader.simt.context import Context
from grader.simt.flops import operations
from grader.simt.sweep_plan import CARRIED, FIXED, SWEPT, Cell, Op, Plan, Read
from grader.simt.types import Array, Kind, Scalar
from grader.simt.unroll import Statement, Unsuited, unrolled

UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
}
MAX_NODES = 256


def plan_of(context: Context, node: ast.For, name: str, head: dict[str, Kind]) -> Plan | None:
    """The plan of a loop over ``name``, or None where its iterations cannot be taken together."""
    if context.kernel.traced or node.orelse:
        return None
    kinds = context.kinds
    context.kinds = {**kinds, **head, name: kinds[name]}
    try:
        return _Builder(context, name).build(node.body)
    except Unsuited:
        return None
    finally:
        context.kinds = kinds


class _Builder:
    """Builds the plan of one loop."""

    def __init__(self, context: Context, name: str) -> None:
        self.context = context
        self.name = name
        self.plan = Plan()
        self.now: dict[Any, int] = {}
        self.before: dict[Any, tuple[int, Cell]] = {}
        self.cells: dict[Any, Cell] = {}
        self.assigned: set[str] = set()

    def build(self, body: list[ast.stmt]) -> Plan:
        flat = unrolled(self.context, body)
        self.assigned = {one.target.id for one in flat.statements if isinstance(one.target, ast.Name)}
        self.assigned |= {self.name, *flat.last}
        works: Counter[ast.stmt] = Counter()
        for one in flat.statements:
            works[one.source] += 1
            self._statement(one)
        plan, context = self.plan, self.context
        plan.fuel = 1 + flat.passes
        plan.inner = [(context.slot(each, context.kinds[each]), last) for each, last in flat.last.items()]
        for source, times in works.items():
            work = operations(source, context)
            if work:
                plan.flops.append((("sweep", id(source)), work, times))
        for key, (start, cell) in self.before.items():
            final = self.now.get(key)
            if final is None or plan.levels[final] != CARRIED:
                raise Unsuited  # an element of a local array that is only read has to be looked at each time
            plan.carried.append((start, final, cell.load))
        plan.results = [(self.cells[key], final) for key, final in self.now.items()]
        finals = [final for _, final in plan.results]
        starts = {start for start, _ in self.before.values()}
        if len(set(finals)) < len(finals) or starts & set(finals) or not plan.carried:
            raise Unsuited
        plan.finish()
        return plan

    def _statement(self, one: Statement) -> None:
        key = self._key(one.target)
        if one.op is None:
            result = self._expression(one.value, one.inner)
        else:
            left = self._cell(key, one.target)
            result = self._binary(one.op, left, self._expression(one.value, one.inner))
        if result in {start for start, _ in self.before.values()}:
            raise Unsuited  # another name for an old value, which the next iteration overwrites
        self._declare(key, one.target, self.plan.codes[result])
        self.now[key] = result

    # -- variables ---------------------------------------------------------------------------------

    def _key(self, target: ast.expr) -> Any:
        if isinstance(target, ast.Name):
            return target.id
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            raise Unsuited
        kind = self.context.kinds.get(target.value.id)
        items = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if not isinstance(kind, Array) or kind.space != "local" or len(items) != kind.ndim:
            raise Unsuited
        values = [item.value if isinstance(item, ast.Constant) else None for item in items]
        if any(type(value) is not int or value < 0 for value in values):
            raise Unsuited
        return (target.value.id, *values)

    def _declare(self, key: Any, target: ast.expr, code: str) -> Cell:
        """The cell of a variable that holds values of a type; it keeps that type through the loop."""
        context = self.context
        known = self.cells.get(key)
        if known is not None:
            return known
        if isinstance(key, str):
            kind = context.kinds.get(key)
            if not isinstance(kind, Scalar) or kind.code != code:
                raise Unsuited
            slot = context.slot(key, kind)
            load = expressions.expression(context, ast.copy_location(ast.Name(key, ast.Load()), target)).run
            cell = Cell(load, slot)
        else:
            kind = context.kinds[key[0]]
            if not isinstance(kind, Array) or kind.code != code:
                raise Unsuited
            name = ast.copy_location(ast.Name(key[0], ast.Load()), target)
            array, dims = expressions.expression(context, name).run, list(key[1:])
            site = context.site(target, key[0], "local")
            cell = Cell(
                lambda fr, m: array(fr, m).cell(m, dims),
                lambda fr, m, value: array(fr, m).store(fr.mc, m, dims, value, site),
            )
            self.plan.locals[key[0]] = array
        self.cells[key] = cell
        return cell

    def _cell(self, key: Any, node: ast.expr) -> int:
        """The node of a variable's value here; one of the iteration before where it is not yet set."""
        if key in self.now:
            return self.now[key]
        if key not in self.before:
            kind = self.context.kinds.get(key if isinstance(key, str) else key[0])
            if not isinstance(kind, Scalar | Array) or kind.code not in "fd":
                raise Unsuited
            if isinstance(kind, Scalar) and kind.literal is not None:
                raise Unsuited
            cell = self._declare(key, node, kind.code)
            self.before[key] = (self._node(CARRIED, kind.code), cell)
        return self.before[key][0]

    # -- expressions -------------------------------------------------------------------------------

    def _node(self, level: int, code: str) -> int:
        if len(self.plan.levels) >= MAX_NODES or code not in "fd":
            raise Unsuited
        self.plan.levels.append(level)
        self.plan.codes.append(code)
        return len(self.plan.levels) - 1

    def _expression(self, node: ast.expr, inner: tuple[tuple[str, int], ...]) -> int:
        if isinstance(node, ast.BinOp):
            left = self._expression(node.left, inner)
            return self._binary(node.op, left, self._expression(node.right, inner))
        if isinstance(node, ast.Subscript):
            return self._element(node, inner)
        if isinstance(node, ast.Name) and node.id in self.assigned:
            return self._cell(node.id, node)
        if isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and isinstance(node.value, float)):
            typed = expressions.expression(self.context, node)
            if not isinstance(typed.kind, Scalar) or typed.kind.code not in "fd":
                raise Unsuited
            made = self._node(FIXED, typed.kind.code)
            self.plan.fixed.append((made, typed.run))
            return made
        raise Unsuited

    def _binary(self, op: ast.operator, left: int, right: int) -> int:
        plan = self.plan
        name = arithmetic.NAMES.get(type(op), "")
        found = types.signature(name, plan.codes[left], plan.codes[right]) if name in UFUNCS else None
        if found is None:
            raise Unsuited
        (first, second), result = found
        if {first, second, result} - set("fd"):
            raise Unsuited
        left, right = (
            self._cast(self._cast(left, first), result),
            self._cast(self._cast(right, second), result),
        )
        made = self._node(max(plan.levels[left], plan.levels[right]), result)
        plan.ops.append(Op(made, UFUNCS[name], left, right, result))
        return made

    def _cast(self, node: int, code: str) -> int:
        if self.plan.codes[node] == code:
            return node
        made = self._node(self.plan.levels[node], code)
        self.plan.ops.append(Op(made, None, node, node, code))
        return made

    def _element(self, node: ast.Subscript, inner: tuple[tuple[str, int], ...]) -> int:
        context = self.context
        fused = subscripts.fused(context, node)
        if not isinstance(fused.value, ast.Name):
            raise Unsuited
        kind = context.kinds.get(fused.value.id)
        if isinstance(kind, Array) and kind.space == "local":
            return self._cell(self._key(fused), fused)
        items = fused.slice.elts if isinstance(fused.slice, ast.Tuple) else [fused.slice]
        degrees = [self._degree(item) for item in items]
        if not isinstance(kind, Array) or kind.space not in ("shared", "global") or None in degrees:
            raise Unsuited
        owner = expressions.expression(context, fused.value)
        target = subscripts.array_target(context, fused, owner)
        if target.whole is not None or target.cut is not None or len(target.dims) != kind.ndim:
            raise Unsuited
        made = self._node(SWEPT, target.code)
        self.plan.reads.append(Read(made, owner.run, tuple(target.dims), target.site, inner))
        return made

    def _degree(self, node: ast.expr) -> int | None:
        """0 for an index that is the same in all iterations, 1 for one that is linear, else None."""
        if isinstance(node, ast.Constant):
            return 0 if type(node.value) is int else None
        if isinstance(node, ast.Name):
            return 1 if node.id == self.name else None if node.id in self.assigned else 0
        if isinstance(node, ast.Attribute):
            return self._degree(node.value)
        if not isinstance(node, ast.BinOp):
            return None
        left, right = self._degree(node.left), self._degree(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add | ast.Sub):
            return max(left, right)
        if isinstance(node.op, ast.Mult):
            return left + right if left + right < 2 else None
        whole = isinstance(node.op, ast.FloorDiv | ast.Mod)
        return 0 if whole and left == right == 0 else None
