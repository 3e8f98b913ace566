"""``grader review``: a checklist over a kernel, each item measured."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli import streams
from grader.cli.refusal import Refusal

WIDTH = 10


@click.command("review")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--exercise", help="Whose launch and shapes to use; by default what fits the file.")
def command(file: Path, exercise: str | None) -> int:
    """Walk the review checklist of a tiled product over the kernel in FILE.

    Each item says PASS or FAIL, with the line and the name to explain; what was not measured is NOT JUDGED.
    Exit codes: 0 nothing fails, 1 something does, 2 wrong usage, 3 nothing could be judged.
    """
    from grader import exercises
    from grader.review import review
    from grader.rubric.load import load
    from grader.simt import parse
    from grader.source import SourceError, read

    try:
        text = read(file).text
    except SourceError as error:
        raise Refusal(str(error)) from None
    name = exercise or ("01_tiled_matmul" if "launch_config" in parse(text).functions else "02_ragged_dims")
    try:
        rubric = load(exercises.find(name).rubric)
    except exercises.UnknownExerciseError as error:
        raise Refusal(f"no exercise {error.word!r}; there are {', '.join(error.known)}") from None
    if rubric.kernel is None:
        raise Refusal(f"{rubric.exercise} has no kernel to review")
    from grader.reporters.style import Style

    style = Style(colour=False, width=streams.width(sys.stdout), unicode=streams.has_unicode(sys.stdout))
    lines = []
    items = review(rubric, file, text)
    for item in items:
        place = f"line {item.line}: " if item.line is not None else ""
        more = f"  [{item.diagnosis}]" if item.diagnosis else ""
        lines += style.wrap(item.question, first=f"{item.verdict:<{WIDTH}}  ", rest=" " * (WIDTH + 2))
        lines += style.wrap(f"{place}{item.measured}{more}", first=" " * (WIDTH + 2))
    if all(item.verdict == "NOT JUDGED" for item in items):
        streams.write(
            f"nothing could be judged; see: grader check {rubric.exercise} --file {file}\n", colour=False
        )
        return 3
    streams.write("\n".join(lines) + "\n", colour=False)
    return 1 if any(item.verdict == "FAIL" for item in items) else 0
