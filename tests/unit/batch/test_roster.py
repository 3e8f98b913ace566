"""Rosters as people save them and campus systems export them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.layouts import Placed
from grader.batch.problems import BatchError
from grader.batch.roster import Roster, read_roster
from grader.batch.tables import read_table
from grader.records import Outcome, Report
from grader.reporters import grade_tables
from grader.reporters.classroom import ClassRecord, ExerciseInfo, Grade

ADA = ("ada", "Ada Lovelace", "ada@example.edu", "A")


def roster(folder: Path, text: str, encoding: str = "utf-8") -> Roster:
    path = folder / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return read_roster(path)


def people(found: Roster) -> list[tuple[str, str, str, str]]:
    return [(one.id, one.name, one.email, one.section) for one in found.students.values()]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("between", "first"), [(",", ""), (";", ""), ("\t", ""), (";", "sep=;\r\n"), ("\t", "sep=\t\r\n")]
)
def test_however_a_spreadsheet_saves_it(tmp_path: Path, encoding: str, between: str, first: str) -> None:
    rows = [["ID", "Name", "Email", "Section"], list(ADA), [" ", "", "", ""], ["zoë", "", "", ""]]
    text = first + "".join(between.join(row) + "\r\n" for row in rows)
    assert people(roster(tmp_path, text, encoding)) == [ADA, ("zoë", "", "", "")]


def test_the_gradebook_that_canvas_exports(tmp_path: Path) -> None:
    found = roster(
        tmp_path,
        "Student,ID,SIS User ID,SIS Login ID,Section,Homework 3 (991)\n"
        "    Points Possible,,,,,100\n"
        '"Lovelace, Ada",4711,ada,ada@example.edu,A,\n'
        "Bob Hope,4712,,bob,B,\n"
        '"Student, Test",9,x9,,A,\n',
    )
    assert people(found) == [
        ("ada", "Lovelace, Ada", "ada@example.edu", "A"),
        ("bob", "Bob Hope", "", "B"),
    ]
    assert [(one.campus_id, one.login) for one in found.students.values()] == [
        ("4711", "ada@example.edu"),
        ("4712", "bob"),
    ]
    # And so they stand in what Canvas imports again.
    info = ExerciseInfo("01", "One", "01.py", 10)
    report = Report("01", "One", "kernel", "01.py", Outcome.PASS, points=9, possible=10)
    grades = [Grade(one, info, report, report, handed_in=True, final=9) for one in found.students.values()]
    assert grade_tables.canvas(ClassRecord("T", (info,), tuple(grades))).splitlines()[2:] == [
        '"Lovelace, Ada",4711,ada,ada@example.edu,A,9',
        "Bob Hope,4712,bob,bob,B,9",
    ]
    assert found.problems == ()
    for label, number in (("lovelaceada", "4711"), ("lovelaceada", ""), ("?", "4711"), ("ada", "")):
        student = found.find(Placed(label, "01", campus_id=number))
        assert student is not None
        assert student.id == "ada"


def test_what_moodle_exports(tmp_path: Path) -> None:
    grades = roster(
        tmp_path,
        "First name,Last name,ID number,Email address,Groups\nAda,Lovelace,ada,ada@example.edu,A\n"
        "Bob,Hope,,bob@example.edu,B\n",
    )
    # Who has no number there goes by the address.
    assert people(grades) == [ADA, ("bob@example.edu", "Bob Hope", "bob@example.edu", "B")]
    worksheet = roster(
        tmp_path,
        "Identifier,Full name,ID number,Email address\nParticipant 77,Ada Lovelace,ada,ada@example.edu\n",
    )
    (ada,) = worksheet.students.values()
    assert (ada.id, ada.campus_id) == ("ada", "77")
    assert worksheet.find(Placed("Somebody Else", "01", campus_id="77")) == ada


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("id,name\nadé,A\n".encode("latin-1"), "not UTF-8; save it as CSV UTF-8"),
        (b'id,name\nada,A\n"bob,B\n', r"roster\.csv:3: the roster is not CSV"),
        (
            b"\n\nlogin2,name\nada,A\n",
            r"roster\.csv:3: the roster needs a column 'id'; .* names login2, name",
        ),
        (b"", r":1: the roster needs a column 'id'; its first line names nothing"),
    ],
)
def test_what_cannot_be_read_is_one_clear_error(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(data)
    with pytest.raises(BatchError, match=said):
        read_roster(path)


def test_a_problem_names_the_line_that_an_editor_shows(tmp_path: Path) -> None:
    found = roster(tmp_path, 'id,name\nada,"two\nlines"\n\nada,again\n,nobody\n')
    assert [one.where for one in found.problems] == ["roster.csv:5", "roster.csv:6"]


def test_a_table_knows_how_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('student;note\nada;"a, b, c, d"\n')
    table = read_table(path, "table")
    assert (table.delimiter, table.headings, table.rows[0].cells) == (
        ";",
        ("student", "note"),
        ("ada", "a, b, c, d"),
    )
