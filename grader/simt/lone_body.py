"""What the body of a loop that may run in one go does: which names its indices come from, and how."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from grader.simt import expressions, iteration
from grader.simt.context import Context, Run
from grader.simt.types import Array, Scalar, Space
from grader.simt.unroll import Unsuited

#: Casts, which work thread by thread.
CASTS = {f"numba.{name}" for name in ("float32", "float64", "int32", "int64")} | {"int", "float"}
OF_BLOCK = {"cuda.blockIdx", "cuda.blockDim", "cuda.gridDim"}
#: Operators that keep linear numbers linear, whatever the threads.
LINEAR = (ast.Add, ast.Sub, ast.Mult, ast.Div)
DIVISIONS = (ast.FloorDiv, ast.Mod, ast.RShift, ast.BitAnd)
#: What is a condition, and no number, by its form.
TESTS = (ast.Compare, ast.BoolOp)
#: Stands for what differs between the threads of a block.
THREAD = "<thread>"


@dataclass
class Names:
    """What a loop's body does with names.

    ``sources`` are what a name is computed from. ``indices`` and ``places`` are in the indices of stores
    and of loads, ``divided`` the operands of what is not linear, ``set_here`` what is assigned and
    ``guarded`` what of it under a condition.
    """

    assigned: set[str] = field(default_factory=set)
    sources: dict[str, set[str]] = field(default_factory=dict)
    indices: set[str] = field(default_factory=set)
    divided: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    guarded: set[str] = field(default_factory=set)
    set_here: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    divisors: list[tuple[type[ast.operator], Run]] = field(default_factory=list)


def stored_in(node: ast.For | ast.While) -> set[str]:
    """The names that a loop sets."""
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in parts if isinstance(part.ctx, ast.Store)}


def step_of(node: ast.While, name: str) -> int:
    """By how much the last statement of a loop's body moves a variable that nothing else in it sets; or 0."""
    last = node.body[-1]
    sets = [part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    if [part.id for part in sets].count(name) != 1 or node.orelse:
        return 0
    match last:
        case ast.AugAssign(target=ast.Name(id=moved), op=op, value=ast.Constant(value=step)):
            pass
        case ast.Assign(
            targets=[ast.Name(id=moved)],
            value=ast.BinOp(left=ast.Name(id=read), op=op, right=ast.Constant(value=step)),
        ) if read == moved:
            pass
        case _:
            return 0
    if moved != name or type(step) is not int:
        return 0
    return step if isinstance(op, ast.Add) else -step if isinstance(op, ast.Sub) else 0


class Body:
    """Walks a loop's body; raises Unsuited at what cannot be run in one go."""

    def __init__(self, context: Context, names: Names) -> None:
        self.context = context
        self.names = names
        self.guards = 0

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
            self.guards += 1
            known = self.suite(node.body, set(known)) & self.suite(node.orelse, set(known))
            self.guards -= 1
            return known
        if isinstance(node, ast.For):
            return self._loop(node, known)
        if isinstance(node, ast.While):
            return self._while(node, known)
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            raise Unsuited
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            return self._unpack(target, node.value, known)
        used = self._expression(node.value, known)
        if isinstance(target, ast.Name):
            return known | self._set(target.id, used)
        self._store(target, known)
        return known

    def _set(self, name: str, used: set[str]) -> set[str]:
        self.names.sources.setdefault(name, set()).update(used)
        self.names.set_here.add(name)
        if self.guards:
            self.names.guarded.add(name)
        return {name}

    def _unpack(self, target: ast.Tuple, value: ast.expr, known: set[str]) -> set[str]:
        """``r, c = divmod(n, TILE)``, or a tuple as long as the target."""
        if isinstance(value, ast.Call) and iteration.path_of(self.context, value) == "divmod":
            if len(value.args) != 2 or value.keywords:
                raise Unsuited
            used = self._divided(ast.FloorDiv(), value.args[0], value.args[1], known)
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            used = {name for item in value.elts for name in self._expression(item, known)}
        else:
            raise Unsuited
        for item in target.elts:
            if not isinstance(item, ast.Name):
                raise Unsuited
            known = known | self._set(item.id, used)
        return known

    def _loop(self, node: ast.For, known: set[str]) -> set[str]:
        call = node.iter
        if node.orelse or not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call):
            raise Unsuited
        if iteration.path_of(self.context, call) not in iteration.RANGES or call.keywords:
            raise Unsuited
        used = {name for item in call.args for name in self._expression(item, known)}
        self.names.sources.setdefault(node.target.id, set()).update(used)
        own = stored_in(node)
        self.suite(node.body, (known - own) | {node.target.id})
        return known - own

    def _while(self, node: ast.While, known: set[str]) -> set[str]:
        """A loop whose variable starts anew in each iteration of the loop around it, and is moved on last."""
        left = node.test.left if isinstance(node.test, ast.Compare) else None
        if not isinstance(left, ast.Name) or left.id not in known or not step_of(node, left.id):
            raise Unsuited
        self._expression(node.test, known)
        self._set(left.id, set())
        own = stored_in(node)
        self.suite(node.body[:-1], (known - own) | {left.id})
        return (known - own) | {left.id}

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
        if isinstance(node, ast.BinOp) and not isinstance(node.op, LINEAR):
            return self._divided(node.op, node.left, node.right, known)
        if isinstance(node, ast.BoolOp) and not all(isinstance(part, TESTS) for part in node.values):
            raise Unsuited
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp):
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            return {name for part in parts for name in self._expression(part, known)}
        raise Unsuited

    def _divided(self, op: ast.operator, left: ast.expr, right: ast.expr, known: set[str]) -> set[str]:
        """The names of an operation that is linear for some threads, or in some iterations, alone."""
        if isinstance(op, ast.Pow):
            raise Unsuited  # a power of numbers that are the same for all threads is computed in its own way
        names = self._expression(left, known) | self._expression(right, known)
        self.names.divided |= names
        if isinstance(op, DIVISIONS) and _is_fixed(self.context, right):
            self.names.divisors.append((type(op), expressions.expression(self.context, right).run))
        return names

    def _read(self, node: ast.Subscript, known: set[str]) -> set[str]:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return self._expression(node.slice, known)
        if not isinstance(node.value, ast.Name):
            raise Unsuited
        found = self._element(node, "global", known)
        self.names.places |= found
        return found | {node.value.id}


def _is_fixed(context: Context, node: ast.expr) -> bool:
    """Whether an expression is of literals, constants of the module and the block's size alone."""
    if isinstance(node, ast.BinOp):
        return _is_fixed(context, node.left) and _is_fixed(context, node.right)
    if isinstance(node, ast.Attribute):
        return ast.unparse(node).rpartition(".")[0] == "cuda.blockDim"
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id not in context.locals)


def _of_block(node: ast.Attribute) -> bool:
    """Whether a dotted name plainly is the same for all threads of a block."""
    return ast.unparse(node).rpartition(".")[0] in OF_BLOCK


__all__ = ["THREAD", "Body", "Names", "step_of", "stored_in"]
