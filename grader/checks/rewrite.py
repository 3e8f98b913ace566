"""Small edits of a kernel's tree, in memory: the moves that repairs are made of.

An edit works on its own copy of the program's tree; places are given as spans of the text, which
the copied nodes keep. Every move returns whether it found what it was to change.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator

from grader.checks.guards import StoresGuarded, is_barrier, within
from grader.checks.tree_copy import Block, TreeCopy
from grader.records import Span

__all__ = ["Edit"]

#: Calls within calls that an access is looked for behind.
MOST_CALLS = 4


class Edit(TreeCopy):
    """The moves that repairs are made of, on a copy of the tree."""

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
        that the next round of their loop starts behind a barrier. An access in a device function is also
        looked for where the kernel calls the function.
        """
        nodes = [node for span in (first, second) if (node := self.at(span, ast.expr, ast.stmt)) is not None]
        if len(nodes) < 2:
            return
        yield from self._places_between(nodes)
        called = [list(self._seen_from_kernel(node)) for node in nodes]
        for pair in itertools.product(*called):
            if any(one is not node for one, node in zip(pair, nodes, strict=True)):
                yield from self._places_between(list(pair))

    def _seen_from_kernel(self, node: ast.AST, depth: int = 0) -> Iterator[ast.AST]:
        """Where the kernel itself comes to a node: at it, or at the calls of the function around it."""
        around = next((one for one in reversed(self.chain(node)) if isinstance(one, ast.FunctionDef)), None)
        if around is None or around is self.kernel:
            yield node
        elif depth < MOST_CALLS:
            for one in self.walk():
                if (
                    isinstance(one, ast.Call)
                    and isinstance(one.func, ast.Name)
                    and one.func.id == around.name
                ):
                    yield from self._seen_from_kernel(one, depth + 1)

    def _places_between(self, nodes: list[ast.AST]) -> Iterator[tuple[Block, int]]:
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

    def guard_each(self, guard: ast.If, loads: list[ast.Subscript]) -> bool:
        """Put each load of a guard's body under a test of its own, with zero beside it, for all threads."""
        branch, twins = self.twin(guard), [self.twin(one) for one in loads]
        block = self.block_of(branch) if isinstance(branch, ast.If) else None
        if block is None or not isinstance(branch, ast.If):
            return False
        for load in twins:
            if not isinstance(load, ast.Subscript):
                return False
            if not self.replace(load, ast.IfExp(within(load), load, ast.Constant(0))):
                return False
        place = next(i for i, one in enumerate(block) if one is branch)
        block[place : place + 1] = branch.body
        return True

    def move_before_loops(self, span: Span) -> bool:
        """Move a statement out of the outermost loop around it."""
        statement = self.at(span, ast.stmt)
        loops = (
            [one for one in self.chain(statement) if isinstance(one, ast.For | ast.While)]
            if statement
            else []
        )
        block = self.block_of(statement) if isinstance(statement, ast.stmt) else None
        outside = self.block_of(loops[0]) if loops else None
        if block is None or outside is None or not isinstance(statement, ast.stmt) or len(block) < 2:
            return False
        block.remove(statement)
        outside.insert(next(i for i, one in enumerate(outside) if one is loops[0]), statement)
        return True

    def insert_after(self, span: Span, code: str) -> bool:
        """Put a statement behind the one that stands there."""
        node = self.at(span, ast.stmt)
        block = self.block_of(node) if isinstance(node, ast.stmt) else None
        if node is None or block is None:
            return False
        place = next(i for i, one in enumerate(block) if one is node)
        block[place + 1 : place + 1] = ast.parse(code).body
        return True

    def move_into(self, span: Span, loop: ast.stmt) -> bool:
        """Move a statement to the beginning of a loop of the original tree."""
        statement, into = self.at(span, ast.stmt), self.twin(loop)
        block = self.block_of(statement) if isinstance(statement, ast.stmt) else None
        if block is None or not isinstance(statement, ast.stmt) or not isinstance(into, ast.For | ast.While):
            return False
        if len(block) < 2:
            return False
        block.remove(statement)
        into.body.insert(0, statement)
        self._parents[statement] = into
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

    def swap_indices(self, access: ast.Subscript | ast.Call) -> bool:
        """``A[i, j]`` becomes ``A[j, i]``; of three indices the last two change places; an atomic's too."""
        index = access.slice if isinstance(access, ast.Subscript) else access.args[1]
        if not isinstance(index, ast.Tuple) or len(index.elts) < 2:
            return False
        index.elts[-2:] = index.elts[-2:][::-1]
        return True
