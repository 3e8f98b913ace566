"""``grader hint``: one hint more for what is wrong now."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli import streams
from grader.cli.check import run
from grader.cli.choose import choose, choose_file, typed_command
from grader.cli.hint_state import next_level
from grader.records import Outcome, Report
from grader.reporters.style import Style


@click.command()
@click.argument("name", required=False)
@click.option("--file", type=click.Path(path_type=Path), help="Look at this file instead of exercises/NAME.")
@click.option("--rubrics", type=click.Path(path_type=Path), help="A folder of rubrics of your own.")
def command(name: str | None, file: Path | None, rubrics: Path | None) -> int:
    """Show the next hint for the exercise NAME: a question, then a pointer, then the action."""
    from grader.rubric import load

    exercise = choose(name, rubrics)
    path = choose_file(exercise, name or "", file)
    report = run(exercise, path, rubrics, None, 1)
    if report.outcome is Outcome.HARNESS_FAULT:
        click.echo(report.reason or "the grader itself failed; nothing is wrong with your code", err=True)
        return report.outcome.exit_code
    if report.outcome is Outcome.PASS:
        click.echo(f"{exercise.name} passes: no hint is needed.")
        return 0
    rubric = load(exercise.rubric)
    cause, hints = _hints(report, tuple(rubric.hints))
    highest = min(len(hints), rubric.max_hint_level)
    if not highest:
        click.echo(f"There is no hint for this. {typed_command()} check {exercise.name} says what is wrong.")
        return 0
    level = next_level(path, exercise.name, cause, highest)
    streams.write(_text(report, cause, hints, level, highest))
    return 0


def _hints(report: Report, general: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Give what the hints are about and the hints: of the first diagnostic, else the exercise's own."""
    for diagnostic in report.diagnostics:
        if diagnostic.severity != "note" and diagnostic.hints:
            return diagnostic.name, diagnostic.hints
    return report.exercise, general


def _text(report: Report, cause: str, hints: tuple[str, ...], level: int, highest: int) -> str:
    style = Style(colour=False, width=streams.width(sys.stdout), unicode=streams.has_unicode(sys.stdout))
    about = [d for d in report.diagnostics if d.name == cause][:1]
    lines = [f"{report.exercise}  hint {level} of {highest}"]
    for diagnostic in about:
        where = f", line {diagnostic.frame.primary.span.line}" if diagnostic.frame is not None else ""
        lines += style.wrap(f"{cause}{where}: {diagnostic.headline}", first="  ")
    for i, hint in enumerate(hints[:level], start=1):
        lines += style.wrap(hint, first=f"  {i}. ", rest="     ")
    return "\n".join(lines) + "\n"
