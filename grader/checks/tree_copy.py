"""A copy of a program's tree that may be changed, and the finding of places in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from grader.checks.places import function_node, reached_functions
from grader.records import Span
from grader.simt import Program

__all__ = ["Block", "TreeCopy"]

Block = list[ast.stmt]

_SHARED = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


class TreeCopy:
    """A copy of a program's tree that is being changed.

    Copied are the named functions, the kernel first, and what they call; the rest is the original's.
    """

    def __init__(self, program: Program, *functions: str | None) -> None:
        kernel = functions[0] or ""
        self._program = program
        self._twins: dict[ast.AST, ast.AST] = {}
        self._parents: dict[ast.AST, ast.AST] = {}
        touched = reached_functions(program.tree, functions)
        # What no repair touches, say a main(), is shared with the original and never changed.
        body = [self._copied(one) if id(one) in touched else one for one in program.tree.body]
        self._own = [one for old, one in zip(program.tree.body, body, strict=True) if one is not old]
        self.tree = ast.Module(body, program.tree.type_ignores)
        self.kernel = function_node(Program(program.text, ast.Module(self._own, [])), kernel)

    def _copied(self, node: Any) -> Any:
        """A copy of a node and all below it, each with its parent and its original noted.

        Nodes hold nothing but nodes, lists of them and plain values, so this takes a fifth of the
        time of ``copy.deepcopy``. Contexts and operators are never changed in place, and are shared.
        """
        if isinstance(node, list):
            return [self._copied(one) for one in node]
        if not isinstance(node, ast.AST) or isinstance(node, _SHARED):
            return node
        copied = type(node).__new__(type(node))
        for name, value in vars(node).items():
            plain = type(value) is int or type(value) is str or value is None
            made = value if plain else self._copied(value)
            vars(copied)[name] = made
            for child in made if isinstance(made, list) else (made,):
                if isinstance(child, ast.AST) and not isinstance(child, _SHARED):
                    self._parents[child] = copied
        self._twins[node] = copied
        return copied

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
