"""Wording for a launch that was stopped because its budget of operations was used up."""

from __future__ import annotations

import ast

from grader.diagnosis import source
from grader.diagnosis.evidence import Evidence, loop_values
from grader.diagnosis.grammar import listing, plural, quote
from grader.diagnosis.wording import Wording


def did_not_finish(evidence: Evidence) -> Wording:
    """Write up the loop that a launch was in when its budget of operations was used up."""
    operations = evidence.count("operations")
    budget = plural(operations, "operation") if operations is not None else "its budget of operations"
    chain = source.enclosing(evidence.lines, evidence.finding.primary)
    loop = source.innermost(chain, ast.While, ast.For)
    if isinstance(loop, ast.For):
        return _ran_out(evidence, quote(source.head(evidence.lines, loop)), budget)
    head = quote(source.head(evidence.lines, loop)) if isinstance(loop, ast.While) else "a loop"
    outer = loop_values(tuple(pair for pair in evidence.finding.loops if pair[0] != "while"))
    fixed = source.unchanged_names(loop) if isinstance(loop, ast.While) else ()
    names = listing([quote(name) for name in fixed], "or")
    return Wording(
        headline=f"{head} was still running after {budget}",
        primary=f"nothing in the loop changes {names}" if names else "this loop does not end in time",
        seen=(evidence.shape(), f"stopped after {budget}" + (f", when {outer}" if outer else "")),
        because="a kernel ends when every thread has left its loops; "
        "a thread that stays in one holds its block for ever",
        hints=(
            f"what makes {head} stop?",
            f"follow the names in its test: is {names} ever assigned inside?" if names else _pointer(loop),
            f"change {names} inside the loop that starts{evidence.on_line()}, so that the test becomes false"
            if names
            else f"make each round of the loop{evidence.on_line()} come nearer to its end, for every thread",
        ),
    )


def _pointer(loop: ast.AST | None) -> str:
    """Where to look at a loop whose names do change: at its test, or at the ways out of it."""
    if not (isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)):
        return "follow the names in its test through one round: does every thread come nearer to the end?"
    ways_out = _ways_out(loop)
    if not ways_out:
        return "its test is always true, and nothing in it leaves it"
    at = f"line{'s' if len(ways_out) > 1 else ''} {listing([str(line) for line in ways_out], 'or')}"
    return f"its test is always true: when does each thread come to the way out on {at}?"


def _ways_out(loop: ast.While) -> tuple[int, ...]:
    """The lines of the ``break`` and ``return`` that end a ``while``; inner loops keep their ``break``."""
    waiting: list[ast.AST] = list(loop.body)
    lines: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.For | ast.While):
            waiting += node.orelse
            lines |= {one.lineno for one in ast.walk(node) if isinstance(one, ast.Return)}
        elif isinstance(node, ast.Break | ast.Return):
            lines.add(node.lineno)
        else:
            waiting += ast.iter_child_nodes(node)
    return tuple(sorted(lines))


def _ran_out(evidence: Evidence, head: str, budget: str) -> Wording:
    """For a ``for`` loop: it has an end that each round comes nearer to, so only the budget was too small."""
    outer = loop_values(tuple(pair for pair in evidence.finding.loops if pair[0] != "while"))
    return Wording(
        headline=f"{head} was not done when the budget of {budget} was used up",
        primary="the budget ran out in this loop",
        seen=(evidence.shape(), f"stopped after {budget}" + (f", when {outer}" if outer else "")),
        because="this loop has an end, but a launch may take only so many rounds of its loops, which is far "
        "more than a kernel needs that divides the work among its threads; whether the result would be right "
        "is not known",
        hints=(
            f"how many rounds of {head} does one thread make, all loops around it counted?",
            "how many threads are launched, and how many of them have work to do?",
            "give each thread one element of the output, or a few, in place of a loop over all of them"
            f"{evidence.on_line(': see line ')}",
        ),
    )
