"""The class at a glance, as one HTML page for the instructor."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from html import escape

from grader.records import Outcome
from grader.reporters import terminal
from grader.reporters.classroom import ClassRecord, ExerciseInfo, Grade
from grader.reporters.compiled_table import section as compiled_section
from grader.reporters.grade_tables import name_of
from grader.reporters.html_page import page, table
from grader.reporters.style import counted, number

__all__ = ["render"]

_BINS = 10
#: Students of a group whose names would push everything else off a small screen.
_LARGE = 8
_WORDS = {"PASS": "PASS", "FAIL": "FAIL"}


def render(record: ClassRecord) -> str:
    """Write report.html: distributions, causes with an example each, who has them, what nobody passed."""
    parts = ['<a class="skip" href="#grades">Skip to the grades</a>', f"<h1>{escape(record.title)}</h1>"]
    parts += [
        f"<p>{escape(_opening(record))}</p>",
        *(f"<p>{escape(one)}</p>" for one in record.remarks),
        _contents(record),
    ]
    parts += ['<section id="exercises"><h2>Exercises</h2>', _exercise_table(record)]
    parts += [_distribution(info, _of(record, info)) for info in record.exercises]
    parts += ["</section>", _causes(record), compiled_section(record) if record.archs else ""]
    parts += [_similar(record), _problems(record), _grades(record)]
    return page(f"{record.title}: the class", "\n".join(parts))


def _opening(record: ClassRecord) -> str:
    students = counted(len(record.by_student()), "student")
    submissions = counted(sum(one.handed_in for one in record.grades), "submission")
    refused = counted(sum(one.refused for one in record.grades), "refused hand-in")
    return f"{students}, {submissions}{f', {refused}' if any(one.refused for one in record.grades) else ''}."


def _contents(record: ClassRecord) -> str:
    links = {
        "exercises": "Exercises",
        "causes": "Causes",
        **({"compiled": "Compiled"} if record.archs else {}),
        "similar": "Alike",
        "problems": "Problems",
        "grades": "Grades",
    }
    items = " ".join(f'<a href="#{target}">{title}</a>' for target, title in links.items())
    return f'<nav aria-label="Sections">{items}</nav>'


def _of(record: ClassRecord, info: ExerciseInfo) -> list[Grade]:
    return [grade for grade in record.grades if grade.exercise == info and grade.handed_in]


def _exercise_table(record: ClassRecord) -> str:
    rows = []
    for info in record.exercises:
        grades = _of(record, info)
        finals = [grade.final for grade in grades if grade.final is not None]
        median = number(statistics.median(finals)) if finals else ""
        passed = sum(grade.report.outcome is Outcome.PASS for grade in grades)
        unjudged = sum(grade.final is None for grade in grades)
        note = "nobody passed" if grades and not passed else ""
        row = [info.title, str(len(grades)), str(passed), str(unjudged), median, number(info.possible), note]
        rows.append([escape(cell) for cell in row])
    header = ["Exercise", "Handed in", "Passed", "Not judged", "Median", "Possible", ""]
    return table("Each exercise", header, rows, frozenset({1, 2, 3, 4, 5}))


def _distribution(info: ExerciseInfo, grades: list[Grade]) -> str:
    """A histogram in ten bins, with the same figures as text for whoever cannot see it."""
    counts = [0] * _BINS
    for grade in grades:
        if grade.final is not None and info.possible:
            counts[min(int(grade.final / info.possible * _BINS), _BINS - 1)] += 1
    most = max(counts) or 1
    words = "; ".join(f"{10 * i} to {10 * i + 10} %: {count}" for i, count in enumerate(counts) if count)
    bars = []
    for i, count in enumerate(counts):
        height = 90 * count / most
        box = f'x="{i * 36 + 4}" y="{110 - height:.1f}" width="30" height="{height:.1f}"'
        bars.append(f'<rect class="bar" {box}/>')
        if count:
            bars.append(f'<text x="{i * 36 + 19}" y="{106 - height:.1f}" text-anchor="middle">{count}</text>')
        bars.append(f'<text x="{i * 36 + 19}" y="126" text-anchor="middle">{10 * i}</text>')
    label = escape(f"Share of the points: {words or 'no grades'}", quote=True)
    return (
        f"<figure><figcaption>{escape(info.title)}: submissions by per cent of the points</figcaption>"
        f'<svg viewBox="0 0 366 132" role="img" aria-label="{label}" style="max-width:30rem;width:100%">'
        f"{''.join(bars)}</svg></figure>"
    )


def _causes(record: ClassRecord) -> str:
    by_cause: dict[tuple[str, str], list[Grade]] = {}
    for grade in record.grades:
        if grade.handed_in and grade.report.outcome is not Outcome.PASS:
            name = grade.report.diagnostics[0].name if grade.report.diagnostics else _unnamed(grade)
            by_cause.setdefault((grade.exercise.name, name), []).append(grade)
    parts = ['<section id="causes"><h2>What went wrong</h2>']
    if not by_cause:
        parts.append("<p>Every submission passed.</p>")
    ordered = sorted(by_cause.items(), key=lambda item: (-len(item[1]), item[0]))
    for (exercise, name), grades in ordered:
        who = ", ".join(name_of(grade.student) for grade in grades)
        example = terminal.render(grades[0].report, colour=False, width=96, unicode=True)
        parts.append(
            f"<details><summary>{len(grades)} &times; <strong>{escape(name)}</strong> in {escape(exercise)}"
            "</summary>"
            f"<p>{escape(who)}</p><p>For example {escape(name_of(grades[0].student))}:</p>"
            f'<pre tabindex="0">{escape(example)}</pre></details>'
        )
    return "\n".join([*parts, "</section>"])


def _unnamed(grade: Grade) -> str:
    if grade.report.status == "not started":
        return "not started"
    wrong = Counter(one.status for one in grade.report.questions if one.status != "right")
    if wrong and grade.report.outcome is Outcome.FAIL:
        return "answers"
    outcome = grade.report.outcome.value.lower()
    return f"{outcome}: {grade.report.reason}" if grade.report.reason else outcome


def _similar(record: ClassRecord) -> str:
    intro = (
        "Submissions that share most of what the skeleton does not give. Short exercises have few right "
        "answers, so this is a reason to look and no finding; groups near the published solution are marked."
    )
    rows = [
        [
            escape(group.exercise),
            f"{100 * group.likeness:.0f} %",
            "like the published solution" if group.published else "",
            _folded(group.students),
        ]
        for group in record.similar
    ]
    body = table("Near-identical submissions", ["Exercise", "Alike", "", "Students"], rows, frozenset({1}))
    return f'<section id="similar"><h2>Alike</h2><p>{intro}</p>{body if rows else "<p>None.</p>"}</section>'


def _folded(students: Sequence[str]) -> str:
    """The names; of a large group only their number until it is opened."""
    names = escape(", ".join(students))
    if len(students) <= _LARGE:
        return names
    return f"<details><summary>{len(students)} students</summary>{names}</details>"


def _problems(record: ClassRecord) -> str:
    rows = [[escape(one.kind), escape(one.where), escape(one.what)] for one in record.problems]
    body = (
        table("What needs a person", ["Kind", "Where", "What"], rows, frozenset()) if rows else "<p>None.</p>"
    )
    return f'<section id="problems"><h2>Problems</h2>{body}</section>'


def _grades(record: ClassRecord) -> str:
    rows = []
    for grade in record.grades:
        outcome = f'<span class="{_WORDS.get(grade.outcome, "other")}">{grade.outcome}</span>'
        cause = grade.report.diagnostics[0].name if grade.report.diagnostics else ""
        cause = "" if grade.report.outcome is Outcome.PASS else cause
        final = "" if grade.final is None else number(grade.final)
        cells = [escape(name_of(grade.student)), escape(grade.exercise.name), outcome, final]
        rows.append([*cells, number(grade.report.pending) if grade.report.pending else "", escape(cause)])
    header = ["Student", "Exercise", "Outcome", "Points", "Pending", "Cause"]
    body = table("All grades", header, rows, frozenset({3, 4}))
    return f'<section id="grades"><h2>Grades</h2>{body}</section>'
