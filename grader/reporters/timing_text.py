"""Times of a report: as rows of a terminal, and as the properties of a JUnit case."""

from __future__ import annotations

from collections.abc import Iterator

from grader.records import Report, Timing
from grader.reporters.style import Style, counted, display_width, pad

__all__ = ["flops_rate", "milliseconds", "sizes", "timing_properties", "timing_rows", "why_rejected"]

_REJECTED = {
    "below-floor": "it is faster than memory and arithmetic units can be",
    "work-after-clock": "the device was still at work after the clock had stopped",
    "not-timed": "no launch could be timed",
    "device-busy": "another timing had the GPU all the while",
    "gpu-missing": "the GPU could not be used",
    "gpu-compile-error": "numba does not compile the kernel for these arguments",
    "gpu-launch-refused": "the GPU refused the launch at this size",
    "gpu-illegal-address": "the kernel accessed memory that is not its own at this size",
    "gpu-misaligned-address": "the kernel accessed memory at an address that its access cannot have",
    "gpu-kernel-aborted": "the kernel was aborted",
    "gpu-did-not-finish": "the launch did not finish",
    "gpu-out-of-memory": "the arrays of this size do not fit into the GPU's memory",
    "gpu-child-lost": "the process that timed it ended before its time, or ran out of it",
}
_NO_LIBRARY = {
    "no-cupy": "cuBLAS was not measured: CuPy is not installed",
    "cupy-failed": "cuBLAS was not measured: CuPy cannot use it here",
}


def timing_rows(report: Report, style: Style) -> list[str]:
    """Give a line of where it was timed, then a row for each size; nothing where nothing was timed."""
    if not report.timings:
        return []
    labels = [style.plain(sizes(timing)) for timing in report.timings]
    wide = max(map(display_width, labels))
    out = style.wrap(f"timed{_where(report.timings[0])}", first="  ")
    for timing, label in zip(report.timings, labels, strict=True):
        lead = f"  {pad(label, wide)}   "
        if timing.rejected:
            out += style.wrap(f"does not count: {why_rejected(timing)}", first=lead, rest=" " * len(lead))
        else:
            out += style.wrap(_figures(timing), first=lead, rest=" " * len(lead))
    reasons = (one.no_library for one in report.timings)
    missing = next((_NO_LIBRARY[name] for name in reasons if name in _NO_LIBRARY), "")
    return out + (style.wrap(missing, first="  ") if missing else [])


def timing_properties(report: Report) -> Iterator[tuple[str, str]]:
    """Give names and values: ``timing.4096x4096x4096.milliseconds`` and the like."""
    for timing in report.timings:
        name = f"timing.{'x'.join(map(str, timing.dims.values()))}"
        if timing.rejected:
            yield f"{name}.rejected", timing.rejected
            continue
        yield f"{name}.milliseconds", f"{timing.milliseconds:.6g}"
        yield f"{name}.gflops", f"{timing.gflops:.6g}"
        yield f"{name}.spread", f"{timing.spread:.4g}"
        if timing.share_of_library is not None:
            yield f"{name}.share_of_library", f"{timing.share_of_library:.4g}"


def sizes(timing: Timing) -> str:
    """Write a launch's sizes: ``M, N, K = 4096, 4096, 4096``."""
    return f"{', '.join(timing.dims)} = {', '.join(map(str, timing.dims.values()))}"


def milliseconds(value: float) -> str:
    """Write a time with four digits that count."""
    return f"{value:#.4g}".rstrip(".") + " ms"


def flops_rate(gflops: float) -> str:
    """Write a rate in GFLOP/s or TFLOP/s."""
    return f"{gflops / 1e3:#.3g} TFLOP/s" if gflops >= 1e3 else f"{gflops:#.3g} GFLOP/s"


def why_rejected(timing: Timing) -> str:
    """Say in a clause why a time does not count."""
    if timing.rejected == "wrong-timed-output":
        wrong = counted(timing.wrong_rows, "row")
        return f"the output of launch {timing.rejected_at + 1} was wrong, in {wrong}"
    return _REJECTED.get(timing.rejected, timing.rejected)


def _where(timing: Timing) -> str:
    where = f" on {timing.device}" if timing.device else ""
    if timing.clock_mhz:
        where += f", multiprocessors at {timing.clock_mhz} of {timing.highest_clock_mhz} MHz"
    return where


def _figures(timing: Timing) -> str:
    parts = [
        milliseconds(timing.milliseconds),
        f"spread {100 * timing.spread:.2g} %",
        flops_rate(timing.gflops),
    ]
    if timing.share_of_library is not None:
        parts.append(f"{100 * timing.share_of_library:.3g} % of cuBLAS")
    if timing.floor_milliseconds:
        parts.append(f"{timing.milliseconds / timing.floor_milliseconds:.3g} x floor")
    return "  ".join(parts)
