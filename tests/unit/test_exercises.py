from __future__ import annotations

from pathlib import Path

import pytest

from grader import exercises
from grader.exercises import ExerciseFileError, UnknownExerciseError, find, init, names, reset, skeleton

SOLUTION = """\
TILE = 16
# region student: the answer
#| answer = None  # write it here
answer = 42
# endregion
"""
SKELETON = "TILE = 16\nanswer = None  # write it here\n"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of three small exercises, in which the working directory is."""
    for folder in ("exercises", "rubrics", "solutions"):
        (tmp_path / folder).mkdir()
    for name in ("01_tiled_matmul.py", "02_ragged_dims.py", "03_intensity_math.md"):
        (tmp_path / "rubrics" / name).with_suffix(".yaml").write_text("title: x\n")
        (tmp_path / "exercises" / name).write_text(SKELETON)
    (tmp_path / "solutions/02_ragged_dims.py").write_text(SOLUTION)
    (tmp_path / "exercises/README.md").write_text("hello\n")
    monkeypatch.setattr(exercises, "data_folder", lambda kind: tmp_path / kind)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def unknown(word: str) -> UnknownExerciseError:
    with pytest.raises(UnknownExerciseError) as caught:
        find(word)
    return caught.value


def test_an_exercise_is_what_has_a_rubric(course: Path) -> None:
    (course / "exercises/04_draft.py").write_text("")
    assert names() == ("01_tiled_matmul", "02_ragged_dims", "03_intensity_math")


@pytest.mark.parametrize(
    "word",
    ["02_ragged_dims", "02", "02_r", "02_ragged_dims.py", "exercises/02_ragged_dims.py", "./02_ragged_dims"],
)
def test_an_exercise_is_found_by_name_prefix_or_path(course: Path, word: str) -> None:
    exercise = find(word)
    assert exercise.name == "02_ragged_dims"
    assert exercise.file_name == "02_ragged_dims.py"
    assert exercise.rubric == course / "rubrics/02_ragged_dims.yaml"
    assert exercise.solution == course / "solutions/02_ragged_dims.py"


def test_a_worksheet_is_markdown(course: Path) -> None:
    exercise = find("03")
    assert (exercise.file_name, exercise.solution) == ("03_intensity_math.md", None)


def test_a_prefix_that_fits_several_is_refused_with_them(course: Path) -> None:
    error = unknown("0")
    assert error.fitting == names()
    assert error.nearest is None


def test_a_name_that_is_another_ones_prefix_means_itself(course: Path) -> None:
    (course / "rubrics/02_ragged_dims_again.yaml").write_text("")
    assert find("02_ragged_dims").name == "02_ragged_dims"


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("02_raged_dims", "02_ragged_dims"),
        ("ragged_dims", "02_ragged_dims"),
        ("ragged", "02_ragged_dims"),
        ("2", "02_ragged_dims"),
        ("3_intensity", "03_intensity_math"),
        ("TILED", "01_tiled_matmul"),
        ("transpose", None),
        ("", None),
    ],
)
def test_a_wrong_name_suggests_the_nearest(course: Path, word: str, nearest: str | None) -> None:
    assert unknown(word).nearest == nearest


def test_other_rubrics_bring_their_own_exercises(
    course: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = tmp_path_factory.mktemp("own")
    (own / "rubrics").mkdir()
    (own / "exercises").mkdir()
    (own / "rubrics/10_stencil.yaml").write_text("")
    (own / "exercises/10_stencil.py").write_text("")
    assert names(own / "rubrics") == ("10_stencil",)
    assert find("10", own / "rubrics").original == own / "exercises/10_stencil.py"


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (".", "exercises/02_ragged_dims.py"),
        ("exercises", "02_ragged_dims.py"),
        ("solutions", "02_ragged_dims.py"),
        ("deep/er", "../../exercises/02_ragged_dims.py"),
    ],
)
def test_the_submission_is_the_nearest_file_above(course: Path, at: str, expected: str) -> None:
    (course / at).mkdir(parents=True, exist_ok=True)
    assert exercises.locate_submission(find("02"), course / at).as_posix() == expected


def test_elsewhere_the_checkouts_own_file_is_meant(
    course: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert exercises.locate_submission(find("02"), elsewhere) == course / "exercises/02_ragged_dims.py"


def test_an_installed_original_is_no_submission(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "_PACKAGE", course)
    found = exercises.locate_submission(find("02"), Path("/"))
    assert found.as_posix() == "exercises/02_ragged_dims.py"


def test_the_skeleton_comes_from_the_solution_where_there_is_one(course: Path) -> None:
    (course / "exercises/02_ragged_dims.py").write_text("edited\n")
    assert skeleton(find("02")) == SKELETON
    (course / "exercises/01_tiled_matmul.py").write_text("edited\n")
    assert skeleton(find("01")) == "edited\n"


def test_reset_keeps_every_version(course: Path) -> None:
    path = Path("exercises/02_ragged_dims.py")
    for number in (1, 2):
        path.write_text(f"attempt {number}\n")
        result = reset(find("02"), path)
        assert result.changed
        assert result.backup == Path(f"exercises/.tilegrade/backups/02_ragged_dims.{number}.py")
        assert path.read_text() == SKELETON
    assert Path("exercises/.tilegrade/backups/02_ragged_dims.1.py").read_text() == "attempt 1\n"
    assert Path("exercises/.tilegrade/backups/02_ragged_dims.2.py").read_text() == "attempt 2\n"


def test_reset_of_a_skeleton_changes_nothing(course: Path) -> None:
    result = reset(find("02"), Path("exercises/02_ragged_dims.py"))
    assert (result.changed, result.backup) == (False, None)
    assert not Path("exercises/.tilegrade").exists()


def test_reset_writes_a_file_that_is_gone(course: Path) -> None:
    Path("exercises/02_ragged_dims.py").unlink()
    result = reset(find("02"), Path("exercises/02_ragged_dims.py"))
    assert (result.changed, result.backup) == (True, None)
    assert Path("exercises/02_ragged_dims.py").read_text() == SKELETON


def test_reset_leaves_the_file_where_no_backup_can_be_kept(course: Path) -> None:
    path = Path("exercises/02_ragged_dims.py")
    path.write_text("attempt\n")
    Path("exercises/.tilegrade").write_text("in the way")
    with pytest.raises(ExerciseFileError):
        reset(find("02"), path)
    assert path.read_text() == "attempt\n"


def test_init_lays_out_every_exercise(course: Path) -> None:
    (course / "exercises/02_ragged_dims.py").write_text("edited by the author\n")
    written, left = init(Path("new/folder"))
    assert sorted(p.relative_to("new/folder").as_posix() for p in written) == [
        ".gitignore",
        "exercises/01_tiled_matmul.py",
        "exercises/02_ragged_dims.py",
        "exercises/03_intensity_math.md",
        "exercises/README.md",
    ]
    assert left == ()
    assert Path("new/folder/exercises/02_ragged_dims.py").read_text() == SKELETON


def test_init_leaves_what_is_there(course: Path) -> None:
    Path("new/exercises").mkdir(parents=True)
    Path("new/exercises/02_ragged_dims.py").write_text("mine\n")
    written, left = init(Path("new"))
    assert left == (Path("new/exercises/02_ragged_dims.py"),)
    assert Path("new/exercises/02_ragged_dims.py").read_text() == "mine\n"
    assert len(written) == 4


def test_writing_leaves_no_half_a_file(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = course / "report.json"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ExerciseFileError) as caught:
        exercises.write_text(path, "new")
    assert caught.value.why == "No space left on device"
    assert path.read_text() == "old"
    assert [p.name for p in course.glob(".report.json*")] == []


def test_the_checkouts_exercises_are_found(root: Path) -> None:
    assert {"01_tiled_matmul", "02_ragged_dims", "03_intensity_math"} <= set(names())
    assert find("01").original == root / "exercises/01_tiled_matmul.py"
