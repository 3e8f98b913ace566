"""Small edits of a kernel's tree, in memory: the moves that repairs are made of.

An edit works on its own copy of the program's tree; places are given as spans of the text, which
the copied nodes keep. Every move returns whether it found what it was to change.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from grader.checks.guards import StoresGuarded, is_barrier, within
from grader.checks.places import function_node, parents_of
from grader.records import Span
from grader.simt import Program

__all__ = ["Edit"]

Block = list[ast.stmt]


def _reached(tree: ast.Module, roots: tuple[str | None, ...]) -> set[int]:
    """The module's functions of those names, those that hold one of them, and those that they call."""
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    inside = {id(one): list(ast.walk(one)) for one in functions}
    reached = {
        id(one)
        for one in functions
        if any(isinstance(node, ast.FunctionDef) and node.name in roots for node in inside[id(one)])
    }
    frontier = set(reached)
    while frontier:
        nodes = [node for one in frontier for node in inside[one]]
        called = {node.id for node in nodes if isinstance(node, ast.Name)}
        frontier = {id(one) for one in functions if one.name in called} - reached
        reached |= frontier
    return reached


class Edit:
    """A copy of a program's tree that is being changed: the named functions, the kernel first, and what
    they call; the rest is shared with the original.
    """

    def __init__(self, program: Program, *functions: str | None) -> None:
        kernel = functions[0] or ""
        self._program = program
        touched = _reached(program.tree, functions)
        # What no repair touches, say a main(), is shared with the original and never changed.
        body = [copy.deepcopy(one) if id(one) in touched else one for one in program.tree.body]
        self._pairs = [(old, one) for old, one in zip(program.tree.body, body, strict=True) if one is not old]
        self._own = [one for _, one in self._pairs]
        self._twins: dict[ast.AST, ast.AST] = {}
        self.tree = ast.Module(body, program.tree.type_ignores)
        self.kernel = function_node(Program(program.text, ast.Module(self._own, [])), kernel)
        self._parents = {child: parent for one in self._own for child, parent in parents_of(one).items()}

    def program(self) -> Program:
        """The changed program."""
        for one in self._own:
            ast.fix_missing_locations(one)
        return Program(self._program.text, self.tree, self._program.findings)

    def walk(self) -> Iterator[ast.AST]:
        """Every node that may be changed: the kernel, and the functions of the module beside it."""
        for one in self._own:
            yield from ast.walk(one)

    def twin(self, node: ast.AST) -> ast.AST | None:
        """The copy of a node of the original tree."""
        if not self._twins:
            for old, new in self._pairs:
                self._twins |= dict(zip(ast.walk(old), ast.walk(new), strict=True))
        return self._twins.get(node)

    def span(self, node: ast.AST) -> Span:
        """The node's place in the text."""
        return self._program.span(node)

    # -- finding places ------------------------------------------------------------------------

    def at(self, span: Span | None, *kinds: type[ast.AST]) -> ast.AST | None:
        """The node of one of the kinds with exactly that span, else the outermost one on its line."""
        if span is None:
            return None
        nodes = [node for node in self.walk() if isinstance(node, kinds) and hasattr(node, "lineno")]
        exact = next((node for node in nodes if self._program.span(node) == span), None)
        on_line = [node for node in nodes if getattr(node, "lineno", 0) == span.line]
        return exact or (on_line[0] if on_line else None)

    def chain(self, node: ast.AST) -> list[ast.AST]:
        """The node and its ancestors, outermost first."""
        chain = [node]
        while chain[-1] in self._parents:
            chain.append(self._parents[chain[-1]])
        return chain[::-1]

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds the node."""
        return next((one for one in reversed(self.chain(node)) if isinstance(one, ast.stmt)), None)

    def block_of(self, statement: ast.stmt) -> Block | None:
        """The list of statements that the statement stands in."""
        parent = self._parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and any(one is statement for one in block):
                return block
        return None

    # -- barriers ------------------------------------------------------------------------------

    def barrier(self) -> ast.stmt:
        """A new barrier, spelled as the kernel spells its others."""
        for node in self.walk():
            if isinstance(node, ast.Expr) and is_barrier(node):
                return ast.Expr(copy.deepcopy(node.value))
        call = ast.Call(ast.Attribute(ast.Name("cuda", ast.Load()), "syncthreads", ast.Load()), [], [])
        return ast.Expr(call)

    def barrier_places(self, first: Span | None, second: Span | None) -> Iterator[tuple[Block, int]]:
        """Where a barrier separates two accesses, innermost first: (block, index to insert at).

        Between them where the second follows in the text; else, and also, after the later of them, so
        that the next round of their loop starts behind a barrier.
        """
        nodes = [node for span in (first, second) if (node := self.at(span, ast.expr, ast.stmt)) is not None]
        if len(nodes) < 2:
            return
        ends = [[one for one in self.chain(node) if isinstance(one, ast.stmt)] for node in nodes]
        common = [one for one in ends[0] if any(one is other for other in ends[1])]
        for depth in range(len(common), 0, -1):
            inner = [end[depth] if len(end) > depth else end[depth - 1] for end in ends]
            block = self.block_of(inner[0])
            if block is None or not any(one is inner[1] for one in block):
                continue
            places = [next(i for i, one in enumerate(block) if one is node) for node in inner]
            if places[0] < places[1]:
                yield block, places[1]
            yield block, max(places) + 1
            yield block, len(block)

    def lift_barrier(self, span: Span | None) -> bool:
        """Move a barrier out of the ``if`` around it; what follows it there goes into a second ``if``."""
        node = self.at(span, ast.expr, ast.stmt)
        barrier = self.statement(node) if node is not None else None
        branch = self._parents.get(barrier) if barrier is not None else None
        if barrier is None or not isinstance(branch, ast.If):
            return False
        inside, outside = self.block_of(barrier), self.block_of(branch)
        if inside is None or outside is None:
            return False
        place = inside.index(barrier)
        after = inside[place + 1 :]
        del inside[place:]
        moved: Block = [barrier]
        if after:
            test: ast.expr = copy.deepcopy(branch.test)
            moved.append(ast.If(test if inside is branch.body else ast.UnaryOp(ast.Not(), test), after, []))
        if not inside and inside is branch.body:
            inside.append(ast.Pass())
        position = next(i for i, one in enumerate(outside) if one is branch)
        outside[position + 1 : position + 1] = moved
        return True

    # -- guards --------------------------------------------------------------------------------

    def fill_zero(self, guard: Span | None) -> bool:
        """Give the ``if`` with that test an ``else`` that writes zero where its body stores."""
        branch = self._branch(guard)
        if branch is None:
            return False
        targets = [
            statement.targets[0]
            for statement in branch.body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)
        ]
        while len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
            branch = branch.orelse[0]
        zeros: Block = [ast.Assign([copy.deepcopy(target)], ast.Constant(0)) for target in targets]
        branch.orelse = [*branch.orelse, *zeros]
        return bool(zeros)

    def _branch(self, guard: Span | None) -> ast.If | None:
        node = self.at(guard, ast.If) if guard is not None else None
        for candidate in self.walk():
            if (
                isinstance(candidate, ast.If)
                and guard is not None
                and self._program.span(candidate.test) == guard
            ):
                return candidate
        return node if isinstance(node, ast.If) else None

    def guard_store(self, span: Span | None) -> bool:
        """Put a store under a test that its indices are within the array."""
        target = self.at(span, ast.Subscript)
        if not isinstance(target, ast.Subscript):
            statement = self.at(span, ast.Assign, ast.AugAssign)
            target = getattr(statement, "targets", [getattr(statement, "target", None)])[0]
        statement = self.statement(target) if isinstance(target, ast.Subscript) else None
        block = self.block_of(statement) if statement is not None else None
        if statement is None or block is None or not isinstance(target, ast.Subscript):
            return False
        block[block.index(statement)] = ast.If(within(target), [statement], [])
        return True

    def guard_load(self, span: Span | None) -> bool:
        """Replace a load by zero where its indices leave the array."""
        load = self.at(span, ast.Subscript)
        if not isinstance(load, ast.Subscript) or not isinstance(load.ctx, ast.Load):
            return False
        return self.replace(load, ast.IfExp(within(load), load, ast.Constant(0)))

    def guard_exactly(self, test: Span, access: ast.Subscript) -> bool:
        """Replace a test by one of the indices of the access that it guards."""
        old, target = self.at(test, ast.expr), self.twin(access)
        if not isinstance(old, ast.expr) or not isinstance(target, ast.Subscript):
            return False
        return self.replace(old, within(target))

    def move_before_loops(self, span: Span) -> bool:
        """Move a statement out of the outermost loop around it."""
        statement = self.at(span, ast.stmt)
        loops = [one for one in self.chain(statement) if isinstance(one, ast.For | ast.While)] if statement else []
        block = self.block_of(statement) if isinstance(statement, ast.stmt) else None
        outside = self.block_of(loops[0]) if loops else None
        if block is None or outside is None or not isinstance(statement, ast.stmt) or len(block) < 2:
            return False
        block.remove(statement)
        outside.insert(next(i for i, one in enumerate(outside) if one is loops[0]), statement)
        return True

    def keep_threads(self, leaving: Span | None, *, loads: bool = False) -> bool:
        """Turn ``if test: return`` into a guard of every later store to a global array.

        The threads that used to leave then do their share of the loads, whose own guards see to the
        edges. With ``loads`` they put zeros into shared memory instead, for kernels without such guards.
        """
        node = self.at(leaving, ast.Return, ast.If)
        branch = node if isinstance(node, ast.If) else self._parents.get(node) if node is not None else None
        block = self.block_of(branch) if isinstance(branch, ast.If) else None
        if not isinstance(branch, ast.If) or block is None or self.kernel is None or branch.orelse:
            return False
        if len(branch.body) != 1 or not isinstance(branch.body[0], ast.Return):
            return False
        place = block.index(branch)
        live = "_inside_"
        block[place] = ast.Assign([ast.Name(live, ast.Store())], ast.UnaryOp(ast.Not(), branch.test))
        parameters = {arg.arg for arg in self.kernel.args.args}
        guarded = StoresGuarded(live, parameters, loads)
        for statement in block[place + 1 :]:
            guarded.visit(statement)
        block[place + 1 :] = [guarded.top(one) for one in block[place + 1 :]]
        return True

    # -- expressions ---------------------------------------------------------------------------

    def replace(self, old: ast.AST, new: ast.AST) -> bool:
        """Put one node in another's place."""
        parent = self._parents.get(old)
        for name, value in ast.iter_fields(parent) if parent is not None else ():
            if value is old:
                setattr(parent, name, new)
                return True
            if isinstance(value, list) and any(one is old for one in value):
                value[next(i for i, one in enumerate(value) if one is old)] = new
                return True
        return False

    def swap_indices(self, subscript: ast.Subscript) -> bool:
        """``A[i, j]`` becomes ``A[j, i]``."""
        index = subscript.slice
        if not isinstance(index, ast.Tuple) or len(index.elts) != 2:
            return False
        index.elts.reverse()
        return True
