from __future__ import annotations

import stat
from pathlib import Path

import pytest

from grader.batch.out_folder import OutFolder, file_label
from grader.batch.problems import BatchError


def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    folder = OutFolder(tmp_path / "out")
    folder.write({"grades.csv": "a\n", "feedback/ada.md": "b\n"}.items())
    for path in [folder.path, *folder.path.rglob("*")]:
        if path.name != ".tilegrade-batch":
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_second_batch_is_refused(tmp_path: Path) -> None:
    first, second = OutFolder(tmp_path / "out"), OutFolder(tmp_path / "out")
    with first.locked(), pytest.raises(BatchError, match="another batch"), second.locked():
        pass
    with OutFolder(tmp_path / "out").locked():
        pass


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(BatchError, match="not empty"):
        OutFolder(tmp_path)


def test_files_of_an_earlier_run_go_and_those_of_people_stay(tmp_path: Path) -> None:
    folder = OutFolder(tmp_path / "out")
    folder.write({"feedback/ada.md": "a", "feedback/eve.md": "e", "gradescope/eve/01.json": "{}"}.items())
    (folder.path / "overrides.csv").write_text("student\n")
    folder.write({"feedback/ada.md": "a"}.items())
    names = {path.relative_to(folder.path).as_posix() for path in folder.path.rglob("*") if path.is_file()}
    assert names == {".tilegrade-batch", "feedback/ada.md", "overrides.csv"}


def test_a_file_that_a_purge_would_overlook_is_not_written(tmp_path: Path) -> None:
    folder = OutFolder(tmp_path / "out")
    for name in ("ranking.csv", "notes/ada.md"):
        with pytest.raises(AssertionError, match=name):
            folder.write([(name, "ada")])


def test_a_file_that_this_run_has_no_use_for_goes(tmp_path: Path) -> None:
    folder = OutFolder(tmp_path / "out")
    folder.write([("grades.csv", "a"), ("timings.csv", "old")])
    folder.write([("grades.csv", "a")])
    assert not (folder.path / "timings.csv").exists()


def test_a_link_in_the_folder_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    folder = OutFolder(tmp_path / "out")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (folder.path / "grades.csv").symlink_to(victim)
    folder.write({"grades.csv": "new"}.items())
    assert victim.read_text() == "precious"
    assert (folder.path / "grades.csv").read_text() == "new"


def test_file_labels_are_distinct_and_plain() -> None:
    names = [
        "ada",
        "Ada",
        "ADA",
        "a/b",
        "a b",
        "..",
        ".",
        "con",
        "x" * 300,
        "e\u0301",
        "\u00e9",
        "a\nb",
        "",
        "-rf",
    ]
    labels = [file_label(name) for name in names]
    assert labels[0] == "ada"
    assert len({label.casefold() for label in labels}) == len(names)
    for label in labels:
        assert label.isascii()
        assert len(label) < 64
        assert not set(label) & set("/\\:*?<>|\n ")
        assert label[0] not in ".-"


def test_what_a_killed_grading_left_is_cleared(tmp_path: Path) -> None:
    folder = OutFolder(tmp_path / "out")
    left = folder.path / ".grading/tilegrade-x/02.py"
    left.parent.mkdir(parents=True)
    left.write_text("somebody's hand-in")
    with folder.scratch() as scratch:
        assert not left.exists()
        assert stat.S_IMODE(scratch.stat().st_mode) & 0o077 == 0
        (scratch / "half").write_text("done")
    assert not (folder.path / ".grading").exists()
