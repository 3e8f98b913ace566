"""What a student gets to read: one page for each, in Markdown and in HTML, from the student's view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from grader.records import Report
from grader.reporters import terminal
from grader.reporters.classroom import Grade, total_of
from grader.reporters.html_page import page
from grader.reporters.style import Style, number

__all__ = ["html", "markdown"]

_WIDTH = 96
_PLAIN = Style(colour=False, width=_WIDTH, unicode=True)
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")


def markdown(title: str, grades: Sequence[Grade]) -> str:
    """Write a student's feedback as Markdown: headings of ours, the student's own text in code blocks."""
    lines = [f"# {_quoted(title)}", "", _total(grades), ""]
    for grade in grades:
        lines += [f"## {_quoted(grade.exercise.title)}", "", _quoted(_verdict(grade)), ""]
        if grade.handed_in:
            text = _text(grade.view)
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            lines += [f"{fence}text", text.rstrip("\n"), fence, ""]
    return "\n".join(lines)


def html(title: str, grades: Sequence[Grade]) -> str:
    """Write a student's feedback as one page without scripts or anything from elsewhere."""
    body = [f"<h1>{escape(title)}</h1>", f"<p>{escape(_total(grades))}</p>"]
    for grade in grades:
        body.append(f"<section><h2>{escape(grade.exercise.title)}</h2>")
        body.append(f'<p class="verdict">{escape(_verdict(grade))}</p>')
        if grade.handed_in:
            body.append(f'<pre tabindex="0">{escape(_text(grade.view))}</pre>')
        body.append("</section>")
    return page(title, "\n".join(body))


def _total(grades: Sequence[Grade]) -> str:
    possible = sum(grade.exercise.possible for grade in grades)
    return f"{number(total_of(grades))} of {number(possible)} points in all."


def _verdict(grade: Grade) -> str:
    if not grade.handed_in:
        return "Nothing was handed in."
    if grade.final is None:
        return f"{grade.view.outcome.value}: no points yet; your instructor will look at it."
    points = f"{number(grade.final)} of {number(grade.view.possible)} points"
    pending = f", {number(grade.view.pending)} pending" if grade.view.pending else ""
    return f"{grade.view.outcome.value}: {points}{pending}"


def _text(view: Report) -> str:
    return terminal.render(view, colour=False, width=_WIDTH, unicode=True)


def _quoted(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _PLAIN.plain(text))
