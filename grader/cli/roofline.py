"""``grader roofline``: a device's roofs, the ladder under them, and where a submission stands."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.model import find_devices, find_kernel, parse_seconds, parse_size
from grader.cli.refusal import KernelRefusal, Refusal
from grader.cli.streams import has_unicode, width, write
from grader.perf.devices import device_names
from grader.perf.gemm import KernelError
from grader.perf.ladder import ladder_for
from grader.perf.roofline import Point, Roofline, roofline, submission_point

if TYPE_CHECKING:
    from grader.perf.devices import Device
    from grader.reporters.roofline_plot import Format

_TIME = re.compile(r"(?P<time>\d{1,9}(\.\d{1,9})?)\s*(?P<unit>s|ms|us)?")
_FORMATS: dict[str, Format] = {".svg": "svg", ".png": "png"}


@click.command("roofline")
@click.option("--device", "name", default="h200", show_default=True, help="A name or a .toml file.")
@click.option("--size", default="4096", show_default=True, help="N for N x N x N, or MxNxK.")
@click.option("--kernel", "kernels", multiple=True, help="Instead of the ladder: tiled:16, ...")
@click.option("--submission", type=click.Path(path_type=Path), help="A file to place by its intensity.")
@click.option("--exercise", help="Its exercise, where the file's name does not say.")
@click.option("--measured", metavar="MS", help="The submission's measured time at --size.")
@click.option("--out", type=click.Path(path_type=Path), help="Draw into FILE.svg or FILE.png.")
def command(
    name: str,
    size: str,
    kernels: tuple[str, ...],
    submission: Path | None,
    exercise: str | None,
    measured: str | None,
    out: Path | None,
) -> int:
    """Show the roofline of a device: ridge points, the course's kernels, your kernel.

    The submission is placed by the FLOP per byte that the machine counts, and by its speed where
    --measured gives one. Exit code 1 where its kernel is wrong.
    """
    device, sizes = _one_device(name), parse_size(size)
    image = _image_format(out)
    chosen = {text: find_kernel(text, None) for text in kernels} or ladder_for(device)
    points = [] if submission is None else [_place(submission, exercise, device, measured, sizes)]
    if measured is not None and submission is None:
        raise click.UsageError("--measured is the time of a submission: name it with --submission")
    try:
        drawn = roofline(device, chosen, sizes, points)
    except KernelError as error:
        raise click.UsageError(str(error)) from None
    _show(drawn)
    if out is not None and image is not None:
        _draw(drawn, out, image)
    return 1 if any(point.faults for point in points) else 0


def _one_device(name: str) -> Device:
    found = find_devices(name)
    if len(found) != 1:
        raise click.UsageError("a roofline is that of one device")
    return found[0]


def _image_format(out: Path | None) -> Format | None:
    if out is None:
        return None
    if out.suffix.lower() not in _FORMATS:
        raise click.UsageError(f"--out {out}: the name must end in .svg or .png")
    return _FORMATS[out.suffix.lower()]


def _place(
    path: Path, exercise: str | None, device: Device, measured: str | None, sizes: tuple[int, int, int]
) -> Point:
    """The submission's point, or a usage error that says why it has none."""
    from grader import source
    from grader.cli.choose import choose
    from grader.counted_launch import LaunchError
    from grader.placement import PlacementError, place
    from grader.rubric.load import load

    speed = _speed(measured, sizes)
    try:
        text = source.read(path).text
    except source.SourceError as error:
        raise click.UsageError(str(error)) from None
    chosen = choose(exercise or path.stem)
    try:
        # The machine knows the package's devices; what a kernel asks for does not depend on another's rates.
        known = device.name if device.name in device_names() else "h100"
        placed = place(text, load(chosen.rubric), known)
    except PlacementError as error:
        raise click.UsageError(str(error)) from None
    except LaunchError as error:
        raise KernelRefusal(f"{path}: {error}; grader check {chosen.name} --file {path} says why") from None
    return submission_point(path.name, device, placed.intensity, speed, placed.faults)


def _speed(measured: str | None, sizes: tuple[int, int, int]) -> float | None:
    if measured is None:
        return None
    match = _TIME.fullmatch(measured.strip())
    seconds = parse_seconds(match["time"], match["unit"]) if match is not None else 0.0
    if seconds <= 0:
        raise click.UsageError(f"--measured {measured}: write a time, say 17.8 (ms) or 661us")
    M, N, K = sizes
    return 2 * M * N * K / seconds


def _show(drawn: Roofline) -> None:
    from grader.reporters import roofline_text
    from grader.reporters.style import Style

    style = Style(colour=False, width=width(sys.stdout), unicode=has_unicode(sys.stdout))
    write(roofline_text.render(drawn, style))


def _draw(drawn: Roofline, out: Path, image: Format) -> None:
    from grader.reporters.roofline_plot import PlotError, render

    try:
        out.write_bytes(render(drawn, image))
    except PlotError as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        raise Refusal(f"{out}: cannot be written ({error.strerror or error})") from None
    write(f"drawn in {out}\n")
