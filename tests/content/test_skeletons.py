"""What students receive follows from the solutions, starts in a helpful state, and can be finished."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.exercises import derive_skeleton
from grader.grade import grade
from grader.records import Outcome
from grader.rubric.load import load

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.name for path in (ROOT / "solutions").iterdir() if path.suffix in (".py", ".md"))
KERNELS = ("01_tiled_matmul", "02_ragged_dims")


def _solution(name: str) -> str:
    return (ROOT / "solutions" / name).read_text(encoding="utf-8")


def test_every_exercise_has_solution_and_rubric() -> None:
    shipped = {path.name for path in (ROOT / "exercises").iterdir() if path.name[:2].isdigit()}
    assert shipped == set(NAMES)
    assert {path.stem for path in (ROOT / "rubrics").glob("*.yaml")} == {Path(name).stem for name in NAMES}
    assert {f"{name}.py" for name in KERNELS} < shipped


@pytest.mark.parametrize("name", NAMES)
def test_the_derived_skeleton_leaves_work_to_do(name: str) -> None:
    solution, skeleton = _solution(name), derive_skeleton(_solution(name))
    assert skeleton != solution
    assert "region student" not in skeleton
    assert "#|" not in skeleton
    assert skeleton.strip()


@pytest.mark.parametrize("name", KERNELS)
def test_a_skeleton_withholds_the_answer(name: str) -> None:
    solution, skeleton = _solution(f"{name}.py"), derive_skeleton(_solution(f"{name}.py"))
    withheld = set(solution.splitlines()) - set(skeleton.splitlines())
    assert len([line for line in withheld if line.strip() and not line.lstrip().startswith("#")]) >= 4
    for answer in ('": "b"', "As[ty, tx] = float32(0.0)"):
        assert answer in solution
        assert answer not in skeleton


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_file_is_the_derived_skeleton(name: str) -> None:
    # Students edit these files in place: where one differs, what counts is the text in git's index.
    skeleton = derive_skeleton(_solution(name))
    if (ROOT / "exercises" / name).read_text(encoding="utf-8") == skeleton:
        return
    tracked = _tracked(f"exercises/{name}")
    if tracked is None:
        pytest.skip(f"exercises/{name} has been edited, and there is no git to ask for the shipped text")
    assert tracked == skeleton


def _tracked(path: str) -> str | None:
    try:
        shown = subprocess.run(
            ["git", "show", f":{path}"], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return shown.stdout


@pytest.mark.parametrize("name", KERNELS)
def test_a_solution_passes_with_full_points(name: str) -> None:
    report = grade(name, ROOT / "solutions" / f"{name}.py")
    assert (report.outcome, report.points, report.possible) == (Outcome.PASS, 100, 100)
    assert not [diagnostic for diagnostic in report.diagnostics if diagnostic.severity != "note"]


@pytest.mark.parametrize("name", KERNELS)
def test_a_rubric_loads_and_adds_up_to_100(name: str) -> None:
    rubric = load(ROOT / "rubrics" / f"{name}.yaml")
    checks = sum(check.points for check in rubric.checks.present.values())
    assert checks + sum(question.points for question in rubric.questions) == 100


def _skeleton_file(folder: Path, name: str, *, tile: int = 16) -> Path:
    path = folder / f"{name}.py"
    skeleton = derive_skeleton(_solution(f"{name}.py"))
    path.write_text(skeleton.replace("\nTILE = 16\n", f"\nTILE = {tile}\n"), encoding="utf-8")
    return path


def test_the_first_skeleton_is_not_started(tmp_path: Path) -> None:
    report = grade("01_tiled_matmul", _skeleton_file(tmp_path, "01_tiled_matmul"))
    assert (report.outcome, report.status, report.points) == (Outcome.FAIL, "not started", 0)
    assert report.reason


@pytest.mark.parametrize("tile", [4, 8, 16, 32])
def test_the_second_skeleton_fails_one_of_three_shown_shapes(tmp_path: Path, tile: int) -> None:
    report = grade("02_ragged_dims", _skeleton_file(tmp_path, "02_ragged_dims", tile=tile))
    shown = [shape for family in report.families for shape in family.shapes if shape.shown]
    assert [(tuple(shape.dims.values()), shape.passed) for shape in shown] == [
        ((4 * tile, 4 * tile, 4 * tile), True),
        ((50, 37, 4 * tile), True),
        ((50, 37, 5 * tile // 2), False),
    ]
    assert shown[2].wrong == shown[2].elements == 50 * 37
    assert report.outcome is Outcome.FAIL
    assert report.diagnostics[0].name == "stale-shared-read"
