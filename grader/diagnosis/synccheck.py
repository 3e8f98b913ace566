"""Wording for barriers that not every thread of the block takes part in."""

from __future__ import annotations

import ast

from grader.diagnosis import picture, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import number, part, plural, quote
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.wording import Wording, Writer


def _divergent_barrier(evidence: Evidence) -> Wording:
    arrived, live, blocks = (evidence.count(key) for key in ("arrived", "live", "blocks"))
    who = f"only {part(arrived, live, 'thread')}" if arrived is not None else "only some threads"
    barrier = evidence.code("the barrier")
    split = evidence.other_code("the branch around it")
    owner = source.test_owner(evidence.lines, evidence.finding.secondary)
    is_loop = isinstance(owner, ast.For | ast.While)
    return Wording(
        headline=f"{who} of a block reach {barrier}",
        primary=f"{_amount(arrived, 'thread arrives', 'threads arrive')} here",
        secondary=_split_label(arrived, live, is_loop),
        seen=(
            evidence.shape(),
            f"{who} wait{' here' if evidence.line is None else evidence.on_line()}{evidence.in_round()}",
            f"met {plural(blocks, 'time')}, over all blocks and rounds" if blocks else "",
        ),
        because="a barrier is for the whole block: every thread that has not returned must reach the same "
        "`cuda.syncthreads()` equally often; otherwise what the kernel does is undefined",
        hints=(
            "is there a thread of the block for which this line is never reached?",
            f"{split}{evidence.on_other_line()} has not the same value for all threads of the block",
            _action(evidence, owner, split),
        ),
        picture=picture.bar(arrived, live, "threads at the barrier", "threads elsewhere"),
        all_the_same="a device may wait for ever, or let threads pass with half-filled shared memory",
    )


def _amount(count: int | None, one: str, several: str) -> str:
    if count is None:
        return f"some {several}"
    return f"{number(count)} {one if count == 1 else several}"


def _split_label(arrived: int | None, live: int | None, is_loop: bool) -> str:
    if arrived is None or live is None or arrived >= live:
        return "not the same for all threads of the block"
    rest = live - arrived
    if is_loop:
        return f"{_amount(rest, 'thread has', 'threads have')} no such round of this loop"
    return f"{_amount(rest, 'thread of the block goes', 'threads of the block go')} the other way here"


def _action(evidence: Evidence, owner: ast.AST | None, split: str) -> str:
    barrier = evidence.code("`cuda.syncthreads()`")
    chain = source.enclosing(evidence.lines, evidence.finding.primary)
    taken = owner.body if isinstance(owner, ast.If) else []
    leaves = [one for one in taken if isinstance(one, ast.Break | ast.Continue)]
    if leaves:
        return (
            f"let all threads of the block leave on line {leaves[0].lineno} in the same round, or none: "
            "guard the work of a round instead"
        )
    if isinstance(owner, ast.If) and owner not in chain:
        return (
            f"let all threads of the block stay until {barrier}{evidence.on_line()}: use the `if` on line "
            f"{owner.lineno} to guard the work, not to leave"
        )
    if isinstance(owner, ast.If):
        after = owner.end_lineno
        where = f"after line {after}, at the depth of the `if` on line {owner.lineno}"
        return f"take {barrier} out of the `if`: put it {where}, so that all threads reach it"
    if isinstance(owner, ast.For | ast.While):
        return (
            f"give all threads of the block the same number of rounds of the loop on line {owner.lineno}, "
            "and guard the work inside instead"
        )
    return f"take {barrier}{evidence.on_line()} out of what {split}{evidence.on_other_line()} decides"


def _exit_before_barrier(evidence: Evidence) -> Wording:
    exited, live, blocks = (evidence.count(key) for key in ("exited", "live", "blocks"))
    total = exited + live if exited is not None and live is not None else None
    who = part(exited, total, "thread") if exited is not None else "some threads"
    guard = source.guard(evidence.lines, evidence.finding.primary)
    test = quote(source.node_text(evidence.lines, guard.test)) if guard is not None else ""
    statement = evidence.code("`return`")
    barrier = f"the barrier{evidence.on_other_line()}"
    return Wording(
        headline=f"{statement} lets {who} leave before {barrier}",
        primary=f"{who} leave here",
        secondary=f"{plural(live, 'thread')} left to take part"
        if live is not None
        else "the barrier they miss",
        seen=(
            evidence.at_shape(),
            f"{who} of a block return{evidence.on_line()}" + (f", where {test} is true" if test else ""),
            f"the same in {plural(blocks, 'block')} of the grid" if blocks else "",
        ),
        because="threads that have returned load no share of the tile, so the threads that stay read slots "
        "nobody filled; and the language asks all threads of a block to reach its barriers",
        hints=(
            "does a thread without an output element still have work to do for its neighbours?",
            f"the threads that leave{evidence.on_line()} would each have filled a slot of the shared tiles",
            _stay_action(evidence, guard, test),
        ),
        picture=picture.bar(exited, total, "threads have returned", "threads at the barrier"),
        why_passed=whole_tiles(
            ["M", "N"],
            evidence.context.settings,
            "there every thread of every block has an element, so none leaves early",
        ),
        all_the_same="newer devices do not wait for threads that returned, but the language promises nothing",
    )


def _stay_action(evidence: Evidence, guard: ast.If | None, test: str) -> str:
    place = f"remove the early return{evidence.on_line()}"
    if guard is not None and test:
        place = f"remove the `if` on line {guard.lineno}"
    return f"{place}; let every thread load and wait, and guard only the store of its result"


WRITERS: dict[str, Writer] = {
    "divergent-barrier": _divergent_barrier,
    "exit-before-barrier": _exit_before_barrier,
}
