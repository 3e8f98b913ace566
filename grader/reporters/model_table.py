"""The model's predictions as a table for a terminal, with or without the workings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reporters.model_words import (
    RESOURCE,
    gap_words,
    kernel_label,
    limit_words,
    milliseconds,
    obstacle_words,
    three,
    with_prefix,
)
from grader.reporters.style import counted, display_width, pad, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.perf.gemm import Prediction
    from grader.perf.reconcile import Reconciliation
    from grader.reporters.style import Style

_GAP = "  "
_INTENSITY = "FLOP/byte"
#: Columns of a table of one device; what is wider than the terminal with fewer cannot be split.
_ONE_DEVICE = 4


def render(
    predictions: Sequence[Prediction],
    style: Style,
    *,
    detail: bool = False,
    reconciliations: Sequence[Reconciliation] = (),
) -> str:
    """Write predictions of one size, any kernels and devices, as text that ends with a newline.

    One row per kernel with its FLOP per byte, and per device its time and what binds. ``detail`` adds
    the workings of every prediction; ``reconciliations`` a line for each measured time.
    """
    first = predictions[0]
    blocks = [[_title(first, style)], _table(predictions, style), _conventions(style)]
    blocks[2] += _refusals(predictions, style)
    if detail:
        blocks += [_workings(prediction, style) for prediction in predictions]
    blocks += [_reconciliation(found, style) for found in reconciliations]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks) + "\n"


def _title(first: Prediction, style: Style) -> str:
    sizes = f"M, N, K = {first.M}, {first.N}, {first.K}"
    title = f"Matrix product, {sizes}: {with_prefix(first.flops, 'FLOP')}"
    return "\n".join(style.paint("strong", line) for line in style.wrap(title))


def _table(predictions: Sequence[Prediction], style: Style) -> list[str]:
    """One table of all devices where it fits the width, else one per device."""
    devices = list(dict.fromkeys(prediction.device.name for prediction in predictions))
    whole = _table_of(devices, predictions, style)
    if len(devices) == 1 or max(map(display_width, whole)) <= style.width:
        rows = whole
    else:
        tables = [[*_table_of([name], predictions, style), ""] for name in devices]
        rows = [row for table in tables for row in table][:-1]
    return [style.paint("strong", row) if row.startswith(f"{_GAP}Kernel{_GAP}") else row for row in rows]


def _table_of(devices: Sequence[str], predictions: Sequence[Prediction], style: Style) -> list[str]:
    kernels = list(dict.fromkeys(prediction.kernel for prediction in predictions))
    cells = {(p.kernel, p.device.name): p for p in predictions}
    rows = [["Kernel", _INTENSITY]]
    for name in devices:
        rows[0] += [f"{style.plain(name.upper())}, ms", "bound by"]
    for kernel in kernels:
        row = [kernel_label(kernel), three(cells[kernel, devices[0]].hbm_intensity)]
        for name in devices:
            row += _verdict(cells[kernel, name])
        rows.append(row)
    return _laid_out(rows[0], rows, "<>" + "><" * len(devices), style)


def _verdict(prediction: Prediction) -> list[str]:
    """Time and limit; where the kernel cannot run the reason stands below the table."""
    if prediction.seconds is None or prediction.bound_by is None:
        return ["-", "cannot run"]
    return [milliseconds(prediction.seconds), limit_words(prediction.bound_by, prediction.kernel.dtype)]


def _refusals(predictions: Sequence[Prediction], style: Style) -> list[str]:
    return [
        line
        for prediction in predictions
        for obstacle in prediction.obstacles[:1]
        for line in style.wrap(
            f"{kernel_label(prediction.kernel)} cannot run on {style.plain(prediction.device.title)}: "
            f"{obstacle_words(obstacle, prediction.kernel.dtype)}.",
            first=_GAP,
            rest=_GAP * 2,
        )
    ]


def _laid_out(heading: Sequence[str], rows: Sequence[Sequence[str]], sides: str, style: Style) -> list[str]:
    """Columns where they fit the width; a table of one device or kernel that does not is stacked."""
    lines = _aligned(rows, sides)
    if len(sides) > _ONE_DEVICE or max(map(display_width, lines)) <= style.width:
        return lines
    return stacked(heading, rows[1:] if rows[0] is heading else rows, style)


def _aligned(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Columns of equal width, each flush to the left or the right as ``sides`` says."""
    widths = [max(display_width(row[i]) for row in rows) for i in range(len(sides))]
    lines = []
    for row in rows:
        cells = zip(row, widths, sides)
        padded = [cell.rjust(width) if side == ">" else pad(cell, width) for cell, width, side in cells]
        lines.append((_GAP + _GAP.join(padded)).rstrip())
    return lines


def _conventions(style: Style) -> list[str]:
    text = (
        "A model, not a measurement: FLOP per byte at HBM with the stores of C counted; nothing is found "
        "again in L2; the longest of the limits is the time."
    )
    return style.wrap(text, first=_GAP)


def _workings(prediction: Prediction, style: Style) -> list[str]:
    traffic, dtype = prediction.traffic, prediction.kernel.dtype
    title = f"{kernel_label(prediction.kernel)} on {style.plain(prediction.device.title)}"
    shared = prediction.shared_intensity
    rows = [
        ["FLOP", with_prefix(traffic.flops, "FLOP"), _padding_words(prediction)],
        ["bytes at HBM", with_prefix(prediction.hbm_bytes, "B"), _per_byte(prediction.hbm_intensity)],
        ["  loads alone", with_prefix(traffic.global_load_bytes, "B"), _per_byte(prediction.load_intensity)],
        [
            "  if L2 kept all",
            with_prefix(traffic.compulsory_bytes, "B"),
            _per_byte(prediction.best_intensity),
        ],
    ]
    if shared is not None:
        rows.append(["bytes at shared", with_prefix(prediction.shared_bytes, "B"), _per_byte(shared)])
    for limit in prediction.limits:
        words = limit_words(limit.name, dtype)
        unit = "FLOP/s" if limit.name in {"alu", "tensor-core"} else "B/s"
        binds = "binds" if limit.name == prediction.bound_by else ""
        rate = f"at {with_prefix(limit.rate, unit)}"
        rows.append([f"time, {words}", f"{milliseconds(limit.seconds)} ms", f"{rate}  {binds}".rstrip()])
    rows += _block_rows(prediction)
    painted = [style.paint("strong", line) for line in style.wrap(title)]
    return [*painted, *_laid_out(("", "", ""), rows, "<><", style)]


def _block_rows(prediction: Prediction) -> list[list[str]]:
    """What a block takes, and how many fit on an SM."""
    held = prediction.occupancy
    source = "estimated" if prediction.registers_estimated else "given"
    spill = f", above {prediction.device.max_registers_per_thread}: spills" if prediction.spills else ""
    scarce = " and ".join(RESOURCE[resource] for resource in held.limited_by)
    warps = f"{held.warps_per_sm} of {held.max_warps_per_sm} warps"
    return [
        ["threads a block", f"{prediction.threads_per_block:,}", ""],
        ["registers a thread", f"{prediction.registers:,}", source + spill],
        ["shared memory a block", f"{prediction.shared_bytes_per_block:,} B", ""],
        [
            "occupancy",
            f"{held.fraction:.0%}",
            f"{counted(held.blocks_per_sm, 'block')} an SM, {warps}, limited by {scarce}",
        ],
    ]


def _padding_words(prediction: Prediction) -> str:
    traffic = prediction.traffic
    if traffic.executed_flops == traffic.flops:
        return ""
    return f"{with_prefix(traffic.executed_flops, 'FLOP')} with the zeros of ragged tiles"


def _per_byte(intensity: float) -> str:
    return f"{three(intensity)} {_INTENSITY}"


def _reconciliation(found: Reconciliation, style: Style) -> list[str]:
    prediction = found.prediction
    assert prediction.seconds is not None  # reconcile() refuses what cannot run
    title = f"{kernel_label(prediction.kernel)} on {style.plain(prediction.device.title)}"
    times = (
        f"{milliseconds(found.measured_seconds)} ms measured, {milliseconds(prediction.seconds)} ms predicted"
    )
    speed = with_prefix(found.flops_per_second, "FLOP/s")
    figures = f"{times}: {found.achieved:.0%} of the model's speed, {speed}."
    shares = ", ".join(
        f"{limit_words(name, prediction.kernel.dtype)} {share:.0%}" for name, share in found.shares
    )
    return [
        style.paint("strong", title),
        *style.wrap(figures, first=_GAP),
        *style.wrap(f"Part of the measured time that each limit accounts for: {shares}.", first=_GAP),
        *style.wrap(gap_words(found), first=_GAP),
    ]
