"""The tables of a report: shapes by family, points by check, answers by question."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import CheckResult, FamilyResult, QuestionResult, Report, ShapeResult
from grader.reporters.style import Role, Style, counted, display_width, number, pad

_MARGIN = "  "
_SIZES = {"m", "n", "k", "tile"}
_STATUS_ROLES: dict[str, Role] = {"right": "pass", "partly right": "warning", "needs review": "note"}


def shapes_table(families: Sequence[FamilyResult], style: Style) -> list[str]:
    """Give the shapes that the rubric shows one a line, then passed/total of each family in columns."""
    shown = [s for f in families for s in f.shapes if s.shown]
    hidden = [f for f in families if not f.shapes or not all(s.shown for s in f.shapes)]
    out = _shown_shapes(shown, style)
    if out and hidden:
        out.append("")
    return out + _columns(hidden, style)


def dims(shape: ShapeResult) -> str:
    """Write a shape's sizes: ``M, N, K = 50, 37, 40``."""
    return f"{', '.join(shape.dims)} = {', '.join(str(size) for size in shape.dims.values())}"


def family_title(name: str) -> str:
    """Write a family's name as words, sizes as the kernel names them: ``k_below_tile`` is K below TILE."""
    return " ".join(word.upper() if word in _SIZES else word for word in name.split("_"))


def _shown_shapes(shapes: Sequence[ShapeResult], style: Style) -> list[str]:
    texts = [style.plain(dims(shape)) for shape in shapes]
    width = max(map(display_width, texts), default=0)
    rows = []
    for shape, text in zip(shapes, texts):
        wrong = f"   {shape.wrong:,} of {counted(shape.elements, 'element')} wrong" if shape.wrong else ""
        # A shape may fail with a right result: another order of the threads could have upset it.
        fault = ("WRONG" if shape.wrong else "HAZARD") if shape.elements else "not run"
        verdict = style.paint("pass", "right") if shape.passed else style.paint("fail", fault)
        if style.narrow and wrong:
            rows += [f"{_MARGIN}{text}   {verdict}", *style.wrap(wrong.strip(), first="    ")]
            continue
        rows.append(f"{_MARGIN}{pad(text, width)}   {verdict}{wrong}")
    return rows


def _columns(families: Sequence[FamilyResult], style: Style) -> list[str]:
    """Lay families out column by column, as many columns as the width and their number ask for."""
    if not families:
        return []
    names = [style.plain(family_title(family.name)) for family in families]
    wide = max(map(display_width, names)) + 2
    score = max(len(_tally(family)) for family in families)
    fitting = max((style.width - len(_MARGIN) + 3) // (wide + score + 3), 1)
    columns = min(fitting, max(-(-len(families) // 3), 1), 4)
    height = -(-len(families) // columns)
    rows = []
    for row in range(height):
        cells = []
        for i in range(row, len(families), height):
            family = families[i]
            role: Role = "pass" if family.passed == family.total else "fail"
            tally = _tally(family)
            cells.append(pad(names[i], wide) + " " * (score - len(tally)) + style.paint(role, tally))
        rows.append(_MARGIN + "   ".join(cells))
    return rows


def shapes_right(family: FamilyResult) -> str:
    """Write how many of a family's shapes are right, in words; those that were not run tell nothing."""
    ran = _ran(family)
    return f"{family.passed} of {ran} shapes right" if ran else "not run"


def _tally(family: FamilyResult) -> str:
    ran = _ran(family)
    return f"{family.passed}/{ran}" if ran else "not run"


def _ran(family: FamilyResult) -> int:
    """How many shapes were run before the suite ended; all, where the shapes are not told one by one."""
    if len(family.shapes) == family.total or not any(shape.ran for shape in family.shapes):
        return sum(shape.ran for shape in family.shapes) if family.shapes else family.total
    return family.total


def points_table(report: Report, style: Style) -> list[str]:
    """Give the points of each check and question with what they rest on, one a row."""
    rows = [_check_row(check) for check in report.checks] + [_question_row(q) for q in report.questions]
    if not rows:
        return []
    wide = max(display_width(style.plain(name)) for _, name, _, _ in rows) + 2
    score = max(len(points) for _, _, points, _ in rows)
    lead = len(_MARGIN) + wide + score + 3
    out = []
    for role, name, points, detail in rows:
        first = _MARGIN + pad(style.plain(name), wide) + " " * (score - len(points))
        if style.narrow and detail:
            out += [f"{first}{style.paint(role, points)}", *style.wrap(detail, first="    ")]
            continue
        lines = style.wrap(detail, width=style.width - lead) if detail else [""]
        out.append(f"{first}{style.paint(role, points)}   {lines[0]}".rstrip())
        out += [" " * lead + line for line in lines[1:]]
    return out


def _check_row(check: CheckResult) -> tuple[Role, str, str, str]:
    role: Role = "pass" if check.points >= check.possible else "fail"
    return role, check.name, f"{number(check.points)} of {number(check.possible)}", check.detail


def _question_row(question: QuestionResult) -> tuple[Role, str, str, str]:
    points = f"{number(question.points)} of {number(question.possible)}"
    if question.pending:
        points = f"{number(question.pending)} pending"
    role = _STATUS_ROLES.get(question.status, "fail")
    detail = question.title if question.status == "right" else f"{question.title}: {question.status}"
    return role, question.id, points, detail
