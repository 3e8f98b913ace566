from __future__ import annotations

import pytest

from grader.batch.layouts import Catalogue, Placed, fold, place

CATALOGUE = Catalogue({"01_tiled_matmul.py": "01_tiled_matmul", "03_intensity_math.md": "03_intensity_math"})
ONE = Catalogue({"01_tiled_matmul.py": "01_tiled_matmul"})
E1 = "01_tiled_matmul"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("ada", "01_tiled_matmul.py"), Placed("ada", E1)),
        (("ada", "01_Tiled_MatMul.PY"), Placed("ada", E1)),
        (("ada", "01_tiled_matmul (2).py"), Placed("ada", E1, attempt=2)),
        (("ada", "01_tiled_matmul-1.py"), Placed("ada", E1, attempt=1)),
        (("ada", "01_tiled_matmul - Copy.py"), Placed("ada", E1, attempt=1)),
        (("ada", "01_tiled_matmul.py.txt"), Placed("ada", E1)),
        (("ada", "attempt_3", "01_tiled_matmul.py"), Placed("ada", E1, attempt=3)),
        (("ada", "homework", "03_intensity_math.md"), Placed("ada", "03_intensity_math")),
        (("ada", "01_tiled_matmul", "answer.py"), Placed("ada", E1)),
        (
            ("lovelaceada_LATE_123_456_01_tiled_matmul-2.py",),
            Placed("lovelaceada", E1, attempt=2, campus_id="123", late=True),
        ),
        (("lovelaceada_123_456_01_tiled_matmul.py",), Placed("lovelaceada", E1, campus_id="123")),
        (
            ("Ada Lovelace_77_assignsubmission_file_01_tiled_matmul.py",),
            Placed("Ada Lovelace", E1, campus_id="77"),
        ),
        (
            ("Ada Lovelace_77_assignsubmission_file_", "01_tiled_matmul.py"),
            Placed("Ada Lovelace", E1, campus_id="77"),
        ),
        (("ada_01_tiled_matmul.py",), Placed("ada", E1)),
        (("ada_b_01_tiled_matmul (1).py",), Placed("ada_b", E1, attempt=1)),
        (("01_tiled_matmul.py",), None),
        (("ada", "notes.py"), None),
        (("ada", "01_tiled_matmul.md"), None),
    ],
)
def test_a_path_says_whose_and_for_which_exercise(parts: tuple[str, ...], expected: Placed | None) -> None:
    assert place(parts, CATALOGUE) == expected


def test_an_assignment_of_one_exercise_takes_any_file_of_its_kind() -> None:
    assert place(("ada", "file.py"), ONE) == Placed("ada", E1)
    assert place(("ada_1_2_file-1.py",), ONE) == Placed("ada", E1, campus_id="1")
    assert place(("ada", "file.md"), ONE) is None


def test_names_fold_by_case_and_unicode_form() -> None:
    assert fold("Jose\u0301") == fold("JOS\u00c9") == fold(" jos\u00e9 ")
    assert fold("jose") != fold("jos\u00e9")
