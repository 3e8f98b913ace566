"""``grader list``: the exercises."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli import streams
from grader.cli.choose import typed_command
from grader.cli.refusal import Refusal
from grader.exercises import find, names


@click.command()
@click.option("--rubrics", type=click.Path(path_type=Path), help="A folder of rubrics of your own.")
def command(rubrics: Path | None) -> None:
    """List the exercises, each with its title."""
    from grader.reporters.style import Style
    from grader.rubric import RubricError, load

    known = names(rubrics)
    if not known:
        raise Refusal("no exercises are here")
    wide = max(map(len, known))
    style = Style(colour=False, width=streams.width(sys.stdout), unicode=streams.has_unicode(sys.stdout))
    rows: list[str] = []
    for name in known:
        try:
            title = load(find(name, rubrics).rubric).title
        except RubricError as error:
            title = f"(its rubric is wrong: {error})"
        rows += style.wrap(title, first=f"  {name:<{wide}}  ")
    streams.write("\n".join([*rows, "", f"{typed_command()} check NAME grades one."]) + "\n")
