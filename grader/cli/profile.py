"""``grader profile``: what a kernel moves, what is likely to bind it, what the compiler made of it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.choose import choose, choose_file
from grader.cli.model import find_devices, parse_size
from grader.cli.refusal import KernelRefusal, Refusal
from grader.cli.streams import has_unicode, width, write


@click.command("profile")
@click.argument("name", required=False)
@click.option("--file", type=click.Path(path_type=Path), help="Profile this file instead of exercises/NAME.")
@click.option("--device", "device_name", default="h200", show_default=True, help="A name or a .toml file.")
@click.option("--size", default="1024", show_default=True, help="N for N x N x N, or MxNxK.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def command(name: str | None, file: Path | None, device_name: str, size: str, as_json: bool) -> int:
    """Show the profile of the exercise NAME beside the naive kernel's and the solution's.

    Traffic by level, time at each limit, bank conflicts: counted by the machine, without a GPU.
    Registers and occupancy take the extra `compile`; where ncu and a GPU are at hand, its figures too.
    Exit code 1 where the kernel is wrong: the profile names the faults that `grader check` finds.
    """
    from grader.counted_launch import LaunchError
    from grader.profile import ProfileError, profile
    from grader.rubric import RubricError
    from grader.source import SourceError

    exercise = choose(name)
    path = choose_file(exercise, name or "", file)
    devices = find_devices(device_name)
    if len(devices) != 1:
        raise click.UsageError("a profile is that of one device")
    try:
        found = profile(exercise, path, devices[0], parse_size(size))
    except (ProfileError, RubricError, SourceError) as error:
        raise Refusal(str(error)) from None
    except LaunchError as error:
        raise KernelRefusal(f"{path}: {error}; grader check {exercise.name} --file {path} says why") from None
    if as_json:
        from grader.reporters import profile_json

        write(profile_json.render(found))
        return 1 if found.faults else 0
    from grader.reporters import profile_table
    from grader.reporters.style import Style

    style = Style(colour=False, width=width(sys.stdout), unicode=has_unicode(sys.stdout))
    write(profile_table.render(found, style))
    return 1 if found.faults else 0
