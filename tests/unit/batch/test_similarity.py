from __future__ import annotations

from pathlib import Path

from grader.batch.similarity import fingerprints, similar
from grader.skeletons import derive_skeleton

SOLUTION = (Path(__file__).parents[3] / "solutions/01_tiled_matmul.py").read_text(encoding="utf-8")
SKELETON = derive_skeleton(SOLUTION)
OTHER = (
    SKELETON
    + "\n\ndef helper(values):\n"
    + "".join(
        f"    if values[{i}] > {i * 7}:\n        values[{i}] = values[{i + 1}] - {i * i} * values[0]\n"
        for i in range(12)
    )
)


def test_renaming_and_comments_hide_nothing() -> None:
    renamed = OTHER.replace("values", "xs").replace("helper", "f").replace("\n    if", "\n    # mine\n    if")
    assert fingerprints(renamed) == fingerprints(OTHER)
    (group,) = similar("01", {"ada": OTHER, "bob": renamed, "eve": SKELETON}, SKELETON)
    assert (group.students, group.likeness, group.published) == (("ada", "bob"), 1.0, False)


def test_the_skeleton_alone_makes_nobody_alike() -> None:
    assert similar("01", {"ada": SKELETON, "bob": SKELETON}, SKELETON) == ()


def test_matches_with_the_published_solution_stand_apart() -> None:
    (group,) = similar("01", {"ada": SOLUTION, "bob": SOLUTION}, SKELETON, SOLUTION)
    assert group.published
    assert similar("01", {"ada": SOLUTION, "bob": OTHER}, SKELETON, SOLUTION) == ()


def test_text_that_is_no_python_is_no_trouble() -> None:
    assert fingerprints("") == frozenset()
    assert fingerprints("def (:\n\x00 '''") == frozenset()
    assert isinstance(fingerprints("word " * 50), frozenset)
