from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grader import exercises
from grader.batch.problems import BatchError
from grader.batch.release import _is_listed, bundle_files, prove, release
from grader.rubric.load import load
from grader.rubric.suites import shapes_of

KEY = b"0123456789abcdef0123456789abcdef"
EXERCISE = exercises.find("02_ragged_dims")
FILES = bundle_files([EXERCISE])


def refused(name: str, more: str, key: bytes | None = None) -> str:
    with pytest.raises(BatchError) as error:
        prove({**FILES, name: FILES.get(name, "") + more}, [EXERCISE], key)
    return str(error.value)


def test_the_bundle_as_it_is_holds_nothing() -> None:
    prove(FILES, [EXERCISE], KEY)


def test_a_solved_exercise_is_not_released() -> None:
    assert EXERCISE.solution is not None
    solved = {**FILES, "exercises/02_ragged_dims.py": EXERCISE.solution.read_text(encoding="utf-8")}
    with pytest.raises(BatchError, match="as it is it ends in PASS"):
        prove(solved, [EXERCISE], None)


def test_an_answer_of_the_rubric_is_found_with_its_line() -> None:
    explained = next(one.explain for one in load(EXERCISE.rubric).questions if getattr(one, "explain", ""))  # type: ignore[attr-defined]
    assert refused("README.md", explained).startswith(
        f"README.md:{FILES['README.md'].count(chr(10)) + 1}: not"
    )


@pytest.mark.parametrize(
    "written", ["{0}, {1}, {2}", "{0} x {1} x {2}", "- {0}\n- {1}\n- {2}", "[{0},{1},{2}]"]
)
@pytest.mark.parametrize("key", [None, KEY])
def test_a_hidden_shape_is_found_however_it_is_written(written: str, key: bytes | None) -> None:
    shapes = shapes_of(load(EXERCISE.rubric), {"TILE": 16}, private_key=key)
    sizes = next(list(shape.dims.values()) for shape in shapes if not shape.shown)
    assert "a hidden shape of 02_ragged_dims" in refused("README.md", written.format(*sizes), key)


def test_the_students_rubric_has_shown_shapes_and_no_questions(tmp_path: Path) -> None:
    release(tmp_path / "out", None, ("02_ragged_dims",), None)
    rubric = load(tmp_path / "out/rubrics/02_ragged_dims.yaml")
    assert rubric.suites is not None
    assert (rubric.suites.hidden, rubric.questions, rubric.hints) == (None, (), ())
    assert len(rubric.suites.shown.shapes) == 3
    with pytest.raises(BatchError, match="empty or does not exist"):
        release(tmp_path / "out", None, (), None)


def test_a_hidden_shape_that_reads_as_the_allowed_tiles_is_told_by_nobody() -> None:
    """Under some key the shape 4, 8, 16 is drawn, and the exercise says that TILE is 4, 8, 16 or 32."""
    assert _is_listed((4, 8, 16), [(4, 8, 16, 32)])
    assert _is_listed((8, 16, 32), [(4, 8, 16, 32)])
    assert not _is_listed((4, 16, 32), [(4, 8, 16, 32)])
    assert not _is_listed((50, 37, 40), [(4, 8, 16, 32)])


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("typed", ["03", "03_intensity_math"])
def test_make_check_of_a_worksheet_says_that_it_is_graded_later(tmp_path: Path, typed: str) -> None:
    sheet = exercises.find("03_intensity_math")
    (tmp_path / "Makefile").write_text(bundle_files([EXERCISE, sheet])["Makefile"], encoding="utf-8")

    def make(*words: str) -> str:
        done = subprocess.run(["make", *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    assert make("check", typed) == "03_intensity_math is a worksheet: it is graded after you hand it in\n"
    assert "grader check 02 --rubrics rubrics" in make("-n", "check", "02")
