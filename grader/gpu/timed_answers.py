"""What a timing child said, read with suspicion, as timings of the report."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.gpu.timed_product import Product
from grader.gpu.timing import Samples, judged, quartiles, relative_error
from grader.gpu.timing_floor import floor_of
from grader.records import Timing

__all__ = ["TimedShape", "timings_of", "void"]


@dataclass(frozen=True, slots=True)
class TimedShape:
    """A launch to time. ``arguments``, in the kernel's order, are "left", "right", "out" or numbers.

    ``dims`` are the named sizes that a report shows; grid and block have x first.
    """

    dims: Mapping[str, int]
    product: Product
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[str | int | float, ...]
    shared: int = 0
    shown: bool = True


def timings_of(shapes: Sequence[TimedShape], messages: Sequence[Mapping[str, Any]]) -> Iterator[Timing]:
    """One ``Timing`` for each shape, from what a timing child said; what it left out is rejected."""
    about = messages[0] if messages and messages[0].get("at") == "ready" else {"fault": "gpu-child-lost"}
    told = [one for one in messages[1:] if one.get("at") == "timed"]
    # What ended the child ends the shapes after it too.
    lost = next((fault for one in (about, *told) if (fault := _name(one.get("fault")))), "")
    for index, shape in enumerate(shapes):
        mine = told[index] if index < len(told) and told[index].get("index") == index else None
        if mine is None or mine.get("fault") or about.get("fault"):
            yield void(shape, lost or "gpu-child-lost", str(about.get("device", ""))[:80])
        else:
            yield _timing(shape, about, mine)


def _timing(shape: TimedShape, about: Mapping[str, Any], told: Mapping[str, Any]) -> Timing:
    device = "".join(one for one in str(about.get("device", ""))[:80] if one.isprintable())
    floor = floor_of(shape.product, device, about)
    samples = _samples(told)
    rejected = judged(samples, floor)
    library, no_library = _library(told.get("library"), floor)
    times = samples.milliseconds
    first, third = quartiles(times) if times else (0.0, 0.0)
    middle = statistics.median(times) if times else 0.0
    return Timing(
        dims=dict(shape.dims),
        shown=shape.shown,
        milliseconds=middle,
        spread=(third - first) / 2 / middle if middle else 0.0,
        repeats=len(times),
        flops=shape.product.flops,
        floor_milliseconds=floor,
        library_milliseconds=library,
        clock_mhz=_whole(told.get("clock_mhz")),
        device=device,
        rejected=rejected,
        quartiles=(first, third),
        least=min(times, default=0.0),
        error=relative_error(times),
        dtype=shape.product.dtype,
        no_library=no_library,
        highest_clock_mhz=_whole(told.get("highest_clock_mhz")),
        rejected_at=samples.at,
        wrong_rows=samples.wrong,
    )


def _samples(told: Mapping[str, Any]) -> Samples:
    times = told.get("times")
    late = told.get("late")
    numbers = times if isinstance(times, list) and all(type(one) is float for one in times) else []
    return Samples(
        tuple(numbers),
        (float(late),) if isinstance(late, int | float) else (),
        _name(told.get("rejected")),
        _whole(told.get("rejected_at"), -1),
        _whole(told.get("wrong")),
    )


def _library(told: object, floor: float) -> tuple[float, str]:
    """The library's median and nothing, or 0 and the name of why there is none."""
    if not isinstance(told, dict):
        return 0.0, "not-measured"
    samples = _samples(told)
    rejected = judged(samples, floor)
    return (0.0, rejected) if rejected else (statistics.median(samples.milliseconds), "")


def void(shape: TimedShape, rejected: str, device: str = "") -> Timing:
    """A shape that has no times, and the name of why."""
    return Timing(
        dims=dict(shape.dims),
        shown=shape.shown,
        milliseconds=0.0,
        spread=0.0,
        repeats=0,
        flops=shape.product.flops,
        device="".join(one for one in device if one.isprintable()),
        rejected=rejected,
        dtype=shape.product.dtype,
        no_library="not-measured",
    )


def _name(value: object) -> str:
    """A name that the child gave: kebab-case, or "gpu-child-lost" for anything else."""
    if not value:
        return ""
    text = str(value)[:60]
    return text if text.replace("-", "").isalnum() and text.isascii() else "gpu-child-lost"


def _whole(value: object, otherwise: int = 0) -> int:
    return value if type(value) is int and abs(value) < 2**53 else otherwise
