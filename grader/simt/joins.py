"""Where paths meet: variables move to the slots of the types that they have from there on."""

from __future__ import annotations

import ast

from grader.simt.context import UNSET, Context, Frame, Run
from grader.simt.mask import Active, Dead, State
from grader.simt.steps import Body
from grader.simt.types import Clash, Kind, Scalar, Tuple, plain
from grader.simt.values import cast
from grader.simt.variables import assign


def leaves(nodes: list[ast.stmt]) -> bool:
    """Whether no thread gets past the end of these statements."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    return isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise)


def convert_kinds(context: Context, start: dict[str, Kind], target: dict[str, Kind]) -> list[Run]:
    """Closures that move variables to the slots of the types they have where paths meet."""
    moves: list[Run] = []
    for name, kind in start.items():
        wanted = target.get(name)
        if wanted is None or plain(wanted) == plain(kind) or isinstance(wanted, Clash):
            continue
        if isinstance(kind, Scalar) and isinstance(wanted, Scalar):
            source, into, code = context.slot(name, kind), context.slot(name, wanted), wanted.code
            if source != into:
                moves.append(_move(source, into, code))
        elif isinstance(kind, Tuple) and isinstance(wanted, Tuple):
            moves.append(_convert_tuple(context.slot(name, kind), kind, wanted))
    return moves


def _move(source: int, into: int, code: str) -> Run:
    def execute(fr: Frame, m: Active) -> None:
        value = fr.values[source]
        if value is not UNSET:
            assign(fr, into, cast(value, code), m)

    return execute


def _convert_tuple(slot: int, kind: Tuple, wanted: Tuple) -> Run:
    """Items of a tuple change their type in place: all tuples of a name share a slot."""
    codes = [
        want.code if isinstance(have, Scalar) and isinstance(want, Scalar) and have.code != want.code else ""
        for have, want in zip(kind.items, wanted.items, strict=True)
    ]

    def execute(fr: Frame, m: Active) -> None:
        value = fr.values[slot]
        if value is not UNSET:
            items = zip(value, codes, strict=True)
            assign(fr, slot, tuple([cast(item, code) if code else item for item, code in items]), m)

    return execute


def with_moves(body: Body, moves: list[Run]) -> Body:
    """``body`` followed by the moves, for the threads that reach its end."""
    if not moves:
        return body

    def execute(fr: Frame, m: Active) -> State:
        state = body(fr, m)
        if type(state) is not Dead:
            for move in moves:
                move(fr, state)  # type: ignore[arg-type]
        return state

    return execute
