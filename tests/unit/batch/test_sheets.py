from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.sheets import foreign_key
from grader.reporters.classroom import Student
from grader.rubric.personal import worksheet

RUBRIC = Path(__file__).parents[3] / "rubrics" / "06_two_levels.yaml"
ADA = Student("ada", email="Ada.L@example.edu")


@pytest.mark.parametrize("key", ["ada", "ADA", "ada.l@example.edu", "ada.l"])
def test_a_sheet_of_ones_own_is_taken(key: str) -> None:
    sheet = worksheet(RUBRIC, key).encode()
    assert foreign_key(ADA, "ada/06_two_levels.md", sheet) is None


def test_a_sheet_of_another_student_is_told() -> None:
    assert foreign_key(ADA, "ada/06_two_levels.md", worksheet(RUBRIC, "bob").encode()) == "bob"


def test_a_file_without_a_key_belongs_to_whoever_hands_it_in() -> None:
    assert foreign_key(ADA, "ada/03_intensity_math.md", b"# no key\n") is None
    assert foreign_key(ADA, "ada/02_ragged_dims.py", b"student: bob\n") is None
