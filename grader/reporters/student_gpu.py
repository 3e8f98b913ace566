"""What of a GPU's and a compiler's word a student may see, and which sizes a text may not name."""

from __future__ import annotations

import re

from grader.records import Compilation, DeviceRun, Timing

__all__ = ["compiled", "device_run", "mentions_hidden", "safe", "timed"]

_NUMBERS = re.compile(r"\d[\d,]*(?:\s*(?:,|x|×|\*)\s+\d+|\s*[x×]\s*\d+)+")
_NAMED = re.compile(r"\b[A-Za-z_]\w*(?:,\s*[A-Za-z_]\w*)*\s*=\s*(\d+(?:,\s*\d+)*)")
#: A file's place on the machine that graded.
_PATH = re.compile(r"(?:^|[\s'\"(=:])(?:~?/|[A-Za-z]:\\)\S")
_UNTOLD = "your instructor can see why"


def mentions_hidden(text: str, open_sizes: set[tuple[int, ...]]) -> bool:
    """Say whether a text gives sizes, as ``M, N, K = 50, 37, 40`` or ``50 x 37 x 40``, that are not open."""
    for match in _NAMED.finditer(text):
        sizes = tuple(int(size) for size in match[1].split(","))
        if len(sizes) > 1 and sizes not in open_sizes:
            return True
    for match in _NUMBERS.finditer(text):
        sizes = tuple(int(size) for size in re.findall(r"\d+", match[0]))
        if len(sizes) > 2 and sizes not in open_sizes:
            return True
    return False


def device_run(run: DeviceRun) -> DeviceRun:
    """A run's tally without the compiler's and the driver's words: they may give a hidden shape's figures."""
    return DeviceRun(
        run.device,
        run.right,
        run.total,
        run.sandboxed,
        run.capability,
        dict(run.versions) if run.versions is not None else None,
        run.fault,
        simulated=run.simulated,
    )


def timed(one: Timing) -> Timing:
    """A time at a size of the rubric's, the student's own: nobody else's figures are in it."""
    return Timing(
        dict(one.dims),
        one.shown,
        one.milliseconds,
        one.spread,
        one.repeats,
        one.flops,
        one.floor_milliseconds,
        one.library_milliseconds,
        one.clock_mhz,
        one.device,
        one.rejected,
        one.quartiles,
        one.least,
        one.error,
        one.dtype,
        one.no_library,
        one.highest_clock_mhz,
        one.rejected_at,
        one.wrong_rows,
    )


def compiled(one: Compilation, open_sizes: set[tuple[int, ...]]) -> Compilation:
    """What the compiler made of the student's own text. Its occupancy is that of a shown shape's launch."""
    return Compilation(
        one.arch,
        one.registers,
        one.spill_store_bytes,
        one.spill_load_bytes,
        one.stack_bytes,
        one.shared_bytes,
        one.constant_bytes,
        one.ptx_bytes,
        one.cubin_bytes,
        one.warps,
        one.most_warps,
        one.occupancy,
        one.limited_by,
        safe(one.error, open_sizes),
        one.error_kind,
        one.line,
    )


def safe(reason: str, open_sizes: set[tuple[int, ...]]) -> str:
    """A reason that names neither sizes that are not open nor a place on the machine that graded."""
    return _UNTOLD if mentions_hidden(reason, open_sizes) or _PATH.search(reason) else reason
