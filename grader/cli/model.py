"""``grader model``: what the model says of kernels on devices."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Literal, get_args

import click

from grader.cli.streams import Colour, has_unicode, wants_colour, width, write
from grader.perf.device_file import find_device
from grader.perf.devices import DeviceError, Dtype
from grader.perf.gemm import KernelError, Prediction, predict
from grader.perf.ladder import LADDER, parse_kernel
from grader.perf.reconcile import Reconciliation, reconcile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.perf.devices import Device
    from grader.perf.gemm import GemmKernel

_SIZE = re.compile(r"\d{1,10}(x\d{1,10}x\d{1,10})?")
_TIMED = re.compile(r"(?P<kernel>[^=]+)=(?P<time>\d{1,9}(\.\d{1,9})?)\s*(?P<unit>s|ms|us)?")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@click.command("model")
@click.option("--size", default="4096", show_default=True, help="N for N x N x N, or MxNxK.")
@click.option("--device", "devices", default="a100,h100", show_default=True, help="Names or .toml files.")
@click.option("--kernel", "kernels", multiple=True, help="naive, tiled:16, register:64x64x16/4x4, ...")
@click.option("--dtype", type=click.Choice(get_args(Dtype)), help="Of A and B, for every kernel.")
@click.option("--measured", multiple=True, metavar="KERNEL=MS", help="A measured time, to be reconciled.")
@click.option("--detail", is_flag=True, help="Show bytes, intensities, limits and occupancy.")
@click.option("--format", "form", type=click.Choice(["terminal", "json"]), default="terminal")
@click.option("--colour", "--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def command(
    size: str,
    devices: str,
    kernels: tuple[str, ...],
    dtype: Dtype | None,
    measured: tuple[str, ...],
    detail: bool,
    form: Literal["terminal", "json"],
    colour: Colour,
) -> None:
    """Print the model of matrix-product kernels: FLOP per byte, time, and what binds.

    KERNEL is KIND[:BLOCK[/PATCH]], say tiled:16 or register:64x64x16/4x4.
    """
    found = find_devices(devices)
    chosen = [find_kernel(text, dtype) for text in kernels or LADDER]
    sizes = parse_size(size)
    try:
        predictions = [predict(kernel, device, *sizes) for kernel in chosen for device in found]
        timed = [_reconciled(text, dtype, found, sizes) for text in measured]
    except (KernelError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    _write(predictions, timed, detail, form, wants_colour(colour, sys.stdout))


def find_devices(text: str) -> list[Device]:
    """The devices of a comma-separated list, each once, or a usage error."""
    try:
        found = [find_device(name) for name in text.split(",") if name.strip()]
    except DeviceError as error:
        raise click.UsageError(str(error)) from None
    if not found:
        raise click.UsageError("name a device, say --device h100")
    return list({device.name: device for device in found}.values())


def find_kernel(text: str, dtype: Dtype | None) -> GemmKernel:
    """The kernel that ``text`` describes, or a usage error."""
    try:
        return parse_kernel(text, dtype)
    except KernelError as error:
        raise click.UsageError(str(error)) from None


def parse_size(text: str) -> tuple[int, int, int]:
    """M, N, K of ``4096`` or ``1000x700x1000``, or a usage error."""
    if _SIZE.fullmatch(text.strip().lower()) is None:
        raise click.UsageError(f"--size {text}: write N, or MxNxK, say 4096 or 1000x700x1000")
    sizes = [int(part) for part in text.lower().split("x")]
    if min(sizes) < 1:
        raise click.UsageError(f"--size {text}: each size is at least 1")
    return (sizes[0], sizes[0], sizes[0]) if len(sizes) == 1 else (sizes[0], sizes[1], sizes[2])


def parse_seconds(text: str, unit: str | None) -> float:
    """A time in seconds; milliseconds where no unit is written."""
    return float(text) * _SECONDS[unit or "ms"]


def _reconciled(
    text: str, dtype: Dtype | None, devices: Sequence[Device], sizes: tuple[int, int, int]
) -> Reconciliation:
    match = _TIMED.fullmatch(text.strip())
    if match is None:
        raise click.UsageError(f"--measured {text}: write KERNEL=TIME, say tiled=17.8 (ms) or tensor=661us")
    if len(devices) != 1:
        raise click.UsageError("--measured needs the one device it was measured on, say --device h200")
    prediction = predict(find_kernel(match["kernel"], dtype), devices[0], *sizes)
    return reconcile(prediction, parse_seconds(match["time"], match["unit"]))


def _write(
    predictions: Sequence[Prediction],
    timed: Sequence[Reconciliation],
    detail: bool,
    form: Literal["terminal", "json"],
    colour: bool,
) -> None:
    if form == "json":
        from grader.reporters import model_json

        write(model_json.render(predictions, timed))
        return
    from grader.reporters import model_table
    from grader.reporters.style import Style

    style = Style(colour, width(sys.stdout), has_unicode(sys.stdout))
    write(model_table.render(predictions, style, detail=detail, reconciliations=timed), colour=colour)
