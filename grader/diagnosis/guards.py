"""The tests under which a piece of code runs: of ``if``, ``a if b else c``, ``and`` and ``while``."""

from __future__ import annotations

import ast
from itertools import pairwise

from grader.diagnosis import source
from grader.diagnosis.grammar import listing, quote
from grader.records import Span

_LEAVES = (ast.Return, ast.Continue, ast.Break)


def around(lines: source.Lines, span: Span | None) -> tuple[str, ...]:
    """What has to be true for the code at a span to run, in its function, from the outside inwards.

    A test whose other side holds the code reads ``not (test)``. The tests of ``while`` loops are given only
    where there is no other, and ``while True`` is none.
    """
    chain = source.enclosing(lines, span)
    tests: list[str] = []
    loops: list[str] = []
    for outer, inner in pairwise(chain):
        if isinstance(outer, ast.FunctionDef | ast.Lambda):
            tests, loops = [], []
        elif isinstance(outer, ast.While):
            if inner in outer.body and not isinstance(outer.test, ast.Constant):
                loops.append(source.node_text(lines, outer.test))
        else:
            tests.extend(_tests(lines, outer, inner))
    return tuple(tests or loops)


def _tests(lines: source.Lines, outer: ast.AST, inner: ast.AST) -> list[str]:
    """What a node asks before it comes to one of its children."""
    if isinstance(outer, ast.If | ast.IfExp):
        text = source.node_text(lines, outer.test)
        then = outer.body if isinstance(outer.body, list) else [outer.body]
        if any(inner is one for one in then):
            return [text]
        return [] if inner is outer.test else [f"not ({text})"]
    if isinstance(outer, ast.BoolOp):
        before = outer.values[: next((at for at, one in enumerate(outer.values) if one is inner), 0)]
        texts = [source.node_text(lines, one) for one in before]
        return texts if isinstance(outer.op, ast.And) else [f"not ({text})" for text in texts]
    return []


def none_at_all(lines: source.Lines, span: Span | None, kernel: str) -> bool:
    """Whether nothing keeps a thread from the code at a span: no test around it, no way out above it.

    False too in a function that is called, where the caller may test, and where the text does not parse.
    """
    chain = source.enclosing(lines, span)
    function = source.innermost(chain, ast.FunctionDef)
    if function is None or span is None or around(lines, span) or (kernel and function.name != kernel):
        return False
    return not way_out(lines, span)


def way_out(lines: source.Lines, span: Span | None) -> bool:
    """Whether more than the tests around a span may keep a thread from it.

    A thread may leave its function or its loop above it, or the function may be called under a test.
    """
    chain = source.enclosing(lines, span)
    function = source.innermost(chain, ast.FunctionDef)
    if function is None or span is None:
        return False
    if function.name in {_called(node) for node in ast.walk(chain[0])}:
        return True
    return any(isinstance(node, _LEAVES) and node.lineno <= span.line for node in ast.walk(function))


def _called(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def named(tests: tuple[str, ...]) -> str:
    """The tests in a sentence, each quoted."""
    return listing([quote(test) for test in tests])
