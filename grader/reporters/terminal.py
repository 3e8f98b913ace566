"""A report as a student reads it in a terminal."""

from __future__ import annotations

from grader.records import Diagnostic, Outcome, Report
from grader.reporters.compiled_text import compiled_rows
from grader.reporters.corroboration_text import corroboration_rows
from grader.reporters.frames import render_frame
from grader.reporters.style import NARROWEST, Role, Style, counted, display_width, number
from grader.reporters.tables import points_table, shapes_table
from grader.reporters.timing_text import timing_rows

_OUTCOME_ROLES: dict[Outcome, Role] = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.CANNOT_JUDGE: "warning",
    Outcome.HARNESS_FAULT: "fail",
}
_FIELD = 11  # columns of "= because:" and the space after it


def render(
    report: Report,
    *,
    colour: bool,
    width: int,
    unicode: bool,
    command: str = "grader",
    verbose: bool = False,
) -> str:
    """Write a report as text that ends with a newline.

    Parameters
    ----------
    colour
        Whether ANSI colours may be used; nothing depends on them.
    width
        Columns of the terminal; at least 40 are taken.
    unicode
        Whether characters beyond ASCII may be used.
    command
        What the reader typed, ``grader`` or ``make``, for the commands that the text names.
    verbose
        Show every diagnostic in full, and not the first alone.
    """
    style = Style(colour, max(width, NARROWEST), unicode)
    blocks = [_header(report, style), *_body(report, style, command, verbose=verbose)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _header(report: Report, style: Style) -> list[str]:
    role = _OUTCOME_ROLES[report.outcome]
    word = report.outcome.value
    if report.status == "not started":
        role, word = "note", "NOT STARTED YET"
    left = f"{style.plain(report.exercise)}  {word}"
    painted = f"{style.paint('strong', style.plain(report.exercise))}  {style.paint(role, word)}"
    if report.outcome in {Outcome.PASS, Outcome.FAIL} and report.possible:
        points = f"  {number(report.points)} of {number(report.possible)} points"
        if report.pending:
            points += f", {number(report.pending)} pending"
        if display_width(left + points) > style.width:
            return [painted, points, *style.wrap(_setting(report), first="  ")]
        left, painted = left + points, painted + points
    right = style.plain(_setting(report))
    gap = style.width - display_width(left) - display_width(right)
    if not right:
        return [painted]
    return [painted + " " * gap + style.paint("quiet", right)] if gap > 1 else [painted, f"  {right}"]


def _setting(report: Report) -> str:
    parts = [f"{name} = {value}" for name, value in report.settings.items()]
    shapes = sum(family.total for family in report.families)
    if shapes:
        parts.append(counted(shapes, "shape"))
    if report.backend != "machine":
        parts.append(report.backend)
    return ", ".join(parts)


def _body(report: Report, style: Style, command: str, *, verbose: bool) -> list[list[str]]:
    if report.outcome is Outcome.HARNESS_FAULT:
        return [_harness_fault(report, style)]
    if report.status == "not started":
        return [_not_started(report, style, command), _notes(report, style)]
    shown = _diagnostics(report, style, command, verbose=verbose)
    blocks = [_reason(report, style, explained=len(shown) > 1), shapes_table(report.families, style), *shown]
    blocks += [_answers(report, style), points_table(report, style)]
    blocks += [compiled_rows(report, style), corroboration_rows(report, style), timing_rows(report, style)]
    blocks += [_notes(report, style), _pending(report, style)]
    return blocks


def _reason(report: Report, style: Style, *, explained: bool) -> list[str]:
    """Give the line that says why, where no diagnostic does."""
    if report.outcome is Outcome.CANNOT_JUDGE:
        verdict = f"Not {'graded' if report.possible else 'judged'}, and so neither right nor wrong"
        return style.wrap(f"{verdict}: {report.reason}" if report.reason else f"{verdict}.", first="  ")
    return [] if explained or not report.reason else style.wrap(report.reason, first="  ")


def _diagnostics(report: Report, style: Style, command: str, *, verbose: bool) -> list[list[str]]:
    """Give the first diagnostic in full and a line for each other one; notes never come in full unasked."""
    full: list[list[str]] = []
    brief: list[str] = []
    for diagnostic in report.diagnostics:
        if verbose or (not full and diagnostic.severity != "note" and report.outcome is not Outcome.PASS):
            full.append(_diagnostic(diagnostic, report, style, command))
        else:
            brief += _brief(diagnostic, style)
    return [*full, brief]


def _diagnostic(diagnostic: Diagnostic, report: Report, style: Style, command: str) -> list[str]:
    title = f"{diagnostic.severity}[{style.plain(diagnostic.name)}]"
    headline = style.wrap(diagnostic.headline, first=f"{title}: ", rest="  ")
    first = style.paint("strong", headline[0].removeprefix(f"{title}:").strip())
    out = [f"{style.paint(diagnostic.severity, title)}: {first}".rstrip()]
    out += [style.paint("strong", line) for line in headline[1:]]
    gutter = 1
    if diagnostic.frame is not None:
        out += render_frame(diagnostic.frame, style, diagnostic.severity)
        gutter = max((len(str(n)) for n, _ in diagnostic.frame.lines), default=1)
    bar = style.paint("frame", " " * gutter + " |")
    # A drawing that is cut or wrapped says nothing.
    fits = all(gutter + 5 + display_width(style.plain(row)) <= style.width for row in diagnostic.picture)
    if diagnostic.picture and fits:
        out += [bar, *(f"{bar}   {style.plain(row)}".rstrip() for row in diagnostic.picture)]
    fields = _fields(diagnostic, report, command, style)
    if fields and diagnostic.frame is not None:
        out.append(bar)
    lead = " " * (gutter + 1)
    for name, text in fields:
        first = f"{lead}= {name}: " if style.narrow else f"{lead}= {name}:".ljust(len(lead) + _FIELD)
        lines = style.wrap(text, first=first, rest=lead + "  " if style.narrow else " " * len(first))
        out.append(style.paint("hint", lines[0]) if name == "try" else lines[0])
        out += lines[1:]
    return out


def _fields(diagnostic: Diagnostic, report: Report, command: str, style: Style) -> list[tuple[str, str]]:
    fields = [("seen", text) for text in diagnostic.seen]
    fields += [
        ("because", diagnostic.because),
        ("passed", diagnostic.passed),
        ("checked", diagnostic.checked),
    ]
    hints = diagnostic.hints[: report.hint_level]
    fields += [("try", text) for text in hints]
    more = [f"{command} explain {diagnostic.name}"]
    if 0 < len(hints) < len(diagnostic.hints):
        more.insert(0, f"{command} hint {report.exercise}")
    fields.append(("more", (" · " if style.unicode else " - ").join(more)))
    return [(name, text) for name, text in fields if text]


def _brief(diagnostic: Diagnostic, style: Style) -> list[str]:
    where = ""
    if diagnostic.frame is not None:
        where = f"line {diagnostic.frame.primary.span.line}: "
    title = f"{diagnostic.severity}[{style.plain(diagnostic.name)}]"
    lines = style.wrap(where + diagnostic.headline, first=f"  {title} ", rest="    ")
    return ["  " + style.paint(diagnostic.severity, title) + lines[0].removeprefix(f"  {title}"), *lines[1:]]


def _answers(report: Report, style: Style) -> list[str]:
    """Give what is to be said of each answer that is not right, a paragraph each."""
    out = []
    for question in report.questions:
        if question.status != "right" and question.message:
            where = "" if question.line is None else f"line {question.line}, "
            out += style.wrap(f"{where}{question.id}: {question.message}", first="  ", rest="    ")
    return out


def _notes(report: Report, style: Style) -> list[str]:
    return [line for note in report.notes for line in style.wrap(note, first="  note: ", rest="    ")]


def _pending(report: Report, style: Style) -> list[str]:
    if not report.pending:
        return []
    text = f"{number(report.pending)} of the points are pending: a person reads that answer."
    return style.wrap(text, first="  ")


def _not_started(report: Report, style: Style, command: str) -> list[str]:
    reason = report.reason or "The file is still the skeleton."
    again = f"Open {report.path}, fill in what it marks, then run {command} check {report.exercise} again."
    out = style.wrap(reason, first="  ") + style.wrap(again, first="  ")
    for diagnostic in report.diagnostics[:1]:
        out += [""] + (render_frame(diagnostic.frame, style, "note") if diagnostic.frame else [])
        for hint in diagnostic.hints[: report.hint_level]:
            out += style.wrap(hint, first="  try: ")
    return out


def _harness_fault(report: Report, style: Style) -> list[str]:
    from grader import __version__

    summary = report.fault.summary if report.fault is not None else report.reason
    out = style.wrap(
        "The grader itself failed. This is not in your code, and nothing was graded.", first="  "
    )
    out += style.wrap(f"what happened: {summary}", first="  ")
    text = f"please report: this text, your file, and: tilegrade {__version__}, exercise {report.exercise}"
    return out + style.wrap(text, first="  ")
