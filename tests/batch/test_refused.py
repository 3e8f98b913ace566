"""Hand-ins that could not be used: told as such in every file, and purged as others are."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import instant
import pytest
from classes import FILES, answers, hand_in

from grader.batch import BatchError
from grader.batch.purge import purge

NAME = FILES[1]
UNOPENED = "What was handed in could not be opened; ask your instructor."


@pytest.fixture
def submissions(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    hand_in(folder, "ada", NAME, "TILE = 1\n")
    hand_in(folder, "bob", "work.zip", b"PK\x03\x04 and no more")
    (folder / "cleo").mkdir()
    (folder / "cleo" / NAME).symlink_to("/etc/passwd")
    hand_in(folder, "dora", "02_ragged_dims.pdf", b"%PDF")
    return folder


def rows(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((out / "grades.csv").read_text(encoding="utf-8"), newline="")))


def everywhere(out: Path, words: str) -> list[str]:
    """Give the files of a folder, the journal among them, that hold some words."""
    found = (path for path in sorted(out.rglob("*")) if path.is_file())
    return [str(path) for path in found if words.encode() in path.read_bytes() or words in path.name]


@pytest.mark.parametrize("listed", [False, True])
def test_whose_only_hand_in_was_refused_is_in_every_file(
    submissions: Path, tmp_path: Path, listed: bool
) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("id\nada\nbob\ncleo\ndora\n", encoding="utf-8")
    settings: dict[str, Any] = {"roster": roster} if listed else {}
    instant.batch(submissions, tmp_path / "out", junit_per_student=True, **settings)
    out = tmp_path / "out"
    table = {row["student"]: row for row in rows(out)}
    assert {name: (row["outcome"], row["status"]) for name, row in table.items()} == {
        "ada": (table["ada"]["outcome"], "graded"),
        **dict.fromkeys(("bob", "cleo", "dora"), ("REFUSED", "")),
    }
    assert [table[name]["points"] + table[name]["final"] for name in ("bob", "cleo", "dora")] == [""] * 3
    assert "4 students, 1 submission, 3 refused hand-ins." in (out / "report.html").read_text("utf-8")
    for name in ("bob", "cleo"):
        assert UNOPENED in (out / f"feedback/{name}.html").read_text("utf-8")
        assert UNOPENED in (out / f"gradescope/{name}/02_ragged_dims.json").read_text("utf-8")
    assert "names an exercise" in (out / "feedback/dora.html").read_text("utf-8")
    for name in ("canvas.csv", "moodle.csv"):
        assert all(f"{who}," in (out / name).read_text("utf-8") for who in table)
    for name in ("bob", "cleo", "dora"):
        assert (out / f"junit/{name}.xml").is_file()
        # The student reads what is the matter, not the paths of what lies on the instructor's disk.
        assert "passwd" not in (out / f"feedback/{name}.md").read_text("utf-8")
    instant.batch(submissions, tmp_path / "again", workers=1, junit_per_student=True, **settings)
    assert answers(tmp_path / "again") == answers(out)


def test_an_exercise_that_was_only_refused_is_a_column(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "ada", FILES[0], "TILE = 1\n")
    (tmp_path / "in/bob").mkdir()
    (tmp_path / "in/bob" / NAME).symlink_to("/etc/passwd")
    instant.batch(tmp_path / "in", tmp_path / "out")
    assert {(row["student"], row["exercise"]): row["outcome"] for row in rows(tmp_path / "out")}.items() >= {
        ("bob", "02_ragged_dims"): "REFUSED",
        ("bob", "01_tiled_matmul"): "MISSING",
        ("ada", "02_ragged_dims"): "MISSING",
    }.items()


def test_where_all_was_refused_the_error_says_what(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "bob", "work.zip", b"PK\x03\x04 and no more")
    with pytest.raises(BatchError, match=r"no submission in it; .*bob/work\.zip: the archive cannot be read"):
        instant.batch(tmp_path / "in", tmp_path / "out")


@pytest.mark.parametrize("listed", [False, True])
def test_a_purge_removes_them_though_the_hand_in_and_the_roster_stay(
    submissions: Path, tmp_path: Path, listed: bool
) -> None:
    roster, given, out = tmp_path / "roster.csv", tmp_path / "given.csv", tmp_path / "out"
    hand_in(submissions, "Bob", NAME, "TILE = 2\n")
    hand_in(submissions, "evax", "timestamp.txt", "no time")
    hand_in(submissions, "evax", NAME, "TILE = 3\n")
    roster.write_text("id\nada\nbobby\ncleo\ndora\nevax\nevax\n".replace("bobby", "bob"), encoding="utf-8")
    given.write_text(
        "student,question,points,reason,grader\nbob,02_ragged_dims,5,mail,kim\n", encoding="utf-8"
    )
    settings: dict[str, Any] = {"overrides": given, **({"roster": roster} if listed else {})}
    instant.batch(submissions, out, **settings)
    assert everywhere(out, "bob")
    for name in ("bob", "cleo", "dora", "evax", *(() if listed else ("Bob",))):
        purge(out, name)
    for again in (False, True):
        if again:
            instant.batch(submissions, out, **settings)
        for name in ("bob", "Bob", "cleo", "dora", "evax"):
            assert everywhere(out, name) == []
    assert {row["student"] for row in rows(out)} == {"ada"}


def test_a_purge_takes_what_a_killed_run_left_half_written(submissions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    instant.batch(submissions, out)
    for name in (".grades.csv.new", "feedback/.bob.md.new", "gradescope/bob/.02_ragged_dims.json.new"):
        (out / name).write_text("bob", encoding="utf-8")
    purge(out, "ada")
    assert list(out.rglob(".*.new")) == []


def test_another_students_sheet_does_not_name_who_was_purged(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "adaxy", NAME, "TILE = 1\n")
    hand_in(tmp_path / "in", "bob", FILES[2], "```yaml\nstudent: adaxy\n```\n")
    out = tmp_path / "out"
    instant.batch(tmp_path / "in", out)
    assert "drawn for adaxy" in (out / "problems.csv").read_text("utf-8")
    purge(out, "adaxy")
    instant.batch(tmp_path / "in", out)
    assert "drawn for somebody who was removed" in (out / "problems.csv").read_text("utf-8")
    assert everywhere(out, "adaxy") == []
