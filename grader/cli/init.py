"""``grader init``: a student's folder."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.refusal import Refusal
from grader.exercises import ExerciseFileError, init


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def command(folder: Path | None) -> None:
    """Lay out FOLDER with a fresh copy of each exercise; files that are there are left alone."""
    if folder is None:
        raise Refusal("name the folder to lay out, say `grader init gemm`")
    if folder.exists() and not folder.is_dir():
        raise Refusal(f"{folder}: this is a file; name a folder")
    try:
        written, left = init(folder)
    except ExerciseFileError as error:
        raise Refusal(f"{error.path}: cannot be written: {error.why}") from None
    for path in written:
        click.echo(f"wrote {path}")
    for path in left:
        click.echo(f"left  {path}, which was there")
    click.echo(f"Next: cd {folder}, edit exercises/, then grader check NAME.")
