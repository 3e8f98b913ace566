from __future__ import annotations

from pathlib import Path

import pytest

from grader.rubric.load import RubricError, load, load_text
from grader.rubric.model import ArgSpec, Bound

RUBRIC = """\
title: Ragged dimensions
kind: kernel
kernel:
  name: tiled_matmul
  args: {A: "float32[M, K]", B: "float32[K, N]", C: "out float32[M, N]", M: int, N: int, K: int}
  constants: {TILE: [4, 8, 16, 32]}
  launch: {block: [TILE, TILE], grid: ["ceil(N / TILE)", "ceil(M / TILE)"]}
  reference: "A @ B"
suites:
  shown: {shapes: [["4*TILE", "4*TILE", "4*TILE"]]}
  hidden:
    families: [aligned, deep]
checks:
  result: {points: 40}
  traffic: {points: 10, flop_per_loaded_byte: {at_least: "0.95 * TILE / 4", on: aligned}}
questions:
  - {id: why, kind: choice, title: Why, points: 5, options: {a: one, b: two}, answer: b}
"""


def refusal(old: str, new: str) -> RubricError:
    assert old in RUBRIC
    with pytest.raises(RubricError) as caught:
        load_text(RUBRIC.replace(old, new), exercise="02", path="rubrics/02.yaml")
    return caught.value


def test_a_rubric_becomes_typed() -> None:
    rubric = load_text(RUBRIC, exercise="02_ragged_dims")
    assert rubric.kernel is not None
    assert rubric.exercise == "02_ragged_dims"
    assert rubric.kernel.args["C"] == ArgSpec("array", "float32", ("M", "N"), out=True)
    assert rubric.kernel.args["K"] == ArgSpec("int")
    assert rubric.kernel.constants == {"TILE": (4, 8, 16, 32)}
    assert rubric.kernel.references == {"C": "A @ B"}
    assert list(rubric.checks.present) == ["result", "traffic"]
    assert rubric.checks.traffic is not None
    assert rubric.checks.traffic.flop_per_loaded_byte == Bound(at_least="0.95 * TILE / 4", on="aligned")
    assert rubric.questions[0].id == "why"


def test_the_exercise_is_the_files_name(tmp_path: Path) -> None:
    path = tmp_path / "07_mine.yaml"
    path.write_text(RUBRIC)
    assert load(path).exercise == "07_mine"


def test_an_unknown_key_names_line_keys_and_nearest() -> None:
    error = refusal("  reference:", "  referense:")
    assert error.line == 8
    assert error.nearest == "reference"
    assert str(error) == (
        "rubrics/02.yaml:8: unknown key 'referense' in kernel; allowed: name, args, launch, reference, "
        "constants, shared_bytes; did you mean 'reference'?"
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("points: 40", "pionts: 40", 14, "unknown key 'pionts' in checks.result"),
        ("points: 40", 'points: "40"', 14, "checks.result.points: Expected `float`, got `str`"),
        ("points: 40", "points: -1", 14, "checks.result.points: Expected `float` >= 0.0"),
        ("kind: kernel", "kind: kernal", 2, "kind: Invalid enum value 'kernal'"),
        ("title: Ragged dimensions\n", "", 1, "the key 'title' is missing in the rubric"),
        ("[aligned, deep]", "[aligned, deeep]", 12, "unknown family 'deeep'"),
        ("on: aligned", "on: wide", 15, "the suites hold no family 'wide'"),
        ("float32[M, K]", "float31[M, K]", 5, "'float31' is not a dtype here"),
        ("float32[M, K]", "float32(M, K)", 5, "'float32(M, K)' is not an argument"),
        ("out float32[M, N]", "float32[M, N]", 5, "no argument is marked 'out'"),
        ("ceil(N / TILE)", "ceil(N / TYLE)", 7, "'TYLE' in 'ceil(N / TYLE)' is not a name here"),
        ("ceil(N / TILE)", "N / TILE if M else 1", 7, "not allowed in an expression"),
        ('"A @ B"', '"A @ D"', 8, "'D' in the reference is no input"),
        ('"A @ B"', '"open(A)"', 8, "'open(A)' is not allowed in a reference"),
        ('"A @ B"', '{D: "A @ B"}', 8, "the reference names 'D', which is not an output"),
        ('["4*TILE", "4*TILE", "4*TILE"]', "[1, 2]", 10, "a shape needs 3 sizes, for M, N, K, and has 2"),
        ('"4*TILE"]]', '"TILE / 8"]]', 9, "with TILE = 4: the size K = TILE / 8 is 0.5"),
        ("kind: choice", "kind: choise", 17, "unknown kind 'choise'"),
        ("answer: b", "answer: c", 17, "question why"),
        ("  result: {points: 40}\n", "", 13, "the check 'result' is missing"),
        (
            "result: {points: 40}",
            "result: {points: 40, requires: speed}",
            14,
            "'speed' is no other check here",
        ),
        ('at_least: "0.95 * TILE / 4", ', "", 15, "give one of at_least and at_most"),
        ("title: Ragged", "exercise: 9\ntitle: Ragged", 1, "'exercise' is taken from the file's name"),
        ("kind: kernel\n", "kind: kernel\nkind: quiz\n", 3, "the key 'kind' is given twice"),
        ("kind: kernel\n", "kind: quiz\n", 3, "'kernel' belongs to a rubric of kind kernel"),
        ("[TILE, TILE]", "[TILE, TILE, 1, 1]", 7, "'block' needs one to three expressions"),
        ("{block: [TILE, TILE]", "{from: f, block: [TILE, TILE]", 7, "give either 'from' or 'block'"),
        ("name: tiled_matmul", "name: [", 4, "not YAML"),
    ],
)
def test_a_wrong_rubric_is_refused_on_its_line(old: str, new: str, line: int, what: str) -> None:
    error = refusal(old, new)
    assert what in str(error)
    assert "\n" not in str(error)
    if "not YAML" not in what:
        assert error.line == line


def test_an_empty_file_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match="the file is empty"):
        load_text("", exercise="x")
    with pytest.raises(RubricError, match="cannot be read: No such file"):
        load(tmp_path / "none.yaml")


def test_a_worksheet_needs_questions_and_no_kernel() -> None:
    with pytest.raises(RubricError, match="a worksheet needs questions"):
        load_text("{title: T, kind: worksheet}", exercise="x")


def test_a_list_where_keys_belong_is_refused() -> None:
    with pytest.raises(RubricError, match="keys with values are expected here"):
        load_text("- 1\n- 2\n", exercise="x")
