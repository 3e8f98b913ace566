"""The repairs that are known for a finding: changes of the tree, each with a kebab code and a line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader.checks.definitions import definitions
from grader.checks.launching import Launcher
from grader.checks.names import own_name
from grader.checks.places import base_name, function_node, header_span, k_loop, parameters
from grader.checks.rewrite import Edit
from grader.records import Finding, Span

__all__ = ["Repair", "repairs_for"]

MOST_PLACES = 4


@dataclass(frozen=True, slots=True)
class Repair:
    """One change. ``line`` is where it is made: for a barrier, the line after which it goes.

    ``text`` is what stands there then, for changes that a line number does not tell. ``place`` is that of
    the cause, for findings that have none of their own.
    """

    code: str
    line: int | None
    apply: Callable[[Edit], bool]
    text: str = ""
    place: Span | None = None


def repairs_for(launcher: Launcher, finding: Finding) -> list[Repair]:
    """What may mend this finding, the likeliest first."""
    primary, secondary = finding.primary, finding.secondary
    line = primary.line if primary is not None else None
    match finding.name:
        case "shared-read-before-barrier" | "shared-overwrite-before-barrier":
            return list(_barriers(launcher, finding))
        case "divergent-barrier":
            return [Repair("lift-barrier", line, lambda edit: edit.lift_barrier(primary))]
        case "exit-before-barrier":
            return [
                Repair("keep-threads", line, lambda edit: edit.keep_threads(primary)),
                Repair("keep-threads", line, lambda edit: edit.keep_threads(primary, loads=True)),
            ]
        case "stale-shared-read" | "uninitialised-shared-read" if secondary is not None:
            return [Repair("fill-zero", secondary.line, lambda edit: edit.fill_zero(secondary))]
        case "out-of-bounds-write":
            return [Repair("guard-store", line, lambda edit: edit.guard_store(primary))]
        case "out-of-bounds-read":
            return [Repair("guard-load", line, lambda edit: edit.guard_load(primary))]
        case "grid-too-small":
            return [*_round_ups(launcher, launcher.kernel.launch.from_), *_grid_swap(launcher)]
        case "dropped-k-tail" | "wrong-result" | "unwritten-output":
            counts = [*_round_ups(launcher, launcher.kernel.name), *_tile_counts(launcher)]
            return [*counts, *_grid_swap(launcher)] if finding.name == "unwritten-output" else counts
        case "repeated-k-tail":
            return list(_tile_counts(launcher))
        case "accumulated-into-output":
            return [Repair("assign-output", line, _assign_output(launcher))]
    return []


def _barriers(launcher: Launcher, finding: Finding) -> Iterator[Repair]:
    first, second = finding.secondary, finding.primary
    probe = Edit(launcher.program, launcher.kernel.name, launcher.kernel.launch.from_)
    seen: set[tuple[int, int]] = set()
    for number, (block, place) in enumerate(probe.barrier_places(first, second)):
        if (id(block), place) in seen or len(seen) >= MOST_PLACES:
            continue
        seen.add((id(block), place))
        before = block[place - 1] if place else None
        line = before.end_lineno if before is not None else block[0].lineno - 1

        def insert(edit: Edit, number: int = number) -> bool:
            places = list(edit.barrier_places(first, second))
            if number >= len(places):
                return False
            places[number][0].insert(places[number][1], edit.barrier())
            return True

        yield Repair("barrier", line, insert)


def _round_ups(launcher: Launcher, function: str | None) -> Iterator[Repair]:
    """Each division that rounds down, rounded up; then all of them together."""
    node = function_node(launcher.program, function) if function is not None else None
    spans = [launcher.program.span(one) for one in ast.walk(node) if _rounds_down(one)] if node else []
    for chosen in (*([span] for span in spans), *([spans] if len(spans) > 1 else [])):

        def apply(edit: Edit, chosen: list[Span] = chosen) -> bool:
            old = [edit.at(span, ast.BinOp, ast.Call) for span in chosen]
            return all(one is not None and _round_up(edit, one) for one in old)

        place = chosen[0] if len(chosen) == 1 else None
        yield Repair("round-up", chosen[0].line, apply, place=place)


def _rounds_down(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(left=ast.BinOp(op=ast.Add() | ast.Sub()), op=ast.FloorDiv()):
            return False
        case ast.BinOp(op=ast.FloorDiv()):
            return True
        case ast.Call(func=ast.Name(id="int" | "round"), args=[ast.BinOp(op=ast.Div())]):
            return True
    return False


def _round_up(edit: Edit, old: ast.AST) -> bool:
    division = old.args[0] if isinstance(old, ast.Call) else old
    if not isinstance(division, ast.BinOp):
        return False
    return edit.replace(old, _ceiling(division.left, division.right))


def _ceiling(size: ast.expr, tile: ast.expr) -> ast.expr:
    above = ast.BinOp(ast.BinOp(size, ast.Add(), tile), ast.Sub(), ast.Constant(1))
    return ast.BinOp(above, ast.FloorDiv(), tile)


def _tile_counts(launcher: Launcher) -> Iterator[Repair]:
    """The k-loop run from 0 for as many rounds as K has tiles."""
    function = function_node(launcher.program, launcher.kernel.name)
    if function is None or "TILE" not in launcher.constants:
        return
    names = parameters(function)
    inputs = tuple(
        own_name(launcher, name)
        for name, arg in launcher.kernel.args.items()
        if arg.role == "array" and not arg.out
    )
    loop = k_loop(function, inputs)
    depth = own_name(launcher, "K") if "K" in launcher.kernel.args else ""
    if not isinstance(loop, ast.For) or depth not in names:
        return
    span = launcher.program.span(loop.iter)

    def apply(edit: Edit) -> bool:
        old = edit.at(span, ast.Call)
        if not isinstance(old, ast.Call) or len(old.args) > 2:
            return False
        rounds = _ceiling(ast.Name(depth, ast.Load()), ast.Name("TILE", ast.Load()))
        return edit.replace(old, ast.Call(ast.Name("range", ast.Load()), [rounds], []))

    yield Repair("tile-count", loop.lineno, apply, place=header_span(launcher.program, loop))


def _grid_swap(launcher: Launcher) -> Iterator[Repair]:
    """The two axes of the grid exchanged."""
    name = launcher.kernel.launch.from_
    node = function_node(launcher.program, name) if name is not None else None
    grids = [one.value for one in definitions(node) if one.name == "grid"] if node is not None else []
    for found in ast.walk(node) if node is not None else ():
        match found:
            case ast.Return(value=ast.Tuple(elts=[grid, _])):
                grids.append(grid)
    for found in ast.walk(node) if node is not None else ():
        if isinstance(found, ast.Tuple) and len(found.elts) == 2:
            if found not in grids and not any(isinstance(one, ast.BinOp) for one in found.elts):
                continue
            span = launcher.program.span(found)

            def apply(edit: Edit, span: Span = span) -> bool:
                pair = edit.at(span, ast.Tuple)
                if isinstance(pair, ast.Tuple):
                    pair.elts.reverse()
                return isinstance(pair, ast.Tuple)

            yield Repair("swap-grid", span.line, apply, place=span)


def _assign_output(launcher: Launcher) -> Callable[[Edit], bool]:
    outputs = {own_name(launcher, name) for name in launcher.kernel.outputs}

    def apply(edit: Edit) -> bool:
        changed = False
        for node in ast.walk(edit.kernel) if edit.kernel is not None else ():
            match node:
                case ast.AugAssign(target=ast.Subscript() as target, op=ast.Add(), value=value):
                    if base_name(target) in outputs:
                        changed |= edit.replace(node, ast.Assign([target], value))
                case ast.Assign(
                    targets=[ast.Subscript() as target],
                    value=ast.BinOp(left=ast.Subscript() as left, right=value),
                ):
                    if base_name(target) in outputs and base_name(left) == base_name(target):
                        node.value = value
                        changed = True
        return changed

    return apply
