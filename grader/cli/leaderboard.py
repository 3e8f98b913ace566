"""``grader leaderboard``: the fastest kernels of a graded class."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from grader.cli import streams
from grader.cli.paths import NamedPath
from grader.cli.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.batch.journal import Journal
    from grader.reporters.leaderboard import Board

Format = Literal["terminal", "markdown", "html", "json"]


@click.command()
@click.argument("out", type=NamedPath())
@click.option("--exercise", help="This exercise alone.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["terminal", "markdown", "html", "json"]),
    default="terminal",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--names", is_flag=True, help="Show students' ids in place of pseudonyms.")
@click.option("--output", type=NamedPath(), help="Write to this file.")
@click.option(
    "--private-key-file",
    type=NamedPath(),
    help="The key of the batch, where it had one: it makes the pseudonyms.",
)
def command(
    out: Path,
    exercise: str | None,
    format_: Format,
    as_json: bool,
    names: bool,
    output: Path | None,
    private_key_file: Path | None,
) -> None:
    """Rank the kernels of a class that was graded on a GPU into OUT, by their times.

    Only kernels that pass are ranked, under pseudonyms. OUT is the folder that grader batch wrote.
    """
    from grader.batch.leaderboard import boards_of, timed_kernels
    from grader.batch.problems import BatchError

    try:
        journal = _opened(out)
        try:
            _check_exercise(out, journal, exercise)
            # Whether there is a board at all asks for no key.
            if not boards_of(timed_kernels(journal, secret=None, exercise=exercise)):
                raise Refusal(_untimed(out, exercise))
            secret = None if names else _secret(out, journal, private_key_file)
            boards = boards_of(timed_kernels(journal, secret=secret, exercise=exercise))
        finally:
            journal.close()
    except BatchError as error:
        raise Refusal(str(error)) from None
    text = _render(boards, "json" if as_json else format_, to_file=output is not None)
    if output is None:
        streams.write(text, colour=format_ == "terminal" and streams.wants_colour("auto", sys.stdout))
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"--output {output}: cannot be written: {error.strerror}") from None


def _opened(out: Path) -> Journal:
    from grader.batch.journal import Journal

    path = out / "journal.sqlite3"
    if not path.is_file():
        raise Refusal(f"{out}: no batch wrote this folder")
    journal = Journal(path)
    if journal.noted("settings") is None or journal.noted("salt") is None:
        journal.close()
        raise Refusal(f"{out}: the batch in this folder never began to grade; run grader batch")
    return journal


def _check_exercise(out: Path, journal: Journal, exercise: str | None) -> None:
    known = sorted({name for _, name, _ in journal.keys_of()})
    if exercise is not None and exercise not in known:
        raise Refusal(f"{out}: nobody handed in an exercise {exercise!r}; there are {', '.join(known)}")


def _untimed(out: Path, exercise: str | None) -> str:
    what = f"no kernel of {exercise} that passes" if exercise else "no kernel that passes"
    return f"{out}: {what} was timed; grade the class with --backend gpu, under a rubric with the key timing"


def _secret(out: Path, journal: Journal, private_key_file: Path | None) -> bytes:
    """What makes the pseudonyms that the batch's own files carry."""
    from grader.batch.private_key import read_key

    if not json.loads(journal.noted("settings") or "{}").get("keyed"):
        return bytes.fromhex(journal.noted("salt") or "")
    key = read_key(private_key_file)
    if key is None:
        raise Refusal(
            f"{out}: the batch had a private key, which makes the pseudonyms; "
            "give it with --private-key-file, or show ids with --names"
        )
    return key


def _render(boards: Sequence[Board], format_: Format, *, to_file: bool) -> str:
    from grader.reporters import leaderboard, leaderboard_page
    from grader.reporters.style import Style

    match format_:
        case "json":
            return leaderboard_page.render_json(boards)
        case "html":
            return leaderboard_page.html(boards)
        case "markdown":
            return leaderboard_page.markdown(boards)
    style = Style(
        colour=not to_file and streams.wants_colour("auto", sys.stdout),
        width=streams.width(sys.stdout),
        unicode=to_file or streams.has_unicode(sys.stdout),
    )
    return leaderboard.terminal(boards, style)
