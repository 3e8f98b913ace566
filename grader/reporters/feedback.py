"""What a student gets to read: one page for each, in Markdown and in HTML, from the student's view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from grader.records import Report
from grader.reporters import terminal
from grader.reporters.classroom import Grade, total_of
from grader.reporters.grade_tables import absent
from grader.reporters.html_page import page
from grader.reporters.style import Style, number
from grader.reporters.timing_text import timing_rows

__all__ = ["pages", "timing_pages"]

_WIDTH = 96
_PLAIN = Style(colour=False, width=_WIDTH, unicode=True)
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")


def pages(title: str, grades: Sequence[Grade]) -> tuple[str, str]:
    """Give a student's feedback as Markdown and as HTML."""
    texts = [_text(grade.view) if grade.handed_in else _notes(grade.view) for grade in grades]
    return _markdown(title, grades, texts), _html(title, grades, texts)


def timing_pages(title: str, grades: Sequence[Grade]) -> tuple[str, str]:
    """Give a student's own times as Markdown and as HTML; ``grades`` are those whose view has some."""
    heading = f"{title}: times"
    texts = ["\n".join(timing_rows(grade.view, _PLAIN)) for grade in grades]
    lines = [f"# {_quoted(heading)}", ""]
    body = [f"<h1>{escape(heading)}</h1>"]
    for grade, text in zip(grades, texts, strict=True):
        lines += [f"## {_quoted(grade.exercise.title)}", "", "```text", text, "```", ""]
        body.append(f"<section><h2>{escape(grade.exercise.title)}</h2>")
        body.append(f'<pre tabindex="0">{escape(text)}</pre></section>')
    return "\n".join(lines), page(heading, "\n".join(body))


def _markdown(title: str, grades: Sequence[Grade], texts: Sequence[str]) -> str:
    """Headings of ours, the student's own text in code blocks."""
    lines = [f"# {_quoted(title)}", "", _total(grades), ""]
    for grade, text in zip(grades, texts, strict=True):
        lines += [f"## {_quoted(grade.exercise.title)}", "", _quoted(_verdict(grade)), ""]
        if text:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            lines += [f"{fence}text", text.rstrip("\n"), fence, ""]
    return "\n".join(lines)


def _html(title: str, grades: Sequence[Grade], texts: Sequence[str]) -> str:
    """One page without scripts or anything from elsewhere."""
    body = [f"<h1>{escape(title)}</h1>", f"<p>{escape(_total(grades))}</p>"]
    for grade, text in zip(grades, texts, strict=True):
        body.append(f"<section><h2>{escape(grade.exercise.title)}</h2>")
        body.append(f'<p class="verdict">{escape(_verdict(grade))}</p>')
        if text:
            body.append(f'<pre tabindex="0">{escape(text)}</pre>')
        body.append("</section>")
    return page(title, "\n".join(body))


def _total(grades: Sequence[Grade]) -> str:
    possible = sum(grade.exercise.possible for grade in grades)
    return f"{number(total_of(grades))} of {number(possible)} points in all."


def _verdict(grade: Grade) -> str:
    if not grade.handed_in:
        return absent(grade)
    if grade.final is None:
        return f"{grade.view.outcome.value}: no points yet; your instructor will look at it."
    points = f"{number(grade.final)} of {number(grade.view.possible)} points"
    pending = f", {number(grade.view.pending)} pending" if grade.view.pending else ""
    return f"{grade.view.outcome.value}: {points}{pending}"


def _text(view: Report) -> str:
    return terminal.render(view, colour=False, width=_WIDTH, unicode=True)


def _notes(view: Report) -> str:
    """What a person wrote beside the points of an exercise that was not graded."""
    return "\n".join(line for note in view.notes for line in _PLAIN.wrap(note))


def _quoted(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _PLAIN.plain(text))
