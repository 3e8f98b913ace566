"""``grader explain``: the page of a diagnostic."""

from __future__ import annotations

import sys

import click

from grader.cli import streams
from grader.cli.explain_names import alike, begun
from grader.cli.refusal import Refusal
from grader.diagnosis.grammar import listing
from grader.exercises import data_folder, page


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Open the page of the diagnostic NAME, say stale-shared-read; its first letters will do."""
    known = sorted(path.stem for path in data_folder("diagnostics").glob("*.md") if path.stem != "README")
    if not name:
        raise Refusal(f"name a diagnostic: {', '.join(known)}")
    wanted = name.strip().strip("[]`").lower()
    candidates = begun(wanted, known)
    path = page(candidates[0]) if len(candidates) == 1 else None
    if path is None:
        near = candidates or alike(wanted, known)
        if near:
            raise Refusal(f"there is no page `{name}`. Did you mean {listing(near, 'or')}?")
        raise Refusal(f"there is no page `{name}`. The pages are: {', '.join(known)}")
    text = path.read_text(encoding="utf-8")
    if streams.wants_colour("auto", sys.stdout) and streams.has_unicode(sys.stdout):
        _print_rich(text)
    else:
        streams.write(text if streams.has_unicode(sys.stdout) else _ascii(text))


def _print_rich(text: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=streams.width(sys.stdout)).print(Markdown(text, code_theme="ansi_dark"))


def _ascii(text: str) -> str:
    from grader.reporters.style import Style

    style = Style(colour=False, width=80, unicode=False)
    return "\n".join(style.plain(line) for line in text.splitlines()) + "\n"
