"""Traffic of a launch: arithmetic intensity over loaded bytes, and sectors per load request.

    flop per loaded byte = 2 M N K / (bytes that active threads ask for in global loads)
    sectors per request  = 32-byte sectors / requests, over all global loads

Both are measured by the machine, so that multiply-adds that do not serve the product earn nothing:
the numerator is what the product needs, not what the kernel does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.checks.launching import Launcher, Trial
from grader.checks.names import own_name
from grader.checks.places import enclosing_loops, function_node, loads_of, parents_of
from grader.records import Fact, Finding, Slot, Span
from grader.rubric.expressions import evaluate
from grader.rubric.model import Bound, Checks

__all__ = ["TRAFFIC", "intensity", "sectors_per_request", "traffic_findings"]

SECTOR_BYTES = 32

#: Judged on one family of shapes, so that nothing follows for the others.
TRAFFIC = frozenset({"low-arithmetic-intensity", "no-shared-reuse", "uncoalesced-access", "idle-blocks"})


def intensity(trial: Trial) -> float | None:
    """Flop per loaded byte of a trial's first launch; None where nothing was loaded."""
    dims = trial.shape.dims
    if not trial.passes or not {"M", "N", "K"} <= dims.keys():
        return None
    loaded = int(trial.passes[0].run.counters.global_load_bytes)
    return 2 * dims["M"] * dims["N"] * dims["K"] / loaded if loaded else None


def sectors_per_request(trial: Trial) -> float | None:
    """Sectors per global load request of a trial's first launch; None where nothing was loaded."""
    if not trial.passes:
        return None
    counters = trial.passes[0].run.counters
    requests = int(counters.global_load_requests)
    return int(counters.global_load_sectors) / requests if requests else None


def traffic_findings(
    launcher: Launcher, checks: Checks, trials: Sequence[Trial]
) -> list[tuple[Trial, Finding]]:
    """``low-arithmetic-intensity``, ``no-shared-reuse`` and ``uncoalesced-access`` where a bound is missed.

    Judged on right shapes of the bound's family only. Facts: intensity or sectors_per_request, wanted.
    """
    found: list[tuple[Trial, Finding]] = []
    if checks.traffic is not None:
        bound = checks.traffic.flop_per_loaded_byte
        for trial in _judged(trials, bound):
            figure = intensity(trial)
            if figure is not None and misses(bound, figure, launcher.constants):
                found.append((trial, _low_intensity(launcher, trial, bound, figure)))
                break
    if checks.coalescing is not None:
        bound = checks.coalescing.sectors_per_request
        for trial in _judged(trials, bound):
            figure = sectors_per_request(trial)
            if figure is not None and misses(bound, figure, launcher.constants):
                found.append((trial, _uncoalesced(launcher, trial)))
                break
    return found


def misses(bound: Bound, figure: float, settings: Mapping[str, int]) -> bool:
    """Whether a figure is on the wrong side of a bound."""
    limit = evaluate(str(bound.at_least if bound.at_least is not None else bound.at_most), settings)
    return figure < limit if bound.at_least is not None else figure > limit


def _judged(trials: Sequence[Trial], bound: Bound) -> list[Trial]:
    return [trial for trial in trials if trial.right and trial.shape.family == bound.on]


def _low_intensity(launcher: Launcher, trial: Trial, bound: Bound, figure: float) -> Finding:
    counters = trial.passes[0].run.counters
    wanted = float(
        evaluate(str(bound.at_least if bound.at_least is not None else bound.at_most), launcher.constants)
    )
    array = _most_loaded(launcher, trial)
    facts: dict[str, Fact] = {"intensity": figure, "wanted": wanted}
    if array is not None:
        facts["array"] = array
    idle = int(counters.shared_bytes_per_block) > 0 and int(counters.shared_load_requests) == 0
    name = "no-shared-reuse" if idle else "low-arithmetic-intensity"
    if idle:
        facts["reads_per_store"] = 0.0
    place = _innermost_load(launcher, array)
    slot = Slot(array, "global", ()) if array is not None and not idle else None
    return Finding(name, "error", primary=place, slot=slot, facts=facts)


def _most_loaded(launcher: Launcher, trial: Trial) -> str | None:
    per_array = trial.passes[0].run.counters.per_array
    known = {own_name(launcher, name) for name, arg in launcher.kernel.args.items() if arg.role == "array"}
    loaded = {name: int(array.load_bytes) for name, array in per_array.items() if name in known}
    return max(loaded, key=lambda name: loaded[name]) if loaded and max(loaded.values()) else None


def _innermost_load(launcher: Launcher, array: str | None) -> Span | None:
    """The load of that array which the most loops surround: the one that repeats."""
    function = function_node(launcher.program, launcher.kernel.name)
    if function is None or array is None:
        return None
    loads = loads_of(function, array)
    if not loads:
        return None
    parents = parents_of(function)
    deepest = max(loads, key=lambda node: len(list(enclosing_loops(node, parents))))
    return launcher.program.span(deepest)


def _uncoalesced(launcher: Launcher, trial: Trial) -> Finding:
    """The load of the array with the most sectors per request. ``ideal_sectors`` is its bytes over 32."""
    per_array = trial.passes[0].run.counters.per_array
    known = {own_name(launcher, name) for name, arg in launcher.kernel.args.items() if arg.role == "array"}
    loaded = {name: one for name, one in per_array.items() if name in known and one.load_requests}
    array = max(loaded, key=lambda name: loaded[name].load_sectors / loaded[name].load_requests)
    one = loaded[array]
    counts = {"requests": int(one.load_requests), "sectors": int(one.load_sectors)}
    facts: dict[str, Fact] = {"array": array, "ideal_sectors": one.load_bytes / SECTOR_BYTES}
    place = _innermost_load(launcher, array)
    return Finding("uncoalesced-access", "error", primary=place, counts=counts, facts=facts)
