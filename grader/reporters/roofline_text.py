"""The roofline in words and numbers, for a terminal and for those who do not see the drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reporters.model_words import kernel_label, limit_words, roof_label, three
from grader.reporters.style import display_width, pad

if TYPE_CHECKING:
    from grader.perf.roofline import Point, Roofline
    from grader.reporters.style import Style


def render(roofline: Roofline, style: Style) -> str:
    """Write roofs with their ridge points, then the kernels from the lowest intensity to the highest."""
    lines = [f"Roofline of {style.plain(roofline.device.title)}", ""]
    for roof in roofline.roofs:
        words = f"{roof_label(roof)}: ridge point {three(roof.ridge)} FLOP/byte"
        lines += style.wrap(words, first="  ", rest="    ")
    lines += [f"  HBM: {roofline.device.hbm_bytes_per_second / 1e9:,.0f} GB/s", ""]
    M, N, K = roofline.size
    lines += style.wrap(f"kernel (model at M, N, K = {M}, {N}, {K})", first="  FLOP/byte   TFLOP/s   ")
    rows = sorted(roofline.points, key=lambda point: point.intensity)
    names = [style.plain(_name(point)) for point in rows]
    wide = max(map(display_width, names), default=0)
    for point, name in zip(rows, names):
        numbers = f"  {three(point.intensity):>9}   {three(point.flops_per_second / 1e12):>7}   "
        row = f"{numbers}{pad(name, wide)}   {_standing(point)}".rstrip()
        if display_width(row) <= style.width:
            lines.append(row)
            continue
        lead = " " * (4 if style.narrow else len(numbers))
        lines += style.wrap(name, first=numbers, rest=lead)
        lines += style.wrap(_standing(point), first=lead)
    for point in points_with_faults(roofline):
        found = f"FAULTY: {point.label} has {', '.join(point.faults)}; grader check says where."
        lines += ["", *style.wrap(f"{found} Its place is that of a wrong kernel.", first="  ")]
    return "\n".join(lines) + "\n"


def points_with_faults(roofline: Roofline) -> list[Point]:
    """The submissions that a grading finds faults in."""
    return [point for point in roofline.points if point.faults]


def _name(point: Point) -> str:
    return point.label if point.kernel is None else kernel_label(point.kernel)


def _standing(point: Point) -> str:
    if point.standing == "measured":
        return "intensity counted by the machine, speed as measured"
    if point.standing == "attainable":
        return "intensity counted by the machine, speed at most this: not timed"
    if point.bound_by is None or point.kernel is None:
        return ""
    return f"bound by {limit_words(point.bound_by, point.kernel.dtype)}"
