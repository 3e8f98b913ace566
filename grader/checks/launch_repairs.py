"""How a kernel is spread over threads, repaired: the block's size, the order of ``cuda.grid``'s numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from grader.checks.definitions import definitions
from grader.checks.launch_config import returned_grid
from grader.checks.launching import Launcher, Trial
from grader.checks.places import function_node
from grader.checks.repairs import Repair
from grader.checks.rewrite import Edit
from grader.checks.spots import Spot, spot
from grader.records import Fact, Finding, Span

__all__ = ["block_sizes", "grid_orders", "other_blocks"]

TILE = "TILE"
MOST_SIDES = 2


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
    square = f"({TILE}, {TILE})"
    if config.grid[:2] == (tile, tile):
        yield _another(trial, name, place, square), Repair("swap-launch", place.line, _exchange(place))
    for wanted in (*([f"{TILE} * {TILE}"] if _along_x(launcher) else []), square):
        repair = Repair("block-size", place.line, _replacement(place, wanted), wanted)
        yield _another(trial, name, place, wanted), repair


def _another(trial: Trial, function: str, place: Span, wanted: str) -> Finding:
    facts: dict[str, Fact] = {"rule": "block-size", "function": function, "wanted": wanted}
    block = trial.config.block if trial.config is not None else ()
    facts |= {"got": str(block), "shape": tuple(trial.shape.dims.items())}
    return Finding("bad-launch-config", "error", place, facts=facts)


def other_blocks(launcher: Launcher, trial: Trial) -> Iterator[tuple[Finding, Repair]]:
    """Blocks with a side that another constant names: how far apart a thread's own rows are."""
    name = launcher.kernel.launch.from_
    kernel = function_node(launcher.program, launcher.kernel.name)
    place = _block_place(launcher, name) if name is not None else None
    if name is None or place is None or kernel is None or TILE not in launcher.constants:
        return
    made = {one.name for one in definitions(ast.Module(_plain(launcher.program.tree), []))}
    strides = {
        part.id: None
        for node in ast.walk(kernel)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        for part in (node.left, node.right)
        if isinstance(part, ast.Name) and part.id in made and part.id != TILE
    }
    for side in list(strides)[:MOST_SIDES]:
        for wanted in (f"({TILE}, {side})", f"({side}, {TILE})", f"({side}, {side})"):
            repair = Repair("block-size", place.line, _replacement(place, wanted), wanted)
            yield _another(trial, name, place, wanted), repair


def _plain(tree: ast.Module) -> list[ast.stmt]:
    return [one for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign)]


def _along_x(launcher: Launcher) -> bool:
    """Whether the kernel numbers its threads along x alone."""
    kernel = function_node(launcher.program, launcher.kernel.name)
    text = ast.unparse(kernel) if kernel is not None else ""
    return "threadIdx.x" in text and "threadIdx.y" not in text


def _replacement(span: Span, code: str) -> Callable[[Edit], bool]:
    def apply(edit: Edit) -> bool:
        old = edit.at(span, ast.expr)
        return old is not None and edit.replace(old, ast.parse(code, mode="eval").body)

    return apply


def _exchange(span: Span) -> Callable[[Edit], bool]:
    """The two parts of what the function returns, the second of which stands there, exchanged."""

    def apply(edit: Edit) -> bool:
        for node in edit.walk():
            match node:
                case ast.Return(value=ast.Tuple(elts=[_, block]) as parts) if edit.span(block) == span:
                    parts.elts.reverse()
                    return True
        return False

    return apply


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
