"""The roofline as a drawing, SVG or PNG, that reads as well in grey as in colour.

Needs matplotlib, which the extra ``plot`` brings. Roofs differ by line style and kernels by marker, so
colour carries nothing of its own.
"""

from __future__ import annotations

import io
from math import atan2, degrees
from typing import TYPE_CHECKING, Any, Final, Literal

from grader.perf.roofline import Point, Roof, Roofline
from grader.reporters.model_words import kernel_label, limit_words, roof_label, three

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Format = Literal["svg", "png"]

_INK: Final = "#1a1a1a"
_GREY: Final = "#6b6b6b"
_ACCENT: Final = "#b3261e"
_ROOF_LINES: Final[dict[str, Any]] = {"fp32": "-", "matrix": (0, (6, 3))}
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "h")
_TWO_COLUMNS: Final = 7.0
_STYLE: Final = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    # A file's name is not a formula.
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "tilegrade",
}


class PlotError(RuntimeError):
    """A drawing that cannot be made; the text is one line that says what to do."""


def render(roofline: Roofline, image: Format, *, width: float = 8.0, height: float = 5.0) -> bytes:
    """Draw a roofline as the bytes of an image, ``width`` x ``height`` inches (a PNG has 150 dots an inch).

    The same input gives the same bytes. Raises PlotError without matplotlib.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError("drawing needs matplotlib: pip install '.[plot]' in Tilegrade's checkout") from error
    style: Any = _STYLE
    with mpl.rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        _draw(figure.add_subplot(), roofline)
        _legend(figure, roofline)
        buffer = io.BytesIO()
        metadata = {"Date": None} if image == "svg" else {"Software": None}
        figure.savefig(buffer, format=image, dpi=150, metadata=metadata)
    return buffer.getvalue()


def _draw(axes: Axes, roofline: Roofline) -> None:
    _frame(axes, roofline)
    for roof in roofline.roofs:
        _roof(axes, roof, roofline)
    ladder = [point for point in roofline.points if point.standing == "predicted"]
    for point, marker in zip(ladder, _MARKERS * (1 + len(ladder) // len(_MARKERS))):
        _kernel(axes, point, marker)
    for point in roofline.points:
        if point.standing != "predicted":
            _submission(axes, point, roofline)


def _legend(figure: Figure, roofline: Roofline) -> None:
    sizes = ", ".join(map(str, roofline.size))
    columns = 2 if figure.get_figwidth() >= _TWO_COLUMNS else 1
    figure.legend(
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize="small",
        title=f"Kernels and what binds them, as the model has it at M, N, K = {sizes}",
        title_fontsize="small",
        alignment="left",
    )


def _frame(axes: Axes, roofline: Roofline) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*roofline.intensity_range)
    low, high = roofline.speed_range
    axes.set_ylim(low / 1e12, high / 1e12)
    axes.xaxis.set_major_formatter(lambda value, _: three(value))
    axes.yaxis.set_major_formatter(lambda value, _: three(value))
    axes.set_xlabel("arithmetic intensity at HBM (FLOP/byte)")
    axes.set_ylabel("speed (TFLOP/s)")
    axes.set_title(f"Roofline of {roofline.device.title}", loc="left", fontsize="large")
    axes.grid(visible=True, which="major", color="#d9d9d9", linewidth=0.6)
    axes.set_axisbelow(True)


def _roof(axes: Axes, roof: Roof, roofline: Roofline) -> None:
    """One roof: its flat part, its ridge point and, for the lowest roof, the slope of the bandwidth."""
    left, right = roofline.intensity_range
    line = _ROOF_LINES[roof.units]
    start = left if roof is roofline.roofs[0] else roofline.roofs[0].ridge
    xs = [start, roof.ridge, right]
    axes.plot(xs, [roof.attainable(x) / 1e12 for x in xs], color=_INK, linestyle=line, linewidth=1.6)
    axes.plot([roof.ridge], [roof.peak / 1e12], marker="|", markersize=12, color=_INK, markeredgewidth=1.6)
    axes.annotate(
        f"{roof_label(roof)}\nridge point {three(roof.ridge)} FLOP/byte",
        (roof.ridge, roof.peak / 1e12),
        xytext=(-6, 5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=_INK,
        fontsize="small",
    )
    if roof is roofline.roofs[0]:
        _bandwidth(axes, roof, left)


def _bandwidth(axes: Axes, roof: Roof, left: float) -> None:
    """Name the slope along its line, midway between the left edge and the ridge point."""
    x = (left * roof.ridge) ** 0.5
    y = roof.attainable(x) / 1e12
    axes.text(
        x,
        y * 1.1,
        f"HBM, {roof.bandwidth / 1e9:,.0f} GB/s",
        # Speed is proportional to intensity there, so the line points from the origin to (x, y).
        rotation=degrees(atan2(y, x)),
        rotation_mode="anchor",
        transform_rotates_text=True,
        ha="center",
        va="bottom",
        color=_INK,
        fontsize="small",
    )


def _kernel(axes: Axes, point: Point, marker: str) -> None:
    """A kernel of the ladder where the model puts it, with what binds it."""
    label = kernel_label(point.kernel) if point.kernel is not None else point.label
    if point.bound_by is not None and point.kernel is not None:
        label += f": {limit_words(point.bound_by, point.kernel.dtype)}"
    axes.plot(
        [point.intensity],
        [point.flops_per_second / 1e12],
        linestyle="none",
        marker=marker,
        markersize=7,
        markerfacecolor="white",
        markeredgecolor=_INK,
        markeredgewidth=1.3,
        label=label,
    )


def _submission(axes: Axes, point: Point, roofline: Roofline) -> None:
    """A submission: a line at its measured intensity, a star at its speed or at the roof it may reach."""
    measured = point.standing == "measured"
    speed = point.flops_per_second / 1e12
    words = f"{three(speed)} TFLOP/s" if measured else f"at most {three(speed)} TFLOP/s, not timed"
    axes.plot(
        [point.intensity] * 2,
        [roofline.speed_range[0] / 1e12, speed],
        color=_ACCENT,
        linestyle=":",
        linewidth=1.4,
    )
    axes.plot(
        [point.intensity],
        [speed],
        linestyle="none",
        marker="*",
        markersize=15,
        zorder=1.9,
        markerfacecolor=_ACCENT if measured else "white",
        markeredgecolor=_ACCENT,
        markeredgewidth=1.3,
        label=f"submission {_printable(point.label)}: {three(point.intensity)} FLOP/byte measured, {words}",
    )


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
