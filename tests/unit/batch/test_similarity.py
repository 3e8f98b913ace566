from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

from grader.batch.similarity import ALIKE, _candidates, _likeness, fingerprints, similar
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


def test_pairs_are_those_that_a_comparison_of_all_finds() -> None:
    draw = random.Random(5)
    families = [frozenset(draw.sample(range(400), draw.randint(12, 70))) for _ in range(12)]
    own: dict[str, frozenset[int]] = {}
    for i in range(240):
        marks = set(families[i % 12])
        for _ in range(draw.randint(0, 6)):
            marks ^= {draw.randrange(420)}
        own[f"s{i:03}"] = frozenset(marks)
    distinct = set(own.values())
    alike = {
        frozenset((one, other))
        for one, other in combinations(distinct, 2)
        if len(one & other) >= ALIKE * len(one | other)
    }
    assert 200 < len(alike) < len(distinct) ** 2 / 20
    found = {frozenset((own[one], own[other])) for one, other in _likeness(own)}
    assert {pair for pair in found if len(pair) == 2} == alike
    tried = sum(1 for _ in _candidates(distinct))
    assert tried < len(distinct) ** 2 / 5


def test_a_class_of_thousands_costs_in_proportion() -> None:
    draw = random.Random(6)

    def tried(count: int) -> int:
        return sum(1 for _ in _candidates([frozenset(draw.sample(range(50_000), 60)) for _ in range(count)]))

    assert tried(2000) < 2000


def test_text_that_is_no_python_is_no_trouble() -> None:
    assert fingerprints("") == frozenset()
    assert fingerprints("def (:\n\x00 '''") == frozenset()
    assert isinstance(fingerprints("word " * 50), frozenset)
