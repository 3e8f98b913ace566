"""What the compiler made of a class's kernels: compiled.csv, and the section of report.html."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from html import escape

from grader.records import Compilation
from grader.reporters import csv_text
from grader.reporters.classroom import ClassRecord, Grade
from grader.reporters.grade_tables import name_of
from grader.reporters.html_page import table
from grader.reporters.style import counted

__all__ = ["compilations", "section"]

_HEADER = (
    *("student", "pseudonym", "exercise", "arch", "registers", "spill_store_bytes", "spill_load_bytes"),
    *("stack_bytes", "shared_bytes", "constant_bytes", "ptx_bytes", "cubin_bytes", "warps", "most_warps"),
    *("occupancy", "limited_by", "not_compiled"),
)
#: Where a grading has neither figures nor a reason: it ended before the compiler's turn.
_NOT_REACHED = "the grading ended before"


def compilations(record: ClassRecord) -> str:
    """Write compiled.csv: a row for each kernel and architecture, in the grades' order.

    A kernel that has no figures has its reason in the last column; ``arch`` is empty where it is none of
    one architecture's.
    """
    rows: list[list[csv_text.Cell]] = []
    for grade, one, reason in _compiled(record):
        row: list[csv_text.Cell] = [grade.student.id, grade.student.pseudonym, grade.exercise.name]
        if one is None or one.error:
            arch = "" if one is None else one.arch
            rows.append([*row, arch, *[None] * (len(_HEADER) - 5), reason])
            continue
        row += [one.arch, one.registers, one.spill_store_bytes, one.spill_load_bytes, one.stack_bytes]
        row += [one.shared_bytes, one.constant_bytes, one.ptx_bytes, one.cubin_bytes]
        known = bool(one.most_warps)
        row += [one.warps, one.most_warps, f"{one.occupancy:.4g}"] if known else [None, None, None]
        rows.append([*row, one.limited_by, ""])
    return csv_text.render(list(_HEADER), rows)


def section(record: ClassRecord) -> str:
    """Write the section ``compiled`` of report.html: each exercise and architecture, then each kernel."""
    found = list(_compiled(record))
    caption = "Kernels by architecture"
    header = ["Exercise", "Architecture", "Compiled", "Not", "Registers", "Spilling", "Least occupancy"]
    summary = [
        [escape(info.name), escape(arch), *_summary([x for x in found if x[0].exercise == info], arch)]
        for info in record.exercises
        for arch in record.archs
        if any(x[0].exercise == info for x in found)
    ]
    each = [
        [escape(name_of(grade.student)), escape(grade.exercise.name), *_cells(one, reason)]
        for grade, one, reason in found
    ]
    columns = ["Student", "Exercise", "Architecture", "Registers", "Spilled", "Shared", "Occupancy", ""]
    parts = ['<section id="compiled"><h2>Compiled</h2>']
    parts.append(
        "<p>What the compiler says of each kernel: registers a thread, least, median and most; bytes that "
        "a thread stores away for want of registers; the share of a multiprocessor's warps that fit.</p>"
    )
    if not found:
        return "\n".join([*parts, "<p>Nobody handed in a kernel.</p></section>"])
    parts.append(table(caption, header, summary, frozenset({2, 3, 4, 5, 6})))
    inner = table("Each kernel", columns, each, frozenset({3, 4, 5, 6}))
    parts.append(f"<details><summary>{counted(len(each), 'row')}: each kernel</summary>{inner}</details>")
    return "\n".join([*parts, "</section>"])


def _compiled(record: ClassRecord) -> Iterator[tuple[Grade, Compilation | None, str]]:
    """Each kernel's compilations, or None; with the reason of those that have no figures."""
    for grade in record.grades:
        if not grade.handed_in or grade.report.kind != "kernel":
            continue
        for one in grade.report.compiled:
            where = "" if one.line is None else f"line {one.line}: "
            yield grade, one, f"{where}{one.error_kind}: {one.error}" if one.error else ""
        if not grade.report.compiled:
            yield grade, None, grade.report.not_compiled or _NOT_REACHED


def _summary(found: list[tuple[Grade, Compilation | None, str]], arch: str) -> list[str]:
    """How many compiled and how many did not, the spread of registers, who spills, the least occupancy."""
    good = [one for _, one, _ in found if one is not None and one.arch == arch and not one.error]
    lost = sum(one is None or (one.arch == arch and bool(one.error)) for _, one, _ in found)
    registers = [one.registers for one in good]
    spread = f"{min(registers)} / {statistics.median(registers):g} / {max(registers)}" if registers else ""
    spilling = sum(bool(one.spill_store_bytes) for one in good)
    known = [one.occupancy for one in good if one.most_warps]
    return [
        str(len(good)),
        str(lost),
        spread,
        str(spilling) if good else "",
        f"{100 * min(known):.0f} %" if known else "",
    ]


def _cells(one: Compilation | None, reason: str) -> list[str]:
    if one is None or one.error:
        return ["" if one is None else escape(one.arch), "", "", "", "", f"not compiled: {escape(reason)}"]
    occupancy = f"{100 * one.occupancy:.0f} %" if one.most_warps else ""
    limit = f"limited by {escape(one.limited_by.replace('-', ' '))}" if one.most_warps else ""
    sizes = [str(one.registers), str(one.spill_store_bytes), str(one.shared_bytes)]
    return [escape(one.arch), *sizes, occupancy, limit]
