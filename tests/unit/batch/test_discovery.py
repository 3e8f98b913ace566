from __future__ import annotations

import os
import socket
import zipfile
from pathlib import Path

import pytest

from grader.batch.discovery import Found, discover
from grader.batch.layouts import Catalogue
from grader.batch.out_folder import OutFolder
from grader.batch.problems import BatchError
from grader.batch.roster import read_roster

NAME = "01_tiled_matmul.py"
CATALOGUE = Catalogue({NAME: "01_tiled_matmul", "02_ragged_dims.py": "02_ragged_dims"})


def put(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n", encoding="utf-8")
    return root


def who(found: Found) -> list[tuple[str, str, str]]:
    return [(one.student.id, one.exercise, one.path) for one in found.submissions]


def kinds(found: Found) -> set[tuple[str, str]]:
    return {(one.kind, one.where) for one in found.problems}


def test_folders_of_students(tmp_path: Path) -> None:
    put(tmp_path, f"bob/{NAME}", f"ada/{NAME}", "ada/02_ragged_dims.py", "ada/notes.txt", "ada/other.py")
    found = discover(tmp_path, CATALOGUE, None)
    assert who(found) == [
        ("ada", "01_tiled_matmul", f"ada/{NAME}"),
        ("ada", "02_ragged_dims", "ada/02_ragged_dims.py"),
        ("bob", "01_tiled_matmul", f"bob/{NAME}"),
    ]
    assert kinds(found) == {("unknown-file", "ada/other.py")}


def test_nbgrader_course_folder_with_its_own_times(tmp_path: Path) -> None:
    put(tmp_path, f"submitted/ada/ps1/{NAME}", f"release/ps1/{NAME}", f"source/ps1/{NAME}")
    (tmp_path / "submitted/ada/ps1/timestamp.txt").write_text("2026-11-30 10:00:00 UTC\n")
    found = discover(tmp_path, CATALOGUE, None)
    assert who(found) == [("ada", "01_tiled_matmul", f"ada/ps1/{NAME}")]
    assert found.submissions[0].modified == 1796032800.0


def test_a_zip_of_a_flat_canvas_download(tmp_path: Path) -> None:
    path = tmp_path / "submissions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"lovelaceada_LATE_11_22_{NAME}", "x")
        archive.writestr(f"turingalan_12_23_{NAME}", "y")
        archive.writestr(f"__MACOSX/._turingalan_12_23_{NAME}", "junk")
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "id,name\nada1,Ada Lovelace\nalan2,Alan Turing\ngrace3,Grace Hopper\n", encoding="utf-8"
    )
    found = discover(path, CATALOGUE, read_roster(roster))
    assert [(one.student.id, one.marked_late) for one in found.submissions] == [
        ("ada1", True),
        ("alan2", False),
    ]
    assert kinds(found) == {("missing-student", "grace3")}


def test_links_pipes_and_sockets_are_named_and_not_opened(tmp_path: Path) -> None:
    put(tmp_path, f"ada/{NAME}")
    secret = tmp_path.parent / f"{tmp_path.name}-secret.py"
    secret.write_text("SECRET = 1\n")
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / NAME).symlink_to(secret)
    (tmp_path / "mallory").symlink_to(tmp_path / "ada")
    os.mkfifo(tmp_path / "ada" / "02_ragged_dims.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "eve" / "s.py"))
    found = discover(tmp_path, CATALOGUE, None)
    assert [one[0] for one in who(found)] == ["ada"]
    assert kinds(found) == {
        ("link", f"eve/{NAME}"),
        ("link", "mallory"),
        ("not-a-file", "ada/02_ragged_dims.py"),
        ("not-a-file", "eve/s.py"),
    }


def test_a_file_that_becomes_a_link_after_it_was_listed_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, f"ada/{NAME}")
    found = discover(tmp_path, CATALOGUE, None)
    (tmp_path / "ada" / NAME).unlink()
    (tmp_path / "ada" / NAME).symlink_to("/etc/hostname")
    with pytest.raises(OSError, match=r".+"):
        found.submissions[0].read()


def test_names_that_differ_by_case_or_unicode_form_stay_apart_and_are_listed(tmp_path: Path) -> None:
    put(tmp_path, f"Ana/{NAME}", f"ana/{NAME}", f"jose\u0301/{NAME}", f"jos\u00e9/{NAME}")
    found = discover(tmp_path, CATALOGUE, None)
    assert len({one.student.id for one in found.submissions}) == 4
    assert [one.kind for one in found.problems] == ["name-collision"] * 2


def test_strange_names_are_printed_on_one_line(tmp_path: Path) -> None:
    strange = "eve\n<b>=cmd|\u202e"
    put(tmp_path, f"{strange}/{NAME}")
    undecodable = tmp_path / os.fsdecode(b"bad\xff")
    undecodable.mkdir()
    (undecodable / NAME).write_text("x")
    ids = [one.student.id for one in discover(tmp_path, CATALOGUE, None).submissions]
    assert ids == ["bad\\udcff", "eve\\x0a<b>=cmd|\\u202e"]


def test_two_people_of_one_name_are_told_apart_by_the_campus_number(tmp_path: Path) -> None:
    put(tmp_path, f"smithjo_1_5_{NAME}", f"smithjo_2_6_{NAME}")
    ids = [one.student.id for one in discover(tmp_path, CATALOGUE, None).submissions]
    assert ids == ["smithjo (1)", "smithjo (2)"]


def test_the_roster_reconciles(tmp_path: Path) -> None:
    put(tmp_path / "s", f"ADA/{NAME}", f"eve/{NAME}")
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "ID number;Full name\nada;Ada L\nbob;Bob B\nada;Ada again\n;nobody\n", encoding="utf-8-sig"
    )
    found = discover(tmp_path / "s", CATALOGUE, read_roster(roster))
    assert [one.student.id for one in found.submissions] == ["ada", "eve"]
    assert kinds(found) == {
        ("duplicate-student", "roster.csv:4"),
        ("roster", "roster.csv:5"),
        ("missing-student", "bob"),
        ("unknown-student", "eve"),
    }


@pytest.mark.parametrize("text", ["", "name,section\nA,b\n", 'id,name\n"a,b\n'])
def test_a_roster_without_ids_or_broken_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(text)
    with pytest.raises(BatchError, match="roster"):
        read_roster(path)


def test_what_a_batch_wrote_is_no_submission_wherever_it_lies(tmp_path: Path) -> None:
    put(tmp_path, f"ada/{NAME}", "graded/feedback/ada.md", f"graded/eve/{NAME}")
    OutFolder(tmp_path / "again")
    (tmp_path / "graded" / ".tilegrade-batch").touch()
    found = discover(tmp_path, CATALOGUE, None)
    assert [one[0] for one in who(found)] == ["ada"]
    assert found.problems == ()
    with pytest.raises(BatchError, match="a batch wrote this folder; name the folder of submissions"):
        discover(tmp_path / "graded", CATALOGUE, None)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match="no such folder"):
        discover(tmp_path / "gone", CATALOGUE, None)
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(BatchError, match="zip or tar"):
        discover(tmp_path / "a.txt", CATALOGUE, None)


def test_a_flat_file_without_a_students_name_is_told_so(tmp_path: Path) -> None:
    (one,) = discover(put(tmp_path, NAME), CATALOGUE, None).problems
    assert (one.kind, one.where) == ("nameless-file", NAME)
    assert one.what == f"names no student; call it STUDENT_{NAME}, or put it into a folder of that name"


def test_a_timestamp_that_holds_none_is_a_problem(tmp_path: Path) -> None:
    put(tmp_path, f"submitted/ada/ps1/{NAME}", "submitted/ada/ps1/timestamp.txt")
    found = discover(tmp_path, CATALOGUE, None)
    assert kinds(found) == {("timestamp", "ada/ps1/timestamp.txt")}
    assert found.submissions[0].modified == (tmp_path / f"submitted/ada/ps1/{NAME}").stat().st_mtime


def test_whose_hand_in_could_not_be_opened_is_known(tmp_path: Path) -> None:
    put(tmp_path, "ada/work.zip", "bob.zip", f"cleo/{NAME}", f"Dora Day_77_assignsubmission_file_/{NAME}.zip")
    (tmp_path / "cleo/02_ragged_dims.py").symlink_to(tmp_path / "cleo" / NAME)
    roster = tmp_path / "../roster.csv"
    roster.write_text("id,name\nbob1,bob\ndora,Dora Day\n", encoding="utf-8")
    found = discover(tmp_path, CATALOGUE, read_roster(roster))
    assert found.unopened == {("ada", ""), ("bob1", ""), ("cleo", "02_ragged_dims"), ("dora", "")}


def test_without_a_roster_whoever_handed_in_what_is_refused_is_a_student(tmp_path: Path) -> None:
    put(tmp_path, "ada/work.zip", "bob.zip", f"Dora Day_77_assignsubmission_file_/{NAME}.zip", f"eve/{NAME}")
    put(tmp_path, "fay/02_ragged_dims.pdf", "gus/02_ragged_dims.ipynb", "gus/data.csv", "eve/notes.pdf")
    (tmp_path / "cleo").mkdir()
    (tmp_path / f"cleo/{NAME}").symlink_to(tmp_path / "eve" / NAME)
    (tmp_path / "hal").symlink_to(tmp_path / "eve", target_is_directory=True)
    found = discover(tmp_path, CATALOGUE, None)
    assert [one.student.id for one in found.submissions] == ["eve"]
    assert [one.id for one in found.others] == ["Dora Day", "ada", "bob", "cleo", "fay", "gus", "hal"]
    assert found.unopened == {
        *(("Dora Day", ""), ("ada", ""), ("bob", ""), ("hal", "")),
        ("cleo", "01_tiled_matmul"),
    }
    assert found.unnamed == {"fay", "gus"}
    # Of what is no answer by its looks, one is listed where there is nothing else.
    assert {one.where for one in found.problems if one.kind == "unknown-file"} == {
        "fay/02_ragged_dims.pdf",
        "gus/02_ragged_dims.ipynb",
    }
    assert {one.students for one in found.problems} == {(student.id,) for student in found.others}


def test_what_lies_beside_the_students_is_nobodys(tmp_path: Path) -> None:
    put(tmp_path, f"submitted/ada/ps1/{NAME}", f"source/ps1/{NAME}", "02_ragged_dims.zip")
    put(tmp_path, "submitted/02_ragged_dims.zip", "submitted/notes.txt")
    (tmp_path / "source/link").symlink_to("/etc")
    os.mkfifo(tmp_path / "submitted/pipe")
    found = discover(tmp_path, CATALOGUE, None)
    assert found.others == ()
    assert {one.kind for one in found.problems} == {"archive-refused", "link", "not-a-file"}
    assert all(one.students == () for one in found.problems)


def test_a_classs_archive_that_is_refused_is_no_student(tmp_path: Path) -> None:
    path = tmp_path / "homework.zip"
    path.write_bytes(b"PK\x03\x04 and no more")
    found = discover(path, CATALOGUE, None)
    assert (kinds(found), found.others) == ({("archive-refused", "homework.zip")}, ())


def test_two_of_one_name_are_told_apart_though_one_of_them_cannot_be_opened(tmp_path: Path) -> None:
    put(tmp_path, f"Ada Day_1_assignsubmission_file_/{NAME}", "Ada Day_2_assignsubmission_file_/work.zip")
    found = discover(tmp_path, CATALOGUE, None)
    assert [one.student.id for one in found.submissions] == ["Ada Day (1)"]
    assert [one.id for one in found.others] == ["Ada Day (2)"]
    assert found.unopened == {("Ada Day (2)", "")}


def test_a_roster_lists_whose_hand_in_was_refused_as_no_missing_student(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("id\nada\nbob\ncleo\n", encoding="utf-8")
    put(tmp_path / "in", "ada.zip", "bob/02_ragged_dims.pdf", "stranger/work.zip", "handouts/sheet.pdf")
    found = discover(tmp_path / "in", CATALOGUE, read_roster(roster))
    assert {one.where: one.what for one in found.problems if one.kind.endswith("student")} == {
        "cleo": "handed in nothing",
        "stranger": "is not in the roster",
    }
    assert {one.id for one in found.others} == {"ada", "bob", "stranger"}


def test_a_class_in_an_archive_is_searched_as_deep_as_one_in_a_folder(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner.zip", tmp_path / "in/ada/outer.zip"
    outer.parent.mkdir(parents=True)
    for path, name, data in ((inner, NAME, b"x"), (outer, "inner.zip", None)):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, inner.read_bytes() if data is None else data)
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("ada/outer.zip", outer.read_bytes())
    wanted = [("ada", "01_tiled_matmul", f"ada/outer/inner/{NAME}")]
    assert who(discover(tmp_path / "in", CATALOGUE, None)) == wanted
    assert who(discover(tmp_path / "class.zip", CATALOGUE, None)) == wanted
