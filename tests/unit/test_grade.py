"""Grading whole submissions: outcomes, points, causes. The many known-wrong kernels are in tests/content."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import exercises, grade_kernel
from grader.cli import main
from grader.grade import grade
from grader.records import Outcome, Report
from grader.rubric import RubricError

ROOT = Path(__file__).resolve().parents[2]
RAGGED = (ROOT / "solutions" / "02_ragged_dims.py").read_text(encoding="utf-8")
TILED = (ROOT / "solutions" / "01_tiled_matmul.py").read_text(encoding="utf-8")

Graded = Callable[..., Report]


@pytest.fixture
def graded(tmp_path: Path) -> Graded:
    def run(text: str | bytes, exercise: str = "02_ragged_dims", **options: object) -> Report:
        path = tmp_path / f"{exercise}.py"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return grade(exercise, path, **options)  # type: ignore[arg-type]

    return run


def edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def points(report: Report) -> dict[str, float]:
    return {check.name: check.points for check in report.checks}


@pytest.mark.parametrize("name", ["01_tiled_matmul", "02_ragged_dims", "03_intensity_math"])
def test_a_solution_passes_with_all_points(name: str) -> None:
    exercise = exercises.find(name)
    assert exercise.solution is not None
    report = grade(name, exercise.solution)
    assert (report.outcome, report.points, report.possible) == (Outcome.PASS, 100, 100)
    assert all(family.passed == family.total for family in report.families)
    assert not [one for one in report.diagnostics if one.severity == "error"]


@pytest.mark.parametrize("tile", [4, 8, 16, 32])
def test_a_solution_passes_at_every_tile(graded: Graded, tile: int) -> None:
    report = graded(edited(RAGGED, "TILE = 16", f"TILE = {tile}"))
    assert (report.outcome, report.settings) == (Outcome.PASS, {"TILE": tile})


@pytest.mark.parametrize("tile", [4, 8, 16, 32])
def test_the_ragged_skeleton_fails_one_of_the_shown_shapes_at_every_tile(graded: Graded, tile: int) -> None:
    skeleton = exercises.skeleton(exercises.find("02_ragged_dims"))
    report = graded(edited(skeleton, "TILE = 16", f"TILE = {tile}"))
    shown = report.families[0]
    assert [shape.passed for shape in shown.shapes] == [True, True, False]
    assert report.outcome is Outcome.FAIL
    assert report.status == "graded"
    first = report.diagnostics[0]
    assert first.name == "stale-shared-read"
    assert "confirmed by experiment" in first.checked


def test_the_tiled_skeleton_is_not_started_yet(graded: Graded) -> None:
    report = graded(exercises.skeleton(exercises.find("01_tiled_matmul")), "01_tiled_matmul")
    assert (report.outcome, report.status, report.points) == (Outcome.FAIL, "not started", 0)
    assert [one.name for one in report.diagnostics] == ["not-started"]


def test_a_private_key_draws_other_shapes_that_a_solution_passes(graded: Graded) -> None:
    report, public = graded(RAGGED, private_key="term 7"), graded(RAGGED)
    assert report.outcome is Outcome.PASS
    assert report.families[0] == public.families[0]
    assert report.families[1:] != public.families[1:]


def test_grading_twice_gives_equal_reports(graded: Graded) -> None:
    text = edited(RAGGED, "if row < M and col < N:", "if row < M:")
    assert graded(text) == graded(text)


def test_a_missing_barrier_costs_hazards_but_not_the_result(graded: Graded) -> None:
    product = "            acc += As[ty, k] * Bs[k, tx]\n"
    text = edited(RAGGED, f"{product}        cuda.syncthreads()", product.rstrip())
    report = graded(text)
    assert report.outcome is Outcome.FAIL
    assert points(report)["result"] == 40
    assert 0 < points(report)["hazards"] < 15
    assert report.diagnostics[0].name == "shared-overwrite-before-barrier"
    assert report.families[0].passed == 0


def test_an_empty_kernel_earns_nothing(graded: Graded) -> None:
    head, _, rest = RAGGED.partition("    As = cuda.shared")
    tail = rest.partition("# Questions")[2]
    report = graded(f"{head}    pass\n\n\n# Questions{tail}")
    assert sum(points(report).values()) == 0
    assert report.diagnostics[0].name == "unwritten-output"


NAIVE = """
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    col = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    row = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    if row < M and col < N:
        acc = float32(0.0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
"""


def test_a_naive_kernel_does_not_pass_the_tiled_exercise(graded: Graded) -> None:
    report = graded(TILED + NAIVE, "01_tiled_matmul")
    assert report.outcome is Outcome.FAIL
    assert points(report) == {"result": 30, "hazards": 0, "bounds": 10, "traffic": 0, "coalescing": 10}
    assert report.diagnostics[0].name == "low-arithmetic-intensity"


def test_an_unsupported_construct_cannot_be_judged(graded: Graded) -> None:
    start = "    tx = cuda.threadIdx.x\n"
    report = graded(edited(RAGGED, start, f"{start}    angle = cuda.libdevice.fast_sinf(1.0)\n"))
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.outcome.exit_code == 3
    assert [one.name for one in report.diagnostics if one.severity == "error"] == ["unsupported-construct"]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("@cuda.jit\n", "@cuda.jit(\n", "syntax-error"),
        ("def tiled_matmul", "def tiled_matmull", "missing-kernel"),
        ("(A, B, C, M, N, K)", "(A, B, C)", "changed-signature"),
        ("TILE = 16", "TILE = 12", "bad-launch-config"),
        ("tx = cuda.threadIdx.x", "tx = thread.x", "type-error"),
    ],
)
def test_what_stops_a_kernel_is_reported_once(graded: Graded, old: str, new: str, name: str) -> None:
    report = graded(edited(RAGGED, old, new))
    assert report.outcome is Outcome.FAIL
    assert [one.name for one in report.diagnostics if one.severity == "error"] == [name]
    assert report.reason == report.diagnostics[0].headline
    assert sum(points(report).values()) == 0
    assert sum(family.total for family in report.families) == 29


def test_right_code_with_wrong_answers_fails_and_keeps_its_points(graded: Graded) -> None:
    report = graded(edited(RAGGED, '"ragged_m_n": "b"', '"ragged_m_n": "a"'))
    assert (report.outcome, report.points) == (Outcome.FAIL, 92)
    assert report.reason == "the kernel passes; question ragged_m_n is wrong"
    assert report.questions[0].line is not None


def test_answers_that_are_computed_are_not_read(graded: Graded) -> None:
    report = graded(edited(RAGGED, "ANSWERS = {", "ANSWERS = dict() or {"))
    assert {one.status for one in report.questions} == {"missing"}
    assert "ANSWERS is not a dict of plain values" in report.notes[0]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xff\xfe\x00", "UTF-16"),
        (b"a\x00b", "binary"),
        (b"x = '\xe9'\n", "not UTF-8"),
        (b"#" * 2_000_000, "a submission has at most"),
    ],
)
def test_a_file_that_is_no_text_fails_with_one_line(graded: Graded, data: bytes, what: str) -> None:
    report = graded(data)
    assert (report.outcome, report.points, report.possible) == (Outcome.FAIL, 0, 100)
    assert what in report.reason
    assert "\n" not in report.reason
    assert report.fault is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "(" * 5000,
        "x = " + "-" * 3000 + "1",
        "\t if",
        "def tiled_matmul(A): ...",
        "@cuda.jit\nclass tiled_matmul: pass",
    ],
)
def test_no_text_whatever_is_our_fault(graded: Graded, text: str) -> None:
    report = graded(text)
    assert report.outcome in {Outcome.FAIL, Outcome.CANNOT_JUDGE}
    assert report.fault is None
    assert report.points == 0
    assert report.diagnostics


def test_a_missing_file_fails_with_its_reason(tmp_path: Path) -> None:
    report = grade("02_ragged_dims", tmp_path / "none.py")
    assert report.outcome is Outcome.FAIL
    assert report.reason.endswith("none.py: there is no such file")


def test_a_crash_of_ours_is_a_harness_fault(graded: Graded, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(grade_kernel, "collect", broken)
    report = graded(RAGGED)
    assert report.outcome is Outcome.HARNESS_FAULT
    assert report.outcome.exit_code == 4
    assert report.fault is not None
    assert report.fault.summary == "RuntimeError: a bug"
    assert "in broken" in report.fault.traceback
    assert report.possible == 100


def test_what_is_not_the_submissions_raises(tmp_path: Path) -> None:
    with pytest.raises(exercises.UnknownExerciseError):
        grade("99_none", tmp_path / "x.py")
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "05_mine.yaml").write_text("title: T\nkind: kernal\n")
    with pytest.raises(RubricError, match=r"05_mine.yaml:2: kind: Invalid enum value 'kernal'"):
        grade("05_mine", tmp_path / "x.py", rubric_dir=tmp_path / "rubrics")


def test_a_folder_of_rubrics_alone_serves_the_exercises_that_are_ours(tmp_path: Path) -> None:
    rubric = exercises.find("01_tiled_matmul").rubric
    (tmp_path / "own").mkdir()
    for name in ("01_tiled_matmul", "07_new"):
        shutil.copy(rubric, tmp_path / "own" / f"{name}.yaml")
    solution = ROOT / "solutions" / "01_tiled_matmul.py"
    assert grade("01_tiled_matmul", solution, rubric_dir=tmp_path / "own").outcome is Outcome.PASS
    with pytest.raises(RubricError, match=r"07_new.yaml:1: there is no exercises/07_new.py beside"):
        grade("07_new", solution, rubric_dir=tmp_path / "own")


def test_the_hint_level_is_capped(graded: Graded) -> None:
    assert graded(RAGGED, hint_level=9).hint_level == 3
    assert graded(RAGGED, hint_level=-1).hint_level == 0


def test_a_worksheet_is_graded_without_numpy() -> None:
    code = (
        "import sys; from grader.grade import grade;"
        "r = grade('03_intensity_math', 'solutions/03_intensity_math.md');"
        "print(r.outcome.value, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PASS", "False"]


@pytest.mark.parametrize("highest", [0, 1, 2, 3])
def test_the_rubric_caps_the_hints_of_check_and_of_hint(
    highest: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rubrics = tmp_path / "rubrics"
    rubrics.mkdir()
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises", ignore=shutil.ignore_patterns(".*"))
    for rubric in (ROOT / "rubrics").glob("*.yaml"):
        text = rubric.read_text(encoding="utf-8")
        assert "max_hint_level" not in text
        (rubrics / rubric.name).write_text(f"{text}\nmax_hint_level: {highest}\n", encoding="utf-8")
    path = tmp_path / "02_ragged_dims.py"
    path.write_text(edited(RAGGED, "if row < M and col < N:", "if row < M:"), encoding="utf-8")
    assert grade("02", path, rubric_dir=rubrics, hint_level=3).hint_level == highest
    monkeypatch.setenv("TILEGRADE_COMMAND", "make")
    monkeypatch.setenv("COLUMNS", "100")
    for _ in range(4):
        main(["hint", "02", "--file", str(path), "--rubrics", str(rubrics)])
    last = capsys.readouterr().out.split("02_ragged_dims  hint ")[-1]
    if highest:
        assert last.startswith(f"{highest} of {highest}\n")
        assert [f"\n  {level}. " in last for level in (1, 2, 3)] == [level <= highest for level in (1, 2, 3)]
    else:
        assert last == "There is no hint for this. make check 02_ragged_dims says what is wrong.\n" * 4
