"""The names that a function takes from around it, by Python's rules of scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def free_names(function: ast.FunctionDef | ast.Lambda) -> tuple[ast.Name, ...]:
    """Where the body first reads each name that nothing inside the function binds, in the text's order.

    Decorators, defaults and annotations are not part of the body.
    """
    found: dict[str, ast.Name] = {}
    for name in sorted(_free(function), key=lambda node: (node.lineno, node.col_offset)):
        found.setdefault(name.id, name)
    return tuple(found.values())


def _free(scope: ast.AST) -> Iterator[ast.Name]:
    own, inner = _parts(scope)
    elsewhere = {name for node in own if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    bound = {name for node in own for name in _bound(node)} | _parameters(scope)
    bound = (bound | {name for one in inner for name in _walrus(one)}) - elsewhere
    reads = [node for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for name in [*reads, *(name for one in inner for name in _free(one))]:
        if name.id not in bound:
            yield name


def _parts(scope: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """Nodes of the scope itself, and the scopes inside it."""
    own: list[ast.AST] = []
    inner: list[ast.AST] = []
    waiting = _inside(scope)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.AnnAssign):
            own.append(node)
            waiting += [part for part in (node.target, node.value) if part is not None]
        elif isinstance(node, _Scope):
            own.append(node)
            inner.append(node)
            waiting += _around(node)
        elif isinstance(node, _COMPREHENSIONS):
            inner.append(node)
            waiting.append(node.generators[0].iter)
        else:
            own.append(node)
            waiting += ast.iter_child_nodes(node)
    return own, inner


def _inside(scope: ast.AST) -> list[ast.AST]:
    if isinstance(scope, ast.Lambda):
        return [scope.body]
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return list(scope.body)
    first = scope.generators[0].iter if isinstance(scope, _COMPREHENSIONS) else None
    return [
        part
        for child in ast.iter_child_nodes(scope)
        for part in (ast.iter_child_nodes(child) if isinstance(child, ast.comprehension) else (child,))
        if part is not first
    ]


def _around(node: _Scope) -> list[ast.AST]:
    """What a definition evaluates in the scope that it stands in."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]
    defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]
    return [*defaults, *(() if isinstance(node, ast.Lambda) else node.decorator_list)]


def _bound(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            return [node.id]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.split(".")[0] for alias in node.names]
        case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
            return [name]
        case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
            return [name]
    return []


def _parameters(scope: ast.AST) -> set[str]:
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return set()
    spec = scope.args
    starred = [one for one in (spec.vararg, spec.kwarg) if one is not None]
    return {arg.arg for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *starred)}


def _walrus(scope: ast.AST) -> set[str]:
    """Names that ``:=`` in a comprehension binds around it."""
    if not isinstance(scope, _COMPREHENSIONS):
        return set()
    return {
        part.target.id
        for part in ast.walk(scope)
        if isinstance(part, ast.NamedExpr) and isinstance(part.target, ast.Name)
    }
