"""``grader purge``: remove a person from a batch."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.refusal import Refusal


@click.command()
@click.argument("student")
@click.option("--out", type=click.Path(path_type=Path), default=Path("graded"), show_default=True)
@click.option("--gradebook", help="An nbgrader gradebook to remove the student from too.")
def command(student: str, out: Path, gradebook: str | None) -> None:
    """Remove STUDENT from the journal and from every file of OUT."""
    from grader.batch.problems import BatchError
    from grader.batch.purge import purge
    from grader.diagnosis.grammar import plural

    try:
        count = purge(out, student)
        if gradebook is not None:
            from grader.batch.gradebook import remove_student

            remove_student(gradebook, student)
    except BatchError as error:
        raise Refusal(str(error)) from None
    gone = plural(count, "submission")
    click.echo(f"removed {student}: {gone} from the journal, and every file that named the student")
    click.echo(
        "Remove the hand-in from the folder of submissions and from the roster, then run grader batch again:"
    )
    click.echo("it writes the class's files without the student.")
