"""``grader sanitize``: run any kernel on the machine and say what is wrong with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from grader.cli import streams
from grader.cli.refusal import Refusal

if TYPE_CHECKING:
    from grader.cli.streams import Colour
    from grader.records import Report
    from grader.simt.trace import ThreadTrace

Format = Literal["terminal", "json", "sarif"]


@click.command("sanitize")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--kernel", help="The kernel's name; not needed where the file has one only.")
@click.option("--grid", required=True, metavar="X[,Y[,Z]]", help="Blocks of the grid.")
@click.option("--block", required=True, metavar="X[,Y[,Z]]", help="Threads of a block.")
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A=float32[100,130]:random, M=100 ..."
)
@click.option("--shared-bytes", type=click.IntRange(0), default=0, help="Dynamic shared memory.")
@click.option("--device", default="h100", show_default=True, help="Whose limits a launch must respect.")
@click.option("--trace-thread", metavar="BLOCK:THREAD", help="Print all that a thread ran, say 0,0:3,1.")
@click.option("--format", "form", type=click.Choice(["terminal", "json", "sarif"]), default="terminal")
@click.option("--colour", "--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def command(
    file: Path,
    kernel: str | None,
    grid: str,
    block: str,
    arguments: tuple[str, ...],
    shared_bytes: int,
    device: str,
    trace_thread: str | None,
    form: Format,
    colour: Colour,
) -> int:
    """Run the kernel of FILE once, without a GPU, and explain every hazard that it has.

    Exit codes: 0 nothing wrong was seen, 1 an error, 2 wrong usage, 3 the machine cannot follow it.
    """
    from grader.perf.devices import DeviceError
    from grader.sanitize import ArgumentError, make_argument, ordered, sanitize
    from grader.simt.trace import ThreadTrace
    from grader.source import SourceError, read

    try:
        text = read(file).text
        name = kernel or _only_kernel(text, file)
        given = dict(make_argument(argument, seed) for seed, argument in enumerate(arguments))
        trace = ThreadTrace(*_thread(trace_thread)) if trace_thread else None
        report, _ = sanitize(
            str(file),
            text,
            name,
            grid=_numbers(grid, "--grid"),
            block=_numbers(block, "--block"),
            args=ordered(text, name, given),
            shared_bytes=shared_bytes,
            device=device,
            observers=(trace,) if trace else (),
        )
    except (ArgumentError, SourceError, DeviceError, ValueError) as error:
        raise Refusal(str(error)) from None
    _write(report, trace, text, form, colour)
    return report.outcome.exit_code


def _only_kernel(text: str, file: Path) -> str:
    from grader.simt import parse

    program = parse(text)
    if program.findings:
        return ""
    names = program.kernels
    if len(names) != 1:
        known = f"one of {', '.join(names)}" if names else "the name of a function"
        raise Refusal(f"{file}: say which kernel with --kernel NAME: {known}")
    return names[0]


def _numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        parts = tuple(int(part) for part in text.split(","))
    except ValueError:
        parts = ()
    if not 1 <= len(parts) <= 3 or min(parts) < 1:
        raise Refusal(f"{option} {text}: write one to three whole numbers, x first, say 5,7")
    return parts


def _thread(text: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    try:
        block, thread = (tuple(int(part) for part in side.split(",")) for side in text.split(":"))
    except ValueError:
        raise Refusal(f"--trace-thread {text}: write BLOCK:THREAD, x first, say 0,0:3,1") from None
    return _padded(block), _padded(thread)


def _padded(parts: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*parts, 0, 0)[:3]
    return x, y, z


def _write(report: Report, trace: ThreadTrace | None, text: str, form: Format, colour: Colour) -> None:
    if form == "sarif":
        from grader.reporters import sarif

        streams.write(sarif.render([report]), colour=False)
        return
    if form == "json":
        from grader.reporters import json

        streams.write(json.render(report), colour=False)
        return
    from grader.reporters import terminal, trace_text

    wants = streams.wants_colour(colour, sys.stdout)
    unicode = streams.has_unicode(sys.stdout)
    body = terminal.render(
        report, colour=wants, width=streams.width(sys.stdout), unicode=unicode, verbose=True
    )
    if trace is not None:
        body = trace_text.render(trace.lines, text.splitlines(), trace.wanted) + "\n" + body
    streams.write(body, colour=wants)
