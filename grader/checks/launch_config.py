"""The grid and block that a submission's own function returns, judged before they are used."""

from __future__ import annotations

import ast
import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.checks.places import function_node
from grader.records import Fact, Finding, Span
from grader.simt import Program
from grader.simt.host import Unknown

__all__ = ["Config", "returned_grid", "student_config", "unknown_name"]

LARGEST_AXIS = 2**31 - 1
#: Lists that hold one another many times over have a text of any length; this shows its beginning.
_SHORT = reprlib.Repr()
_SHORT.maxlong = _SHORT.maxstring = _SHORT.maxother = 80


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
    not-positive, axis-count, too-many-blocks), got (text of what it returned) and detail: for a
    host-error, the error that Python would raise. What the interpreter cannot follow is an
    ``unsupported-construct`` with its own text and place.
    """
    node = function_node(program, name)
    if node is None:
        return None, (unknown_name(program, name) or _bad(None, name, "missing"),)
    value, findings = program.evaluate(name, sizes)
    if findings:
        return None, (_not_followed(findings[0], name),)
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


def unknown_name(program: Program, name: str) -> Finding | None:
    """``unsupported-construct`` where the module binds the name to what cannot be followed."""
    held = program.scope.get(name)
    if not isinstance(held, Unknown):
        return None
    place = program.binding(name) or held.node
    shown = getattr(place, "value", None) or place
    facts: dict[str, Fact] = {"construct": program.excerpt(shown), "name": name}
    return Finding("unsupported-construct", "error", primary=program.span(shown), facts=facts)


def _not_followed(finding: Finding, name: str) -> Finding:
    construct = finding.facts.get("construct")
    if construct is not None:
        facts: dict[str, Fact] = {"construct": construct, "function": name}
        return Finding("unsupported-construct", "error", primary=finding.primary, facts=facts)
    rule, detail = str(finding.facts.get("rule") or ""), str(finding.facts.get("detail") or "")
    if rule == "type-error":
        detail = f"TypeError: {detail}"
    elif rule in ("did-not-finish", "too-large"):
        detail = rule
    return _bad(finding.primary, name, "host-error", detail=detail or rule)


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
        facts["got"] = _SHORT.repr(got)[:80]
    if detail:
        facts["detail"] = detail[:200]
    return Finding("bad-launch-config", "error", primary=span, facts=facts)
