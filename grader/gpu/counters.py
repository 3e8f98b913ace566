"""Hardware counters of a launch by Nsight Compute (ncu), under the names of the machine's counters.

The tool replays the kernel once for each group of counters. It is told to leave the clocks alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.gpu.device_runs import Launch
from grader.gpu.tool_run import find_tool, run_under, tool_reason

__all__ = ["METRICS", "Measured", "counters_reason", "measure", "read_csv"]

_L1 = "l1tex__{}_pipe_lsu_mem_{}_op_{}.sum"
#: ncu's name of each figure. The first group has the names of :class:`grader.simt.tally.Counters`.
METRICS: Mapping[str, str] = {
    "global_load_requests": _L1.format("t_requests", "global", "ld"),
    "global_load_sectors": _L1.format("t_sectors", "global", "ld"),
    "global_store_requests": _L1.format("t_requests", "global", "st"),
    "global_store_sectors": _L1.format("t_sectors", "global", "st"),
    "shared_load_bank_conflicts": _L1.format("data_bank_conflicts", "shared", "ld"),
    "shared_store_bank_conflicts": _L1.format("data_bank_conflicts", "shared", "st"),
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "ffma_threads": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "fadd_threads": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "fmul_threads": "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "dfma_threads": "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_op_write.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "nanoseconds": "gpu__time_duration.sum",
    "memory_percent": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_percent": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "sm_percent": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
    "shared_bytes_per_block": "launch__shared_mem_per_block_static",
}
_UNITS = {
    "Kbyte": 1e3,
    "Mbyte": 1e6,
    "Gbyte": 1e9,
    "usecond": 1e3,
    "us": 1e3,
    "msecond": 1e6,
    "ms": 1e6,
    "second": 1e9,
    "s": 1e9,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one launch by the names of :data:`METRICS`; ``problem`` says why there are none."""

    figures: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""


def counters_reason() -> str:
    """Why ncu cannot be used here, in one line; empty where it can."""
    return tool_reason("ncu", "Nsight Compute, or the CUDA toolkit")


def measure(plan: Mapping[str, Any], launches: Sequence[Launch]) -> tuple[Measured, ...]:
    """Figures of each launch; call it where :func:`counters_reason` is empty."""
    path = find_tool("ncu") or "ncu"
    words = [path, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    words += ["--metrics", ",".join(METRICS.values())]
    ended = run_under(words, plan, launches, log_option="--log-file", seconds=240)
    found = read_csv(ended.log)
    problem = ended.problem or _refusal(ended.log) or "ncu wrote no figures"
    return tuple(found[at] if at < len(found) else Measured(problem=problem) for at in range(len(launches)))


def read_csv(log: str) -> list[Measured]:
    """Read ncu's raw page: a header, a row of units, and a row for each kernel that was launched."""
    lines = [line for line in log.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    if not rows:
        return []
    units, launched = rows[0], rows[1:]
    return [Measured(dict(_figures(row, units))) for row in launched]


def _figures(row: Mapping[str, str], units: Mapping[str, str]) -> Iterable[tuple[str, float]]:
    for name, metric in METRICS.items():
        text = (row.get(metric) or "").replace(",", "")
        try:
            value = float(text)
        except ValueError:
            continue
        yield name, value * _UNITS.get((units.get(metric) or "").strip(), 1.0)


def _refusal(log: str) -> str:
    """The tool's own words, where it says that it may not or cannot."""
    said = [
        line.removeprefix("==ERROR==").strip() for line in log.splitlines() if line.startswith("==ERROR==")
    ]
    return said[0][:300] if said else ""
