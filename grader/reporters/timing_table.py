"""A class's times as a table for the instructor: a row for each kernel and size."""

from __future__ import annotations

from grader.reporters import csv_text
from grader.reporters.classroom import ClassRecord

__all__ = ["timings"]

_HEADER = (
    *("student", "pseudonym", "exercise", "device", "size", "dtype", "milliseconds", "first_quartile"),
    *("third_quartile", "least", "launches", "gflops", "share_of_cublas", "floor_milliseconds"),
    *("clock_mhz", "rejected"),
)


def timings(record: ClassRecord) -> str:
    """Write timings.csv: the grades' order, then the rubric's order of sizes."""
    rows: list[list[csv_text.Cell]] = []
    for grade in record.grades:
        for one in grade.report.timings:
            share = one.share_of_library
            rows.append(
                [
                    grade.student.id,
                    grade.student.pseudonym,
                    grade.exercise.name,
                    one.device,
                    "x".join(map(str, one.dims.values())),
                    one.dtype,
                    _rounded(one.milliseconds),
                    _rounded(one.quartiles[0]),
                    _rounded(one.quartiles[1]),
                    _rounded(one.least),
                    one.repeats,
                    _rounded(one.gflops),
                    None if share is None else _rounded(share),
                    _rounded(one.floor_milliseconds),
                    one.clock_mhz or None,
                    one.rejected,
                ]
            )
    return csv_text.render(list(_HEADER), rows)


def _rounded(value: float) -> str:
    return f"{value:.6g}"
