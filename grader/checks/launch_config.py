"""The grid and block that a submission's own function returns, judged before they are used."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.checks.places import function_node
from grader.records import Fact, Finding, Span
from grader.simt import Program

__all__ = ["Config", "returned_grid", "student_config"]

LARGEST_AXIS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Config:
    """A launch configuration, x first."""

    grid: tuple[int, ...]
    block: tuple[int, ...]


def student_config(
    program: Program, name: str, sizes: tuple[int, ...]
) -> tuple[Config | None, tuple[Finding, ...]]:
    """Call the submission's function on the sizes, without running it as Python.

    ``bad-launch-config`` has the facts function, rule (missing, host-error, not-a-pair, not-integers,
    not-positive, axis-count, too-many-blocks), got (text of what it returned) and detail.
    """
    node = function_node(program, name)
    if node is None:
        return None, (_bad(None, name, "missing"),)
    value, findings = program.evaluate(name, sizes)
    if findings:
        first = findings[0]
        detail = str(first.facts.get("detail") or first.facts.get("rule") or "")
        return None, (_bad(first.primary or program.span(node), name, "host-error", detail=detail),)
    place = _return_span(program, node)
    if not isinstance(value, tuple | list) or len(value) != 2:
        return None, (_bad(place, name, "not-a-pair", got=value),)
    axes: list[tuple[int, ...]] = []
    for part in value:
        rule, numbers = _axes(part)
        if rule:
            return None, (_bad(place, name, rule, got=value),)
        axes.append(numbers)
    return Config(axes[0], axes[1]), ()


def returned_grid(program: Program, name: str, part: str = "grid") -> Span | None:
    """Where the function says how many blocks there are: the value bound to ``grid``, else its return.

    ``part`` may be "block" for the value bound to that name.
    """
    node = function_node(program, name)
    if node is None:
        return None
    for statement in ast.walk(node):
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == part for t in statement.targets
        ):
            return program.span(statement.value)
    return _return_span(program, node)


def _axes(part: Any) -> tuple[str, tuple[int, ...]]:
    """(broken rule or "", the axes); an integer alone is one axis, as for numba."""
    items = tuple(part) if isinstance(part, tuple | list) else (part,)
    if not 1 <= len(items) <= 3:
        return "axis-count", ()
    if any(isinstance(item, bool) or not isinstance(item, int | np.integer) for item in items):
        return "not-integers", ()
    numbers = tuple(int(item) for item in items)
    if min(numbers) < 1:
        return "not-positive", ()
    return ("too-many-blocks", ()) if max(numbers) > LARGEST_AXIS else ("", numbers)


def _return_span(program: Program, node: ast.FunctionDef) -> Span:
    returns = [one for one in ast.walk(node) if isinstance(one, ast.Return)]
    return program.span(returns[-1]) if returns else program.span(node)


def _bad(span: Span | None, name: str, rule: str, *, got: Any = None, detail: str = "") -> Finding:
    facts: dict[str, Fact] = {"function": name, "rule": rule}
    if rule not in ("missing", "host-error"):
        facts["got"] = repr(got)[:80]
    if detail:
        facts["detail"] = detail[:200]
    return Finding("bad-launch-config", "error", primary=span, facts=facts)
