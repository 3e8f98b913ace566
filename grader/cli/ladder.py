"""``grader ladder``: the course's kernels measured beside cuBLAS and the model, or the model alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import ladder
from grader.cli.model import find_devices, parse_size
from grader.cli.refusal import Refusal
from grader.cli.streams import Colour, has_unicode, wants_colour, width, write
from grader.perf.climb import Climb, measured_rows, predicted_rows
from grader.perf.gemm import KernelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.perf.climb import Row, Sizes
    from grader.perf.devices import Device
    from grader.reporters.style import Style

    Tables = Mapping[Sizes, Sequence[Row]]

_MOST_SIZES = 16
_MOST_ELEMENTS = 1 << 32


@click.command("ladder")
@click.option(
    "--size", "--sizes", "sizes", multiple=True, help="N or MxNxK, several with commas.  [default: 4096]"
)
@click.option("--device", "name", help="The profile to predict with: a name or a .toml file.")
@click.option("--lab1", is_flag=True, help="The table of Lab 1: three kernels and cuBLAS, at 1024 and 1000.")
@click.option("--from", "record", type=click.Path(path_type=Path), help="Show a run that --json wrote.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, which --from reads.")
@click.option("--colour", "--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def command(
    sizes: tuple[str, ...], name: str | None, lab1: bool, record: Path | None, as_json: bool, colour: Colour
) -> int:
    """Climb the ladder: each kernel of the course verified, timed and held against cuBLAS and the model.

    That needs a GPU. Without one the model predicts what a device (h200, or --device) would do.
    Exit code 1 where a rung failed or gave a wrong result.
    """
    device = _device(name)
    wanted = _sizes(sizes, lab1)
    style = _style(colour)
    if record is not None:
        return _show(_recorded(record), device, wanted if sizes else [], lab1, as_json, style)
    reason = ladder.no_gpu()
    if not reason:
        return _show(ladder.climb(wanted, _say), device, [], lab1, as_json, style)
    if lab1:
        raise Refusal(f"Lab 1 measures, and nothing can be measured here: {reason}")
    return _predict(device or find_devices("h200")[0], wanted, reason, as_json, style)


def _say(what: str) -> None:
    """Tell a person who waits what is under way."""
    if sys.stderr.isatty():
        click.echo(f"{what} ...", err=True)


def _device(name: str | None) -> Device | None:
    if name is None:
        return None
    found = find_devices(name)
    if len(found) != 1:
        raise click.UsageError("--device names one device")
    return found[0]


def _sizes(given: tuple[str, ...], lab1: bool) -> list[Sizes]:
    words = (",".join(given) if given else "1024,1000" if lab1 else "4096").split(",")
    found = list(dict.fromkeys(parse_size(word) for word in words if word.strip()))
    if not found:
        raise click.UsageError("--size: write N or MxNxK, several with commas")
    if len(found) > _MOST_SIZES:
        raise click.UsageError(f"--sizes: at most {_MOST_SIZES} at once")
    for M, N, K in found:
        if max(M * K, K * N, M * N) > _MOST_ELEMENTS:
            raise click.UsageError(f"--size {M}x{N}x{K}: each matrix has at most 2^32 elements")
    return found


def _style(colour: Colour) -> Style:
    from grader.reporters.style import Style

    return Style(wants_colour(colour, sys.stdout), width(sys.stdout), has_unicode(sys.stdout))


def _recorded(record: Path) -> Climb:
    try:
        return ladder.recorded(record)
    except ladder.LadderError as error:
        raise Refusal(str(error)) from None


def _show(
    climb: Climb, device: Device | None, only: Sequence[Sizes], lab1: bool, as_json: bool, style: Style
) -> int:
    """Show a run, at the sizes of ``only`` where there are any; the exit code says whether all went well."""
    profile = device or (find_devices(climb.device)[0] if climb.device else None)
    tables: Tables = measured_rows(climb, profile)
    if only:
        lacking = [each for each in only if each not in tables]
        if lacking:
            raise Refusal(f"the record has no size {'x'.join(map(str, lacking[0]))}")
        tables = {each: tables[each] for each in only}
    if as_json:
        from grader.reporters import ladder_json

        write(ladder_json.render(climb, tables))
    elif lab1:
        from grader.reporters import ladder_lab

        write(ladder_lab.render(climb, tables, style), colour=style.colour)
        return 0 if ladder_lab.passed(tables) else 1
    else:
        from grader.reporters import ladder_table

        write(ladder_table.render_measured(climb, profile, tables, style), colour=style.colour)
    rows = [row for found in tables.values() for row in found]
    return 0 if rows and all(row.milliseconds is not None for row in rows) else 1


def _predict(device: Device, sizes: Sequence[Sizes], reason: str, as_json: bool, style: Style) -> int:
    _say(f"compiling the kernels for {device.title}")
    resources, missing = ladder.compiled_resources(device)
    try:
        tables = predicted_rows(device, sizes, resources)
    except KernelError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        from grader.reporters import ladder_json

        empty = Climb(gpu="", device=device.name, date="", versions={}, rungs=())
        write(ladder_json.render(empty, tables, reason))
        return 0
    from grader.reporters import ladder_table

    write(ladder_table.render_predicted(device, reason, missing, tables, style), colour=style.colour)
    return 0
