"""compiled.csv and the class page's section on what the compiler says."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from grader.records import Compilation, Outcome, Report
from grader.reporters import class_page
from grader.reporters.classroom import ClassRecord, ExerciseInfo, Grade, Student
from grader.reporters.compiled_table import compilations, section

INFO = ExerciseInfo("02", "Two", "02.py", 100)
SHEET = ExerciseInfo("03", "Three", "03.md", 100)
REPORT = Report("02", "Two", "kernel", "02.py", Outcome.PASS, points=100, possible=100)
OLD = Compilation("sm_75", 47, 0, 0, 0, 2048, 592, 9, 8, 32, 32, 1.0, "threads")
NEW = Compilation("sm_90", 255, 96, 192, 544, 2048, 768, 9, 8, 8, 64, 0.125, "shared-memory, registers")
UNKNOWN = Compilation("sm_121", 40, constant_bytes=8)
REFUSED = Compilation("sm_75", error="=no <b>overload</b>", error_kind="refused", line=43)


def grade(who: str, report: Report, info: ExerciseInfo = INFO, *, handed_in: bool = True) -> Grade:
    return Grade(Student(who, pseudonym=f"student-{who}"), info, report, report, handed_in, 1.0)


def record() -> ClassRecord:
    sheet = replace(REPORT, exercise="03", kind="worksheet")
    return ClassRecord(
        "T",
        (INFO, SHEET),
        (
            grade("ada", replace(REPORT, compiled=(OLD, NEW))),
            grade("ben", replace(REPORT, compiled=(REFUSED, replace(NEW, registers=31)))),
            grade("cy", replace(REPORT, not_compiled="the kernel was not launched")),
            grade("di", REPORT),
            grade("ed", REPORT, handed_in=False),
            grade("flo", sheet, SHEET),
            grade("gus", replace(REPORT, compiled=(UNKNOWN,))),
        ),
        archs=("sm_75", "sm_90"),
    )


def test_the_table_has_a_row_for_each_kernel_and_architecture() -> None:
    rows = list(csv.DictReader(io.StringIO(compilations(record()), newline="")))
    assert [(row["student"], row["arch"]) for row in rows] == [
        *[("ada", "sm_75"), ("ada", "sm_90"), ("ben", "sm_75"), ("ben", "sm_90")],
        *[("cy", ""), ("di", ""), ("gus", "sm_121")],
    ]
    ada = rows[1]
    assert (ada["pseudonym"], ada["exercise"], ada["registers"], ada["not_compiled"]) == (
        *("student-ada", "02", "255"),
        "",
    )
    assert [ada[name] for name in ("spill_store_bytes", "spill_load_bytes", "stack_bytes")] == [
        *("96", "192", "544")
    ]
    assert [ada[name] for name in ("warps", "most_warps", "occupancy", "limited_by")] == [
        *("8", "64", "0.125", "shared-memory, registers")
    ]
    assert rows[2]["registers"] == ""
    assert rows[2]["not_compiled"] == "line 43: refused: =no <b>overload</b>"
    assert rows[4]["not_compiled"] == "the kernel was not launched"
    assert rows[5]["not_compiled"] == "the grading ended before"
    assert (rows[6]["registers"], rows[6]["occupancy"]) == ("40", "")


def test_the_section_sums_up_each_exercise() -> None:
    text = section(record())
    cells = [
        line.replace(' class="number"', "") for line in text.splitlines() if "<td>02</td><td>sm_" in line
    ]
    first = "<td>02</td><td>sm_75</td><td>1</td><td>3</td><td>47 / 47 / 47</td><td>0</td><td>100 %</td>"
    second = "<td>02</td><td>sm_90</td><td>2</td><td>2</td><td>31 / 143 / 255</td><td>2</td><td>12 %</td>"
    assert first in cells[0]
    assert second in cells[1]
    assert "<td>03</td>" not in text
    assert "not compiled: line 43: refused: =no &lt;b&gt;overload&lt;/b&gt;" in text
    assert "limited by shared memory, registers" in text


def test_the_class_page_has_it_where_it_was_asked() -> None:
    page = class_page.render(record())
    assert '<a href="#compiled">' in page
    assert '<section id="compiled">' in page
    assert "compiled" not in class_page.render(replace(record(), archs=()))


def test_a_class_without_kernels() -> None:
    assert "Nobody handed in a kernel." in section(replace(record(), grades=()))
