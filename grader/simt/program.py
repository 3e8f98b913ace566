"""A submission's text, parsed and never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from grader.records import Fact, Finding, Span
from grader.simt.host import Budget, Function, HostError, Interpreter, Path, Unknown, span_of
from grader.simt.host_discarded import cannot_follow
from grader.simt.misplaced import find_misplaced
from grader.simt.module_scope import module_scope
from grader.simt.nesting import deepest_line, too_deep


class NotConstant(LookupError):
    """A module name that has no value the scalar interpreter can know."""


@dataclass(eq=False)
class Program:
    """One submission. ``findings`` holds a ``syntax-error`` where the text does not parse."""

    text: str
    tree: ast.Module
    findings: tuple[Finding, ...] = ()
    compiled: dict[Any, Any] = field(default_factory=dict, repr=False)
    found: dict[str, Function | None] = field(default_factory=dict, repr=False)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The text, line by line."""
        return tuple(self.text.splitlines())

    @cached_property
    def scope(self) -> dict[str, Any]:
        """What every module-level name holds, as far as plain scalar code tells."""
        return module_scope(self.tree)

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the module's functions, in order of definition."""
        return tuple(name for name, value in self.scope.items() if isinstance(value, Function))

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the functions that ``cuda.jit`` decorates, device functions left out."""
        return tuple(
            name
            for name, value in self.scope.items()
            if isinstance(value, Function) and value.jit and not value.device
        )

    def with_tree(self, tree: ast.Module) -> Program:
        """The same submission with another tree, say a repaired one; spans stay those of the text."""
        return Program(self.text, ast.fix_missing_locations(tree), self.findings)

    def span(self, node: ast.AST) -> Span:
        """The node's place in the text."""
        return span_of(node, self.lines)

    def excerpt(self, node: ast.AST) -> str:
        """The first line of the node's own text, 80 characters of it at most."""
        text = ast.get_source_segment(self.text, node) or ast.unparse(node)
        return text.lstrip().split("\n")[0].rstrip()[:80]

    def constant(self, name: str) -> Any:
        """The value of a module-level name; :class:`NotConstant` where it has none or none is known."""
        value = self.scope.get(name, None)
        if name not in self.scope or isinstance(value, Unknown | Function | Path):
            raise NotConstant(name)
        return value

    def evaluate(self, name: str, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Finding, ...]]:
        """Call a plain function of the module on plain values: (result, findings)."""
        function = self.function(name, {})
        if function is None:
            return None, (Finding("missing-function", "error", facts={"name": name}),)
        interpreter = Interpreter((self.scope,), Budget())
        try:
            return interpreter.call(function.node, function, list(arguments), {}), ()
        except HostError as error:
            node = error.node if error.node is not None else function.node
            facts: dict[str, Fact] = {"rule": error.reason, "detail": error.detail, "name": name}
            if cannot_follow(error):
                facts["construct"] = self.excerpt(node)
            return None, (Finding("host-error", "error", primary=self.span(node), facts=facts),)
        except RecursionError:
            place = self.span(function.node)
            facts = {"rule": "did-not-finish", "detail": "", "name": name}
            return None, (Finding("host-error", "error", primary=place, facts=facts),)

    def literal(self, name: str) -> tuple[Any, Span | None, tuple[Finding, ...]]:
        """A literal assigned to ``name`` at module level: (value, its place, findings)."""
        node = _last_assignment(self.tree, name)
        if node is None:
            return None, None, ()
        try:
            return ast.literal_eval(node), self.span(node), ()
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            facts = {"name": name}
            return None, self.span(node), (Finding("not-a-literal", "error", self.span(node), facts=facts),)

    def function(self, name: str, constants: Mapping[str, Any]) -> Function | None:
        """The function that ``name`` holds; where the module never binds it, one nested in a factory.

        A definition on a branch that cannot be decided counts as taken. A name that is deleted, or
        that holds anything else, holds no function.
        """
        if name not in self.found:
            self.found[name] = self._function(name)
        found = self.found[name]
        if found is not None and constants:
            return replace(found, scopes=(dict(constants), *found.scopes))
        return found

    def _function(self, name: str) -> Function | None:
        found = self.scope.get(name)
        node: ast.AST | None = None
        if isinstance(found, Unknown):
            node = found.node
        elif self.binding(name) is None:
            node = _nested(self.tree, name)
        if isinstance(node, ast.FunctionDef):
            found = Interpreter((dict(self.scope), self.scope)).define(node)
        return found if isinstance(found, Function) else None

    def binding(self, name: str) -> ast.stmt | None:
        """The last statement outside functions that binds the name or deletes it."""
        found = None
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.stmt) and _binds(node, name):
                found = node if found is None or node.lineno >= found.lineno else found
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.expr)]
        return found


def _binds(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.Import | ast.ImportFrom):
        return any((alias.asname or alias.name.split(".")[0]) == name for alias in node.names)
    parts = [node.target] if isinstance(node, ast.For | ast.AnnAssign | ast.AugAssign) else []
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else parts
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store | ast.Del)
        for target in targets
        for part in ast.walk(target)
    )


def _nested(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """The last function of that name which is defined inside another."""
    outer = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = None
    for one in outer:
        for node in ast.walk(one):
            if isinstance(node, ast.FunctionDef) and node is not one and node.name == name:
                found = node
    return found


@lru_cache(maxsize=64)
def parse_text(text: str) -> Program:
    """Parse a submission. Never raises: bad text gives a program with a ``syntax-error``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        end = (error.end_lineno or line, error.end_offset or column + 1)
        span = Span(line, max(column, 1), end[0], max(end[1], column + 1) if end[0] == line else end[1])
        return _broken(text, span, error.msg or "")
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        if isinstance(error, RecursionError | MemoryError):
            return _broken(text, deepest_line(text), "nested too deeply")
        return _broken(text, Span(1, 1, 1, 2), str(error))
    deep = too_deep(tree)
    if deep is not None:
        return _broken(text, span_of(deep, tuple(text.splitlines())), "nested too deeply")
    misplaced = find_misplaced(tree)
    if misplaced is not None:
        node, message = misplaced
        return _broken(text, span_of(node, tuple(text.splitlines())), message)
    return Program(text, tree)


def parse(source: str | Program) -> Program:
    """The program of a source text; a program is given back as it is."""
    return source if isinstance(source, Program) else parse_text(source)


def _broken(text: str, span: Span, message: str) -> Program:
    finding = Finding("syntax-error", "error", primary=span, facts={"message": message})
    return Program(text, ast.Module([], []), (finding,))


def _last_assignment(tree: ast.Module, name: str) -> ast.expr | None:
    found = None
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found = node.value if name in targets else found
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            found = node.value or found
    return found
