"""Reviewing a tiled product kernel: a checklist of eight items, each judged by what a grading measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader.checks.launching import Launcher
from grader.checks.structure import constants_of
from grader.grade_kernel import grade_kernel
from grader.records import Diagnostic, Outcome, Report
from grader.rubric.model import KernelSpec, Rubric
from grader.rubric.suites import shown_shapes
from grader.simt import parse
from grader.simt.tally import MMA_FLOPS

__all__ = ["Item", "review"]

Verdict = Literal["PASS", "FAIL", "NOT JUDGED"]

_BARRIERS = frozenset(
    {
        "divergent-barrier",
        "exit-before-barrier",
        "shared-read-before-barrier",
        "shared-overwrite-before-barrier",
        "shared-write-conflict",
    }
)
_SLOTS = frozenset({"uninitialised-shared-read", "stale-shared-read"})
_STORES = frozenset({"out-of-bounds-write", "unwritten-output", "global-write-conflict"})
_K_FAMILIES = ("ragged_k", "all_ragged", "k_below_tile", "k_is_one")
_NOT_RUN = "the kernel was not run to its end"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the checklist. ``line`` is where it fails, if the failure has a place."""

    question: str
    verdict: Verdict
    measured: str
    line: int | None = None
    diagnosis: str = ""


@dataclass(frozen=True, slots=True)
class _Measured:
    """What the items are judged by. ``counters`` are those of the first shown shape, ``dims`` its sizes."""

    report: Report
    counters: Any | None
    dims: Mapping[str, int]

    def first(self, names: frozenset[str]) -> Diagnostic | None:
        """The first diagnosis of those names that is more than a note."""
        return next((d for d in self.report.diagnostics if d.name in names and d.severity != "note"), None)


def review(rubric: Rubric, path: Path, text: str) -> tuple[Item, ...]:
    """The checklist over the kernel in ``text``, launched on the shapes of ``rubric``.

    An item that nothing was measured for is NOT JUDGED, never PASS.
    """
    report = grade_kernel(rubric, str(path), text, "")
    counters, dims = _counters(rubric, text)
    measured = _Measured(report, counters, dims)
    return tuple(judge(measured) for judge in _ITEMS)


def _counters(rubric: Rubric, text: str) -> tuple[Any | None, Mapping[str, int]]:
    program, kernel = parse(text), rubric.kernel
    if kernel is None or program.findings:
        return None, {}
    constants, wrong = constants_of(program, kernel.constants)
    if wrong:
        return None, {}
    return _launched(rubric, kernel, Launcher(program, kernel, rubric.exercise, constants))


def _launched(rubric: Rubric, kernel: KernelSpec, launcher: Launcher) -> tuple[Any | None, Mapping[str, int]]:
    settings = {name: launcher.constants.get(name, choices[0]) for name, choices in kernel.constants.items()}
    shape = shown_shapes(rubric, settings)[0]
    config, _ = launcher.config(shape)
    one = launcher.launch(shape, config, exact=True) if config is not None else None
    return (one.run.counters, shape.dims) if one is not None and one.run.completed else (None, shape.dims)


def _by_names(
    question: str, names: frozenset[str], said: Callable[[_Measured], str]
) -> Callable[[_Measured], Item]:
    """An item that fails where one of these names was diagnosed."""

    def judge(measured: _Measured) -> Item:
        found = measured.first(names)
        if found is not None:
            line = found.frame.primary.span.line if found.frame is not None else None
            return Item(question, "FAIL", found.headline, line, found.name)
        if measured.counters is None:
            return Item(question, "NOT JUDGED", _NOT_RUN)
        if names is not _STORES and not measured.counters.shared_bytes_per_block:
            return Item(question, "NOT JUDGED", "the kernel has no shared memory")
        return Item(question, "PASS", said(measured))

    return judge


def _barriers(measured: _Measured) -> str:
    assert measured.counters is not None
    count = measured.counters.barriers
    return (
        f"{count:,} barriers of blocks on the first shape, no race and no barrier that part of a block misses"
    )


def _shapes(measured: _Measured) -> str:
    total = sum(family.total for family in measured.report.families)
    return f"on none of {total} shapes does a slot that nobody filled reach the result"


def _stores(measured: _Measured) -> str:
    total = sum(family.total for family in measured.report.families)
    return f"on {total} shapes every element is stored, once, and nothing outside"


def _k_shapes(measured: _Measured) -> Item:
    question = "Right with K no multiple of the tile, and with K below it?"
    families = [one for one in measured.report.families if one.name in _K_FAMILIES]
    passed, total = sum(one.passed for one in families), sum(one.total for one in families)
    if not total:
        return Item(question, "NOT JUDGED", "the rubric has no such shapes")
    if measured.counters is None:
        return Item(question, "NOT JUDGED", _NOT_RUN)
    cause = next((d for d in measured.report.diagnostics if d.severity == "error"), None)
    line = cause.frame.primary.span.line if cause is not None and cause.frame is not None else None
    said = f"{passed} of {total} such shapes are right"
    if passed == total:
        return Item(question, "PASS", said)
    return Item(question, "FAIL", said, line, cause.name if cause is not None else "")


def _coalescing(measured: _Measured) -> Item:
    question = "Tile loads coalesced, with threadIdx.x along the columns?"
    counters = measured.counters
    if counters is None or not counters.global_load_requests:
        return Item(question, "NOT JUDGED", _NOT_RUN if counters is None else "nothing is loaded")
    per_request = counters.global_load_sectors / counters.global_load_requests
    said = f"{per_request:.3g} sectors a request (4 where 32 lanes read consecutive float32)"
    if per_request <= 4.5:
        return Item(question, "PASS", said)
    found = next((d for d in measured.report.diagnostics if d.name == "uncoalesced-access"), None)
    line = found.frame.primary.span.line if found is not None and found.frame is not None else None
    return Item(question, "FAIL", said, line, "uncoalesced-access")


def _resources(measured: _Measured) -> Item:
    question = "Registers, shared memory and spills checked?"
    used = (
        "" if measured.counters is None else f"{measured.counters.shared_bytes_per_block:,} bytes of shared "
    )
    said = f"{used}memory a block; " if used else ""
    return Item(question, "NOT JUDGED", f"{said}registers and spills are known to a compiler only")


def _flops(measured: _Measured) -> Item:
    question = "2 M N K operations, and no more?"
    counters = measured.counters
    if counters is None or not measured.dims:
        return Item(question, "NOT JUDGED", _NOT_RUN)
    wanted = 1
    for size in measured.dims.values():
        wanted *= size
    # A product and its addition that are not fused count once, by the additions.
    done = counters.ffma_threads + counters.dfma_threads + counters.fadd_threads + counters.dadd_threads
    done += MMA_FLOPS // 2 * counters.mma_threads
    said = f"{2 * done:,} operations where 2 M N K = {2 * wanted:,}"
    return Item(question, "PASS" if wanted <= done <= wanted * 1.01 else "FAIL", said)


def _verified(measured: _Measured) -> Item:
    question = "Verified against a float64 reference, with a relative tolerance?"
    if measured.counters is None:
        return Item(question, "NOT JUDGED", _NOT_RUN)
    passed = sum(family.passed for family in measured.report.families)
    total = sum(family.total for family in measured.report.families)
    if measured.report.outcome is Outcome.CANNOT_JUDGE or not total:
        return Item(question, "NOT JUDGED", _NOT_RUN)
    said = f"{passed} of {total} shapes are within the tolerance"
    return Item(question, "PASS" if passed == total else "FAIL", said)


_ITEMS: tuple[Callable[[_Measured], Item], ...] = (
    _by_names("Both barriers, and neither in divergent code?", _BARRIERS, _barriers),
    _by_names("Every shared slot written in every round?", _SLOTS, _shapes),
    _by_names("Store guarded on both row < M and col < N?", _STORES, _stores),
    _k_shapes,
    _coalescing,
    _resources,
    _flops,
    _verified,
)
