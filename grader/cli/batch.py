"""``grader batch``: grade a class."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from grader.cli.paths import NamedPath
from grader.cli.refusal import Refusal

if TYPE_CHECKING:
    from grader.batch.run import BatchResult

_PATH = NamedPath()


@click.command()
@click.argument("submissions", type=_PATH)
@click.option(
    "--out", type=_PATH, default=Path("graded"), show_default=True, help="The folder of all results."
)
@click.option("--assignment", type=_PATH, help="Exercises, deadlines, attempts, feedback (YAML).")
@click.option("--roster", type=_PATH, help="The class list: id, name, email, section, extension (CSV).")
@click.option("--rubrics", type=_PATH, help="A folder of rubrics of your own.")
@click.option("--overrides", type=_PATH, help="Points that people gave (CSV); by default OUT/overrides.csv.")
@click.option(
    "--private-key-file", type=_PATH, help="A secret for hidden shapes; or set TILEGRADE_PRIVATE_KEY."
)
@click.option(
    "--workers", type=click.IntRange(1, 512), help="Gradings at a time; by default one a processor."
)
@click.option("--cluster", help="A dask scheduler, tcp://... or tls://..., or slurm.")
@click.option("--gradebook", help="An nbgrader gradebook: sqlite:///gradebook.db or postgresql://...")
@click.option("--names", is_flag=True, help="Put students' ids into junit.xml in place of pseudonyms.")
@click.option("--junit-per-student", is_flag=True, help="Write a JUnit file for each student too.")
@click.option(
    "--junit-strict", is_flag=True, help="JUnit files that keep to the schema of Jenkins's xUnit plugin."
)
@click.option(
    "--backend",
    type=click.Choice(["machine", "gpu"]),
    default="machine",
    help="gpu: also run each kernel on a GPU and time those that pass, a worker for each device.",
)
@click.option(
    "--arch",
    "archs",
    help="Compile each kernel too, in a sandbox, for these architectures or devices: sm_75,sm_90 or h200.",
)
@click.option("--run-code", is_flag=True, help="Also run each kernel under numba's simulator, in a sandbox.")
@click.option(
    "--unsafe-no-sandbox",
    is_flag=True,
    help="With --run-code, --backend gpu or --arch: run or compile students' code with your rights.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(
    submissions: Path,
    out: Path,
    assignment: Path | None,
    roster: Path | None,
    rubrics: Path | None,
    overrides: Path | None,
    private_key_file: Path | None,
    workers: int | None,
    cluster: str | None,
    gradebook: str | None,
    names: bool,
    junit_per_student: bool,
    junit_strict: bool,
    backend: Literal["machine", "gpu"],
    archs: str | None,
    run_code: bool,
    unsafe_no_sandbox: bool,
    quiet: bool,
) -> int:
    """Grade the class in SUBMISSIONS, a folder or an archive, and write everything into OUT.

    Run again, it goes on where it stopped and grades only what is new.

    Exit codes: 0 every submission has a verdict, 2 wrong usage, 3 some CANNOT JUDGE, 4 some HARNESS FAULT.
    """
    from grader.batch.executors import default_workers
    from grader.batch.private_key import read_key
    from grader.batch.problems import BatchError
    from grader.batch.run import Settings, run

    try:
        settings = Settings(
            submissions=submissions,
            out=out,
            assignment=assignment,
            roster=roster,
            rubrics=rubrics,
            overrides=overrides,
            private_key=read_key(private_key_file),
            workers=workers or default_workers(),
            cluster=cluster,
            gradebook=gradebook,
            names=names,
            junit_per_student=junit_per_student,
            junit_strict=junit_strict,
            run=("bare" if unsafe_no_sandbox else "sandbox") if run_code else "",
            backend=backend,
            archs=_named(archs),
            bare=unsafe_no_sandbox,
            quiet=quiet,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _said
            result = run(settings)
    except BatchError as error:
        raise Refusal(str(error)) from None
    report(result, out)
    return exit_code(result)


def _named(archs: str | None) -> tuple[str, ...]:
    if archs is None:
        return ()
    from grader.batch.compiling import named_architectures

    return named_architectures(archs)


def _said(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning in one line, without the place in our source that it comes from."""
    click.echo(f"grader: warning: {message}", err=True)


def report(result: BatchResult, out: Path) -> None:
    """Say in a few lines what a batch came to."""
    from grader.reporters.style import counted

    record = result.record
    outcomes = Counter(grade.outcome for grade in record.grades)
    tally = ", ".join(
        f"{count} {outcome}" for outcome, count in sorted(outcomes.items(), key=lambda one: -one[1])
    )
    click.echo(
        f"{counted(len(record.by_student()), 'student')}, {counted(len(record.grades), 'grade')}: {tally}"
    )
    click.echo(f"{result.graded} graded now, {result.kept} kept from before")
    kinds = Counter(problem.kind for problem in record.problems)
    if kinds:
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        click.echo(f"to look at: {listed} (problems.csv)")
    click.echo(f"written to {out}: report.html, grades.csv, junit.xml, feedback/ and more")


def exit_code(result: BatchResult) -> int:
    """Give 4 where a grading failed in the grader, else 3 where one could not be judged, else 0."""
    outcomes = {grade.outcome for grade in result.record.grades if grade.final is None}
    if "HARNESS FAULT" in outcomes:
        return 4
    return 3 if "CANNOT JUDGE" in outcomes else 0
