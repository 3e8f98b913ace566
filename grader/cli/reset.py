"""``grader reset``: an exercise's skeleton put back."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.choose import choose, choose_file
from grader.cli.refusal import Refusal
from grader.exercises import ExerciseFileError, reset


@click.command()
@click.argument("name", required=False)
@click.option("--file", type=click.Path(path_type=Path), help="The file to reset instead of exercises/NAME.")
def command(name: str | None, file: Path | None) -> None:
    """Put the skeleton of the exercise NAME back; what stood there is kept as a backup."""
    exercise = choose(name)
    path = choose_file(exercise, name or "", file)
    if path.is_dir():
        raise Refusal(f"{path}: this is a folder; name a file")
    if not path.parent.is_dir():
        raise Refusal(f"{path}: there is no folder {path.parent}; `grader init .` lays one out")
    try:
        result = reset(exercise, path)
    except ExerciseFileError as error:
        raise Refusal(f"{error.path}: cannot be reset: {error.why}") from None
    if not result.changed:
        click.echo(f"{result.path} is the skeleton already.")
    elif result.backup is None:
        click.echo(f"Wrote {result.path}.")
    else:
        click.echo(f"Reset {result.path}. Your version is kept as {result.backup}.")
