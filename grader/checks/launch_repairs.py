"""How a kernel is spread over threads, repaired: the block's size, the order of ``cuda.grid``'s numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.checks.launch_config import returned_grid
from grader.checks.launching import Launcher, Trial
from grader.checks.places import function_node
from grader.checks.repairs import Repair
from grader.checks.rewrite import Edit
from grader.checks.spots import Spot, spot
from grader.records import Fact, Finding, Span

__all__ = ["block_sizes", "grid_orders"]

TILE = "TILE"


def block_sizes(launcher: Launcher, trial: Trial) -> Iterator[tuple[Finding, Repair]]:
    """A block of TILE x TILE in place of the submission's own, and the finding that this would confirm.

    ``bad-launch-config`` with the facts rule ("block-size"), function, got and wanted (texts).
    """
    name, config = launcher.kernel.launch.from_, trial.config
    tile = launcher.constants.get(TILE)
    if name is None or config is None or tile is None or config.block == (tile, tile):
        return
    place = _block_place(launcher, name)
    if place is None:
        return
    span, wanted = place, f"({TILE}, {TILE})"

    def apply(edit: Edit) -> bool:
        old = edit.at(span, ast.expr)
        return old is not None and edit.replace(old, ast.parse(wanted, mode="eval").body)

    facts: dict[str, Fact] = {"rule": "block-size", "function": name, "wanted": wanted}
    facts |= {"got": str(config.block), "shape": tuple(trial.shape.dims.items())}
    finding = Finding("bad-launch-config", "error", span, facts=facts)
    yield finding, Repair("block-size", span.line, apply, wanted)


def _block_place(launcher: Launcher, name: str) -> Span | None:
    """The value bound to ``block``, else the second part of what the function returns."""
    span, node = returned_grid(launcher.program, name, "block"), function_node(launcher.program, name)
    for found in ast.walk(node) if node is not None else ():
        match found:
            case ast.Return(value=ast.Tuple(elts=[_, block])) if launcher.program.span(found) == span:
                return launcher.program.span(block)
            case ast.Assign(value=value) if launcher.program.span(value) == span:
                return span
    return None


def grid_orders(functions: list[ast.FunctionDef]) -> Iterator[Spot]:
    """The two names that ``cuda.grid(2)`` is unpacked into, exchanged: x comes first."""
    for node in (node for function in functions for node in ast.walk(function)):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name() as first, ast.Name() as second]) as names],
                value=ast.Call(
                    func=ast.Attribute(attr="grid") | ast.Name(id="grid"), args=[ast.Constant(value=2)]
                ),
            ):
                yield spot("grid-order", names, f"{second.id}, {first.id}", _reversed)


def _reversed(edit: Edit, span: Span) -> bool:
    names = edit.at(span, ast.Tuple)
    if isinstance(names, ast.Tuple):
        names.elts.reverse()
    return isinstance(names, ast.Tuple)
