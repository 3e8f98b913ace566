"""``grader check``: grade one exercise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from grader.cli import streams
from grader.cli.choose import choose, choose_file, typed_command
from grader.cli.refusal import Refusal
from grader.exercises import Exercise, ExerciseFileError, write_text
from grader.gpu.options import Backend, Beside, GpuOptions
from grader.records import Report

if TYPE_CHECKING:
    from grader.cli.streams import Colour

Format = Literal["terminal", "json", "junit"]


@click.command()
@click.argument("name", required=False)
@click.option("--file", type=click.Path(path_type=Path), help="Grade this file instead of exercises/NAME.")
@click.option("--format", "format_", type=click.Choice(["terminal", "json", "junit"]), default="terminal")
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("--hint", type=click.IntRange(1), default=1, help="Level of the hints: 1, 2 or 3.")
@click.option("--verbose", is_flag=True, help="Show every diagnostic in full, notes too.")
@click.option("--colour", "--color", type=click.Choice(["auto", "always", "never"]), default="auto")
@click.option("--rubrics", type=click.Path(path_type=Path), help="A folder of rubrics of your own.")
@click.option(
    "--private-key-file", type=click.Path(path_type=Path), help="An instructor's secret for hidden shapes."
)
@click.option(
    "--backend",
    type=click.Choice(["machine", "gpu", "auto"]),
    default="machine",
    help="Run the kernel on a GPU as well; auto: where there is one.",
)
@click.option(
    "--arch", "archs", help="Compile the kernel too, for these architectures or devices: sm_75,sm_90 or h200."
)
@click.option("--sanitizer", is_flag=True, help="Run compute-sanitizer's tools over it too, on a GPU.")
@click.option("--counters", is_flag=True, help="Show ncu's counters beside the machine's, on a GPU.")
@click.option("--no-timing", is_flag=True, help="Leave out the times that the rubric asks for, on a GPU.")
@click.option("--unsafe-no-sandbox", is_flag=True, help="Let the GPU backend run kernels without a sandbox.")
def command(
    name: str | None,
    file: Path | None,
    format_: Format,
    output: Path | None,
    hint: int,
    verbose: bool,
    colour: Colour,
    rubrics: Path | None,
    private_key_file: Path | None,
    backend: Backend,
    archs: str | None,
    sanitizer: bool,
    counters: bool,
    no_timing: bool,
    unsafe_no_sandbox: bool,
) -> int:
    """Grade the exercise NAME (a prefix will do) and say why it fails.

    Exit codes: 0 PASS, 1 FAIL, 2 wrong usage, 3 CANNOT JUDGE, 4 HARNESS FAULT.
    """
    exercise = choose(name, rubrics)
    path = choose_file(exercise, name or "", file)
    if output is not None:
        _refuse_output(output, path)
    gpu = GpuOptions(unsafe_no_sandbox=unsafe_no_sandbox, timed=not no_timing)
    report = run(
        exercise,
        path,
        rubrics,
        private_key_file,
        hint,
        backend,
        gpu,
        Beside(_architectures(archs), sanitizer, counters),
    )
    _refuse_unknown(report)
    text = _render(report, format_, colour if output is None else "never", verbose=verbose, to_file=output)
    if output is None:
        streams.write(text, colour=format_ == "terminal" and streams.wants_colour(colour, sys.stdout))
    else:
        _save(text, output, report)
    return report.outcome.exit_code


def run(
    exercise: Exercise,
    path: Path,
    rubrics: Path | None,
    private_key_file: Path | None,
    hint: int,
    backend: Backend = "machine",
    gpu: GpuOptions | None = None,
    beside: Beside | None = None,
) -> Report:
    """Grade a file, or end in a usage error where there is no file to grade."""
    from grader.grade import grade
    from grader.rubric import RubricError
    from grader.source import SourceError, read

    try:
        read(path)
    except SourceError as error:
        if error.is_usage:
            lost = error.fault == "missing" and path.name == exercise.file_name
            raise Refusal(f"{error}{_where_to_get(exercise) if lost else ''}") from None
    key = None if private_key_file is None else _private_key(private_key_file)
    try:
        report = grade(
            exercise.name,
            path,
            rubric_dir=rubrics,
            private_key=key,
            hint_level=hint,
            backend=backend,
            gpu=gpu,
            beside=beside,
        )
    except RubricError as error:
        raise Refusal(str(error)) from None
    if report.fault is not None and report.fault.traceback:
        from grader.cli.fault import report_line, save_details

        words = click.get_current_context().obj
        click.echo(report_line(words, save_details(report.fault.traceback, words)), err=True)
    return report


def _architectures(words: str | None) -> tuple[str, ...]:
    if words is None:
        return ()
    from grader.compilation import architectures

    try:
        return architectures(words)
    except ValueError as error:
        raise Refusal(f"--arch: {error}") from None


def _refuse_unknown(report: Report) -> None:
    """Refuse, as a batch does, an architecture that the compiler turned out not to have."""
    unknown = next((one for one in report.compiled if one.error_kind == "arch"), None)
    if unknown is not None:
        raise Refusal(f"--arch: this compiler has no {unknown.arch}; {unknown.error}")


def _where_to_get(exercise: Exercise) -> str:
    another = "FILE=path" if typed_command() == "make" else "--file PATH"
    return f". `{typed_command()} reset {exercise.name}` writes a fresh one, {another} names another"


def _private_key(path: Path) -> bytes | None:
    """Read a key as a batch does: the same file is good, or refused, for both."""
    from grader.batch.private_key import read_key
    from grader.batch.problems import BatchError

    try:
        return read_key(path)
    except BatchError as error:
        raise Refusal(str(error)) from None


def _render(report: Report, format_: Format, colour: Colour, *, verbose: bool, to_file: Path | None) -> str:
    if format_ == "json":
        from grader.reporters import json

        return json.render(report)
    if format_ == "junit":
        from grader.reporters import junit

        return junit.render([report])
    from grader.reporters import terminal

    return terminal.render(
        report,
        colour=streams.wants_colour(colour, sys.stdout),
        width=streams.width(sys.stdout),
        unicode=to_file is not None or streams.has_unicode(sys.stdout),
        command=typed_command(),
        verbose=verbose,
    )


def _refuse_output(output: Path, submission: Path) -> None:
    """Refuse before grading what could not be written after it, or would destroy the student's work."""
    if output.is_dir():
        raise Refusal(f"--output {output}: this is a folder; name a file in it")
    if not output.parent.is_dir():
        raise Refusal(f"--output {output}: there is no folder {output.parent}")
    if output.exists() and submission.exists() and output.samefile(submission):
        raise Refusal(f"--output {output}: this is the file to grade, and would be overwritten")


def _save(text: str, output: Path, report: Report) -> None:
    try:
        write_text(output, text)
    except ExerciseFileError as error:
        streams.write(text)
        raise Refusal(f"--output {error.path}: cannot be written: {error.why}") from None
    from grader.reporters.style import number

    points = f"{number(report.points)} of {number(report.possible)} points"
    click.echo(f"{report.exercise}  {report.outcome.value}  {points}, written to {output}")
