"""Where a wrong result is to be shown: a store, the loop over k, or what keeps products out of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from grader.checks.k_range import K_RANGE
from grader.checks.k_rounds import Product, kept_out
from grader.checks.launching import Launcher, Trial
from grader.checks.names import own_name
from grader.checks.places import function_node, header_span, innermost_loop, k_loop, stores_to
from grader.records import Fact, Span
from grader.simt.observer import AccessEvent, Observer

__all__ = ["result_place"]


def result_place(
    launcher: Launcher, trial: Trial, name: str, slot: tuple[str, tuple[int, ...]], facts: Mapping[str, Fact]
) -> tuple[Span | None, dict[str, Fact]]:
    """The place of a wrong result of that name, and what more is known by it.

    ``slot`` is the rubric's name of the output and the index of the element that is shown. The facts may
    be ``inside`` (the loop over k comes to the products that are lacking), ``kept_out`` (the array whose
    element is not loaded for them) and ``stores`` (so many stores to the output, where there are several).
    """
    program, function = launcher.program, function_node(launcher.program, launcher.kernel.name)
    if function is None:
        return None, {}
    runs = facts.get("missing")
    # Where several runs of k are missing, some are missing from every tile: the fault is further in.
    inner = isinstance(runs, tuple) and len(runs) > 1 and not facts.get("repeated")
    loop = k_loop(function, _inputs(launcher)) if name in K_RANGE or inner else None
    if loop is not None and inner:
        return header_span(program, innermost_loop(loop)), {}
    if loop is not None:
        product = _lacking(launcher, trial, slot[1], runs) if name == "dropped-k-tail" else None
        kept = kept_out(launcher, trial, function, loop, product) if product is not None else None
        if kept is None:
            return header_span(program, loop), {}
        at = kept.place
        place = header_span(program, at) if isinstance(at, ast.For | ast.While) else program.span(at)
        return place, {"inside": True, **({"kept_out": kept.array} if kept.array else {})}
    stores = stores_to(function, own_name(launcher, slot[0]))
    if len(stores) > 1:
        return _telling_store(launcher, trial, slot, stores), {"stores": len(stores)}
    if stores:
        return program.span(stores[0]), {}
    start = program.span(function)
    return Span(start.line, start.column, start.line, start.column + len(f"def {function.name}")), {}


def _inputs(launcher: Launcher) -> tuple[str, ...]:
    """The kernel's own names for what it reads."""
    return tuple(
        own_name(launcher, one)
        for one, arg in launcher.kernel.args.items()
        if arg.role == "array" and not arg.out
    )


def _lacking(launcher: Launcher, trial: Trial, index: tuple[int, ...], runs: Fact) -> Product | None:
    """The last product that an element of a matrix lacks."""
    one, inputs = trial.failed_pass, _inputs(launcher)
    if one is None or len(inputs) != 2 or len(index) != 2 or not isinstance(runs, tuple) or not runs:
        return None
    arrays = [
        one.arguments.values[name]
        for name, arg in launcher.kernel.args.items()
        if arg.role == "array" and not arg.out
    ]
    last = runs[-1]
    if not isinstance(last, tuple) or not isinstance(last[1], int):
        return None
    k, (row, column) = last[1], index
    left, right = row * arrays[0].shape[1] + k, k * arrays[1].shape[1] + column
    return Product(((inputs[0], left), (inputs[1], right)), k)


@dataclass(slots=True)
class _Stores(Observer):
    """Which elements of an array each line stores, and the line that stored one of them last."""

    array: str
    at: int
    by_line: dict[int, set[int]] = field(default_factory=dict)
    last: int = 0

    def store(self, event: AccessEvent) -> None:
        """An element of the output, perhaps."""
        if event.space != "global" or event.array != self.array:
            return
        where = np.broadcast_to(event.address, event.chunk.shape)
        active = True if event.active is None else np.broadcast_to(event.active, event.chunk.shape)
        stored = np.unique(where[active]) if active is not True else np.unique(where)
        self.by_line.setdefault(event.span.line, set()).update(stored.tolist())
        if self.at in self.by_line[event.span.line] and self.at in stored:
            self.last = event.span.line


def _telling_store(
    launcher: Launcher, trial: Trial, slot: tuple[str, tuple[int, ...]], stores: list[ast.expr]
) -> Span:
    """The store that wrote the element last; where none did, the first that stores nothing of its own."""
    one, spans = trial.failed_pass, [launcher.program.span(store) for store in stores]
    if one is None or trial.config is None:
        return spans[-1]
    at = int(np.ravel_multi_index(slot[1], one.after[slot[0]].shape)) if slot[1] else 0
    watch = _Stores(own_name(launcher, slot[0]), at)
    box = launcher.cover(trial.shape, trial.config)
    launcher.launch_with(
        one.arguments, trial.shape, trial.config, effort="values", box=box, observers=(watch,)
    )
    if watch.last:
        return next((span for span in spans if span.line == watch.last), spans[-1])
    for span in spans:
        own = watch.by_line.get(span.line, set())
        others = [stored for line, stored in watch.by_line.items() if line != span.line]
        if own <= set().union(*others):
            return span
    return spans[-1]
