"""What the output is: a terminal or not, how wide, what it can show; and writing to it."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import Literal, TextIO

import click

Colour = Literal["auto", "always", "never"]
_PIPE_WIDTH = 100


def prepare_streams() -> None:
    """Let no character end a run: what a console's encoding lacks is written as ``?``.

    A stream that was closed before we began swallows what is written to it; the exit code still counts.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - as above
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def has_unicode(stream: TextIO) -> bool:
    """Say whether a stream takes characters beyond its code page."""
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def wants_colour(choice: Colour, stream: TextIO) -> bool:
    """Say whether to colour: on a terminal that can, unless ``NO_COLOR`` is set or the choice decides."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def width(stream: TextIO) -> int:
    """Give a terminal's columns, at most 120, or those of a page where the output is no terminal."""
    if not stream.isatty():
        columns = os.environ.get("COLUMNS", "")
        return int(columns) if columns.isdecimal() and int(columns) else _PIPE_WIDTH
    return min(shutil.get_terminal_size().columns, 120)


def write(text: str, *, colour: bool = False) -> None:
    """Write text to the standard output, keeping ANSI colours exactly where they are wanted."""
    click.echo(text, nl=False, color=colour or None)
