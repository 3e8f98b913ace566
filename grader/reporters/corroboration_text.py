"""What NVIDIA's tools said, as rows of a terminal."""

from __future__ import annotations

from grader.records import Report, Sanitized
from grader.reporters.style import Style, counted, display_width, pad

__all__ = ["corroboration_rows"]


def corroboration_rows(report: Report, style: Style) -> list[str]:
    """Give a row for each of compute-sanitizer's tools, then the counters that differ from the machine's."""
    return [*_sanitized(report, style), *_counted(report, style)]


def _sanitized(report: Report, style: Style) -> list[str]:
    wide = max((len(one.tool) for one in report.sanitized), default=0)
    out = []
    for one in report.sanitized:
        lead = f"  {pad(one.tool, wide)}   "
        out += style.wrap(_verdict(one), first=lead, rest=" " * len(lead))
    return out


def _verdict(one: Sanitized) -> str:
    if one.problem:
        return f"no verdict: {one.problem}"
    if not one.errors and not one.warnings:
        return "nothing reported"
    parts = [counted(one.errors, "error")]
    if one.warnings:
        parts.append(counted(one.warnings, "warning"))
    if one.lines:
        parts.append(f"line{'s' * (len(one.lines) > 1)} {', '.join(map(str, one.lines))}")
    return ", ".join(parts) + (f": {one.first}" if one.first else "")


def _counted(report: Report, style: Style) -> list[str]:
    if not report.counted:
        return []
    differing = [one for one in report.counted if one.machine != one.gpu]
    equal = len(report.counted) - len(differing)
    total = counted(len(report.counted), "counter")
    out = style.wrap(f"ncu and the machine agree on {equal} of {total}", first="  ")
    wide = max((display_width(one.name) for one in differing), default=0)
    return out + [
        f"    {pad(one.name, wide)}   machine {one.machine:,}, ncu {one.gpu:,}" for one in differing
    ]
