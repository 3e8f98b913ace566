"""Which loops a lone thread can run in one go: those whose iterations do not build on one another.

Such a loop computes indices from its own variable and from what does not change in it, and stores
values to elements of shared arrays that it does not read. Anything else goes iteration by iteration.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from grader.simt import iteration
from grader.simt.context import Context
from grader.simt.machine import Stop
from grader.simt.types import Array, Kind, Scalar, Space
from grader.simt.unroll import Unsuited

#: Casts, which work thread by thread.
CASTS = {f"numba.{name}" for name in ("float32", "float64", "int32", "int64")} | {"int", "float"}
OF_BLOCK = {"cuda.blockIdx", "cuda.blockDim", "cuda.gridDim"}
#: Stands for what differs between the threads of a block.
THREAD = "<thread>"


@dataclass(frozen=True)
class LonePlan:
    """What has to be looked at before a loop is run in one go.

    ``indices`` are the slots of the outer variables that indices of stores are computed from: with an
    index that differs between the threads of a block, a store leaves out elements of other threads.
    """

    indices: frozenset[int]


@dataclass
class _Names:
    """What a loop's body does with names."""

    assigned: set[str] = field(default_factory=set)
    sources: dict[str, set[str]] = field(default_factory=dict)
    indices: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)


def lone_plan(context: Context, node: ast.For, name: str, head: dict[str, Kind]) -> LonePlan | None:
    """The plan of a loop over ``name``, or None where its iterations have to go one by one."""
    if context.kernel.traced or node.orelse:
        return None
    names = _Names(_stored(node))
    kinds = context.kinds
    context.kinds = {**kinds, **head, name: kinds[name]}
    try:
        _Body(context, names).suite(node.body, {name})
    except (Unsuited, Stop):
        # What the body's own compilation takes or refuses is not for a plan to say.
        return None
    finally:
        context.kinds = kinds
    if not names.stored:
        return None
    free = _sources(names) - names.assigned
    if THREAD in free:
        return None
    slots = frozenset(slot for (known, _), slot in context.slots.items() if known in free)
    return LonePlan(slots)


def _stored(node: ast.For) -> set[str]:
    """The names that a loop sets."""
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in parts if isinstance(part.ctx, ast.Store)}


def _sources(names: _Names) -> set[str]:
    """All names that indices of stores are computed from."""
    found, left = set(), set(names.indices)
    while left:
        name = left.pop()
        found.add(name)
        left |= names.sources.get(name, set()) - found
    return found


class _Body:
    """Walks a loop's body; raises Unsuited at what cannot be run in one go."""

    def __init__(self, context: Context, names: _Names) -> None:
        self.context = context
        self.names = names

    def suite(self, nodes: list[ast.stmt], known: set[str]) -> set[str]:
        """Walk statements; ``known`` are the body's own names that hold a value of this iteration."""
        for node in nodes:
            known = self._statement(node, known)
        return known

    def _statement(self, node: ast.stmt, known: set[str]) -> set[str]:
        if isinstance(node, ast.Pass):
            return known
        if isinstance(node, ast.If):
            self._expression(node.test, known)
            return self.suite(node.body, set(known)) & self.suite(node.orelse, set(known))
        if isinstance(node, ast.For):
            return self._loop(node, known)
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            raise Unsuited
        target = node.targets[0]
        used = self._expression(node.value, known)
        if isinstance(target, ast.Name):
            self.names.sources.setdefault(target.id, set()).update(used)
            return known | {target.id}
        self._store(target, known)
        return known

    def _loop(self, node: ast.For, known: set[str]) -> set[str]:
        call = node.iter
        if node.orelse or not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call):
            raise Unsuited
        if iteration.path_of(self.context, call) not in iteration.RANGES or call.keywords:
            raise Unsuited
        used = {name for item in call.args for name in self._expression(item, known)}
        self.names.sources.setdefault(node.target.id, set()).update(used)
        own = _stored(node)
        self.suite(node.body, (known - own) | {node.target.id})
        return known - own

    def _store(self, target: ast.expr, known: set[str]) -> None:
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            raise Unsuited
        self.names.indices |= self._element(target, "shared", known, plain=True)
        self.names.stored.add(target.value.id)

    def _element(self, node: ast.Subscript, space: str, known: set[str], plain: bool = False) -> set[str]:
        assert isinstance(node.value, ast.Name)
        kind = self.context.kinds.get(node.value.id)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(kind, Array) or kind.space != space or len(items) != kind.ndim:
            raise Unsuited
        parts = (part for item in items for part in ast.walk(item))
        if plain and any(isinstance(part, ast.Attribute | ast.Call) for part in parts):
            raise Unsuited
        return {name for item in items for name in self._expression(item, known)}

    def _expression(self, node: ast.expr, known: set[str]) -> set[str]:
        """The names that an expression is computed from."""
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, int | float):
                raise Unsuited
            return set()
        if isinstance(node, ast.Name):
            kind = self.context.kinds.get(node.id)
            carried = node.id in self.names.assigned and node.id not in known
            if carried or not isinstance(kind, Scalar | Space | None):
                raise Unsuited
            return {node.id}
        if isinstance(node, ast.Attribute):
            same = node.attr == "shape" or _of_block(node)
            return set() if same else {THREAD}
        if isinstance(node, ast.Subscript):
            return self._read(node, known)
        if isinstance(node, ast.Call):
            if node.keywords or iteration.path_of(self.context, node) not in CASTS:
                raise Unsuited
            return {name for item in node.args for name in self._expression(item, known)}
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp):
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            return {name for part in parts for name in self._expression(part, known)}
        raise Unsuited

    def _read(self, node: ast.Subscript, known: set[str]) -> set[str]:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._expression(node.slice, known)
        if not isinstance(node.value, ast.Name):
            raise Unsuited
        return self._element(node, "global", known) | {node.value.id}


def _of_block(node: ast.Attribute) -> bool:
    """Whether a dotted name plainly is the same for all threads of a block."""
    return ast.unparse(node).rpartition(".")[0] in OF_BLOCK


__all__ = ["LonePlan", "lone_plan"]
