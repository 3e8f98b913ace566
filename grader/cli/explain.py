"""``grader explain``: the page of a diagnostic."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from grader.cli import streams
from grader.cli.explain_names import alike, begun
from grader.cli.refusal import Refusal
from grader.diagnosis.grammar import listing
from grader.exercises import data_folder, page

if TYPE_CHECKING:
    from grader.reporters.style import Style

#: What begins an item of a list.
_MARK = re.compile(r" *([-*]|\d+\.) +")


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
    from grader.reporters.style import Style

    if streams.wants_colour("auto", sys.stdout) and streams.has_unicode(sys.stdout):
        _print_rich(text)
    else:
        style = Style(colour=False, width=streams.width(sys.stdout), unicode=streams.has_unicode(sys.stdout))
        streams.write(_plain(text, style))


def _print_rich(text: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=streams.width(sys.stdout)).print(Markdown(text, code_theme="ansi_dark"))


def _plain(text: str, style: Style) -> str:
    """The page as it is written, prose broken at the width; code and tables keep their lines."""
    lines: list[str] = []
    code = False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        code ^= fence
        if code or fence or line.startswith(("|", "    ")) or len(line) <= style.width:
            lines.append(style.plain(line))
            continue
        mark = _MARK.match(line)
        lead = mark[0] if mark is not None else ""
        lines += style.wrap(line[len(lead) :], first=lead, rest=" " * len(lead))
    return "\n".join(lines) + "\n"
