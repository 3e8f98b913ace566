"""compute-sanitizer's four tools over a kernel's launches, and what their logs say.

racecheck sees shared memory alone, initcheck global memory alone; none of them names a cause. So their
counts stand beside the machine's findings, not in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from grader.gpu.device_runs import Launch
from grader.gpu.tool_run import find_tool, run_under, tool_reason
from grader.records import Sanitized, SanitizerTool

__all__ = ["read_log", "sanitize", "sanitizer_reason"]

_TOOLS: tuple[SanitizerTool, ...] = get_args(SanitizerTool)
_SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error")
_RACES = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)")
_HEAD = re.compile(
    r"^=+ ((?:Error|Warning): .*|Invalid .*|Uninitialized .*|Barrier error.*|Divergent .*|Potential .*)"
)
_LINE = re.compile(r"\b(?:in )?(\S+\.py):(\d+)")
#: The kernel's mangled name and the offset in its code, before the file and the line.
_PLACE = re.compile(r"\bat \S.*?\+0x[0-9a-f]+ in \S+\.py:(\d+)")


def sanitizer_reason() -> str:
    """Why compute-sanitizer cannot be used here, in one line; empty where it can."""
    return tool_reason("compute-sanitizer", "the CUDA toolkit")


def sanitize(plan: Mapping[str, Any], launches: Sequence[Launch]) -> tuple[Sanitized, ...]:
    """Run the launches under each tool; call it where :func:`sanitizer_reason` is empty."""
    path = find_tool("compute-sanitizer") or "compute-sanitizer"
    found = []
    for tool in _TOOLS:
        words = [path, "--tool", tool, "--print-limit", "200"]
        ended = run_under(words, plan, launches, log_option="--log-file")
        found.append(read_log(tool, ended.log, str(plan["file"]), ended.problem))
    return tuple(found)


def read_log(tool: SanitizerTool, log: str, file: str, problem: str = "") -> Sanitized:
    """Read one tool's log. A log without a summary is a problem, never a clean run."""
    races, summary = _RACES.search(log), _SUMMARY.search(log)
    if races is None and summary is None:
        return Sanitized(tool, problem=problem or "the tool gave no summary")
    errors = int(races[2]) if races is not None else int(summary[1]) if summary is not None else 0
    warnings = int(races[3]) if races is not None else 0
    lines = [int(found[2]) for found in _LINE.finditer(log) if found[1].endswith(file)]
    # What ends the run (an illegal address) is what memcheck is there to find.
    return Sanitized(
        tool, errors, warnings, tuple(sorted(set(lines))), _first(log), "" if errors else problem
    )


def _first(log: str) -> str:
    """The first report with its place, or both places of a race, told as lines of the submission."""
    lines = [line.lstrip("=").strip() for line in log.splitlines()]
    at = next((at for at, line in enumerate(log.splitlines()) if _HEAD.match(line)), None)
    if at is None:
        return ""
    text = lines[at].removeprefix("Error: ").removeprefix("Warning: ")
    if at + 1 < len(lines) and lines[at + 1].startswith(("and ", "at ")):
        text += f" {lines[at + 1]}"
    return _PLACE.sub(r"on line \1", text)[:200]
