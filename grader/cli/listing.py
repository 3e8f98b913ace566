"""``grader list``: the exercises."""

from __future__ import annotations

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
    from grader.rubric import RubricError, load

    known = names(rubrics)
    if not known:
        raise Refusal("no exercises are here")
    wide = max(map(len, known))
    rows = []
    for name in known:
        try:
            title = load(find(name, rubrics).rubric).title
        except RubricError as error:
            title = f"(its rubric is wrong: {error})"
        rows.append(f"  {name:<{wide}}  {title}")
    streams.write("\n".join([*rows, "", f"{typed_command()} check NAME grades one."]) + "\n")
