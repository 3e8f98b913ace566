"""``grader release``: the bundle that students get."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.refusal import Refusal


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True, help="An empty or new folder.")
@click.option("--rubrics", type=click.Path(path_type=Path), help="A folder of rubrics of your own.")
@click.option(
    "--private-key-file", type=click.Path(path_type=Path), help="The key that draws the hidden shapes."
)
@click.argument("names", nargs=-1)
def command(out: Path, rubrics: Path | None, private_key_file: Path | None, names: tuple[str, ...]) -> None:
    """Write skeletons and shown shapes of the exercises NAMES (or all) into a folder for students.

    Every file is searched for solutions, answers and hidden shapes; where one is found nothing is written.
    """
    from grader.batch.private_key import read_key
    from grader.batch.problems import BatchError
    from grader.batch.release import release
    from grader.exercises import UnknownExerciseError
    from grader.rubric import RubricError

    try:
        written = release(out, rubrics, names, read_key(private_key_file))
    except (BatchError, RubricError) as error:
        raise Refusal(str(error)) from None
    except UnknownExerciseError as error:
        raise Refusal(f"no exercise is named {error.word!r}; there are {', '.join(error.known)}") from None
    for name in written:
        click.echo(f"wrote {out / name}")
    click.echo("searched for solutions, answers and hidden shapes: none is in it")
