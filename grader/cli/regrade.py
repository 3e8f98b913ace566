"""``grader regrade``: grade some of a class again and say what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from grader.cli.paths import NamedPath
from grader.cli.refusal import Refusal


@click.command()
@click.argument("out", type=NamedPath())
@click.option("--student", "students", multiple=True, help="A student's id; may be given several times.")
@click.option(
    "--exercise", "exercises", multiple=True, help="An exercise's name; may be given several times."
)
@click.option("--private-key-file", type=NamedPath(), help="The key of the batch, where it had one.")
@click.option(
    "--workers", type=click.IntRange(1, 512), help="Gradings at a time; by default one a processor."
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(
    out: Path,
    students: tuple[str, ...],
    exercises: tuple[str, ...],
    private_key_file: Path | None,
    workers: int | None,
    quiet: bool,
) -> int:
    """Grade a batch's submissions again, all or some of them, and print old and new points."""
    from grader.batch.executors import default_workers
    from grader.batch.private_key import read_key
    from grader.batch.problems import BatchError
    from grader.batch.run import Settings, run
    from grader.cli.batch import exit_code

    kept = _settings(out)
    try:
        key = read_key(private_key_file)
        if kept.pop("keyed") and key is None:
            raise Refusal(f"{out}: the batch had a private key; give it with --private-key-file")
        optional = ("names", "junit_per_student", "junit_strict", "run", "backend", "bare")
        flags = {name: kept.pop(name) for name in optional if name in kept}
        archs = tuple(kept.pop("archs", ()))
        paths: dict[str, Any] = {name: Path(path) for name, path in kept.items() if path is not None}
        settings = Settings(
            out=out,
            private_key=key,
            workers=workers or default_workers(),
            quiet=quiet,
            regrade=True,
            regrade_students=students,
            regrade_exercises=exercises,
            archs=archs,
            **paths,
            **flags,
        )
        result = run(settings)
    except BatchError as error:
        raise Refusal(str(error)) from None
    click.echo(f"{result.graded} graded again")
    changes = _changes(result)
    for line in changes or ["nothing changed"]:
        click.echo(line)
    return exit_code(result)


def _settings(out: Path) -> dict[str, Any]:
    from grader.batch.journal import Journal
    from grader.batch.problems import BatchError

    path = out / "journal.sqlite3"
    if not path.is_file():
        raise Refusal(f"{out}: no batch wrote this folder")
    try:
        journal = Journal(path)
        noted = journal.noted("settings")
        journal.close()
    except BatchError as error:
        raise Refusal(str(error)) from None
    if noted is None:
        raise Refusal(f"{out}: the batch in this folder never began to grade; run grader batch")
    settings: dict[str, Any] = json.loads(noted)
    return settings


def _changes(result: Any) -> list[str]:
    from grader.reporters.style import number

    lines = []
    for grade in result.record.grades:
        old = result.before.get((grade.student.id, grade.exercise.name))
        new = grade.report
        if old is None or (old.points, old.outcome, old.reason) == (new.points, new.outcome, new.reason):
            continue
        was, now = (f"{one.outcome.value} {number(one.points)}" for one in (old, new))
        why = f"  {new.reason}" if new.reason else ""
        lines.append(f"{grade.student.id}  {grade.exercise.name}  {was} -> {now}{why}")
    return lines
