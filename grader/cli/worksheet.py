"""``grader worksheet``: write a student's own sheet, with numbers that are drawn for them."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli import streams
from grader.cli.choose import choose
from grader.cli.refusal import Refusal
from grader.exercises import ExerciseFileError, write_text


@click.command("worksheet")
@click.argument("name")
@click.option("--student", required=True, help="The key that the numbers are drawn from, say a login.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the sheet to this file.")
@click.option("--rubrics", type=click.Path(path_type=Path), help="A folder of rubrics of your own.")
def command(name: str, student: str, output: Path | None, rubrics: Path | None) -> int:
    """Write the worksheet NAME for one student. Grading finds the key in the sheet."""
    from grader.rubric import RubricError
    from grader.rubric.personal import NotPersonalError, StudentKeyError, worksheet

    exercise = choose(name, rubrics)
    try:
        text = worksheet(exercise.rubric, student)
    except StudentKeyError:
        wanted = "letters, digits, dots, dashes, underscores and @, say a login or an address"
        raise Refusal(f"--student {student!r}: a sheet can hold a key of {wanted}") from None
    except NotPersonalError:
        raise Refusal(
            f"{exercise.name} has no numbers that are drawn for a student; take the file itself"
        ) from None
    except RubricError as error:
        raise Refusal(str(error)) from None
    if output is None:
        streams.write(text, colour=False)
    elif output.exists():
        raise Refusal(f"--output {output}: the file exists already; name a new one")
    else:
        try:
            write_text(output, text)
        except ExerciseFileError as error:
            raise Refusal(f"--output {output}: {error.why}") from None
    return 0
