"""What the compile check puts into a report, and what it makes of disagreements with the machine."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import compilation
from grader import grade_kernel as grade_module
from grader.compilation import architectures, compile_findings, types_of, was_lost
from grader.gpu.compile import Compiled, compile_reason
from grader.gpu.options import Beside
from grader.grade_kernel import grade_kernel
from grader.records import Compilation, Outcome, Report
from grader.rubric.load import load
from grader.rubric.suites import shapes_of
from grader.simt import parse

ROOT = Path(__file__).parents[2]
RUBRIC = load(ROOT / "rubrics" / "02_ragged_dims.yaml")
SOLUTION = (ROOT / "solutions" / "02_ragged_dims.py").read_text(encoding="utf-8")
ARITHMETIC = SOLUTION.replace(
    "As = cuda.shared.array((TILE, TILE)", "As = cuda.shared.array((TILE + 1, TILE)"
)
needs_compiler = pytest.mark.skipif(
    bool(compile_reason()) or importlib.util.find_spec("nvidia") is None,
    reason="the extra `compile` is not installed",
)

GOOD = Compilation(
    "sm_90", 32, shared_bytes=2048, warps=64, most_warps=64, occupancy=1.0, limited_by="threads"
)
REFUSED = Compilation("sm_90", error="no matching overload", error_kind="refused", line=43)
BROKEN = Compilation("sm_90", error="RuntimeError: liveness", error_kind="compiler")


def graded(text: str, *archs: str) -> Report:
    return grade_kernel(RUBRIC, "mine.py", text, "", None, Beside(archs or ("sm_90",)))


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the compiler say what a test wants."""

    def say(*results: Compilation, reason: str = "") -> None:
        monkeypatch.setattr(compilation, "compile_check", lambda *_, **__: Compiled(results, {}, reason))

    return say


@needs_compiler
def test_a_right_kernel_passes_and_its_figures_stand_in_the_report() -> None:
    report = graded(SOLUTION, "sm_75", "sm_90")
    assert report.outcome is Outcome.PASS
    assert [one.arch for one in report.compiled] == ["sm_75", "sm_90"]
    assert report.compiled[1].shared_bytes == 2 * 16 * 16 * 4
    assert report.compiled[1].occupancy == 1.0
    assert report.diagnostics == ()


@needs_compiler
def test_what_both_refuse_keeps_the_machines_message() -> None:
    report = graded(ARITHMETIC)
    assert report.outcome is Outcome.FAIL
    assert report.diagnostics[0].name == "non-constant-shared-shape"
    assert report.compiled[0].error_kind == "refused"
    also = next(one for one in report.diagnostics if one.name == "gpu-compile-error")
    assert also.severity == "note"
    line = next(at for at, text in enumerate(ARITHMETIC.splitlines(), 1) if "TILE + 1, TILE" in text)
    assert also.frame is not None
    assert also.frame.primary.span.line == line


def test_a_kernel_that_numba_refuses_fails_with_the_students_line(says: Any) -> None:
    says(REFUSED)
    report = graded(SOLUTION)
    assert report.outcome is Outcome.FAIL
    assert report.points < report.possible / 2
    first = report.diagnostics[0]
    assert (first.name, first.severity) == ("gpu-compile-error", "error")
    assert report.reason == first.headline == "numba's compiler refuses `tiled_matmul` on line 43"
    assert first.checked == "said by the compiler; nothing was run on a GPU"
    assert "no matching overload" in first.seen


def test_a_compiler_that_breaks_is_not_the_students_failure(says: Any) -> None:
    says(BROKEN)
    report = graded(SOLUTION)
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert report.points == report.possible
    assert report.reason == "numba's compiler fails on `tiled_matmul`"


def test_one_architecture_of_two_is_a_warning(says: Any) -> None:
    says(Compilation("sm_75", error="needs sm_80", error_kind="compiler"), GOOD)
    report = graded(SOLUTION, "sm_75", "sm_90")
    assert report.outcome is Outcome.PASS
    assert [(one.name, one.severity) for one in report.diagnostics] == [("gpu-compile-error", "warning")]
    assert "for sm_75" in report.diagnostics[0].headline


def test_numba_accepts_what_the_machine_refuses(says: Any) -> None:
    says(GOOD)
    report = graded(ARITHMETIC)
    assert report.outcome is Outcome.CANNOT_JUDGE
    assert "numba compiles the kernel for sm_90, the machine refuses it" in report.notes[-1]


@pytest.mark.parametrize(("shared_bytes", "outcome"), [(2048, Outcome.CANNOT_JUDGE), (162_048, Outcome.FAIL)])
def test_shared_arrays_that_fit_once_compiled_are_not_judged(
    says: Any, shared_bytes: int, outcome: Outcome
) -> None:
    spare = "    spare = cuda.shared.array((200, 200), dtype=float32)\n    tx = "
    text = SOLUTION.replace("    tx = ", spare, 1)
    assert text != SOLUTION
    says(replace(GOOD, shared_bytes=shared_bytes))
    report = graded(text)
    assert report.diagnostics[0].name == "shared-memory-too-large"
    assert report.outcome is outcome
    said = "need 162,048 bytes a block, as compiled for sm_90 at most 2,048: the compiler drops"
    assert any(said in note for note in report.notes) is (outcome is Outcome.CANNOT_JUDGE)


def test_without_the_compiler_the_report_says_so_and_stands(says: Any) -> None:
    says(reason="numba-cuda is not installed")
    report = graded(SOLUTION)
    assert (report.outcome, report.compiled) == (Outcome.PASS, ())
    assert report.not_compiled == "numba-cuda is not installed"


def test_an_unknown_architecture_is_no_verdict_on_the_kernel(says: Any) -> None:
    says(Compilation("sm_70", error="known here: sm_75", error_kind="arch"))
    report = graded(SOLUTION, "sm_70")
    assert (report.outcome, report.not_compiled) == (Outcome.PASS, "sm_70: known here: sm_75")
    says(Compilation("sm_70", error="known here: sm_75", error_kind="arch"), GOOD)
    report = graded(SOLUTION, "sm_70", "sm_90")
    assert (report.outcome, report.diagnostics) == (Outcome.PASS, ())


def test_what_is_never_launched_is_not_compiled() -> None:
    report = graded("def (")
    assert report.not_compiled == "the kernel was not launched"
    assert report.compiled == ()
    assert not was_lost(report.not_compiled)


@pytest.mark.parametrize(
    ("reason", "lost"),
    [
        ("", False),
        ("line 3: helper cannot be rebuilt for the compiler", False),
        ("the compiler's child failed: it did not finish in time", True),
        ("the compiler cannot be used: OSError: libnvvm", True),
        ("numba is not installed: pip install '.[compile]' in Tilegrade's checkout", True),
    ],
)
def test_only_a_word_on_the_kernel_lasts(reason: str, lost: bool) -> None:
    assert was_lost(reason) is lost


def found(*results: Compilation) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    findings = compile_findings(parse(SOLUTION), "tiled_matmul", results)
    return [(one.name, one.severity, dict(one.counts), dict(one.facts)) for one in findings]


def test_the_worst_spill_and_the_lowest_occupancy_are_told() -> None:
    little = Compilation("sm_80", 255, spill_store_bytes=8, warps=16, most_warps=64, occupancy=0.25)
    much = Compilation(
        "sm_75", 255, 96, 128, warps=4, most_warps=32, occupancy=0.125, limited_by="registers, threads"
    )
    assert found(little, much) == [
        ("register-spill", "note", {"bytes": 96, "registers": 255}, {"arch": "sm_75", "stack": False}),
        ("low-occupancy", "note", {"warps": 4, "limit": 32}, {"arch": "sm_75", "resource": "registers"}),
    ]


def test_a_local_array_in_memory_counts_as_spilled() -> None:
    whole = Compilation("sm_90", 40, stack_bytes=1024, warps=48, most_warps=64, occupancy=0.75)
    assert found(whole) == [
        ("register-spill", "note", {"bytes": 1024, "registers": 40}, {"arch": "sm_90", "stack": True})
    ]
    assert found(GOOD) == []


def test_a_local_array_in_memory_has_its_own_words(says: Any) -> None:
    says(Compilation("sm_90", 40, stack_bytes=1024, warps=48, most_warps=64, occupancy=0.75))
    report = graded(SOLUTION)
    (note,) = report.diagnostics
    assert (report.outcome, note.severity) == (Outcome.PASS, "note")
    assert note.headline == "the compiler keeps 1,024 bytes a thread of `tiled_matmul` in memory"
    assert note.seen == ("40 registers a thread", "in local memory: 1,024 bytes", "compiled for sm_90")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("sm_75,sm_80,sm_90", ("sm_75", "sm_80", "sm_90")),
        ("h200", ("sm_90",)),
        ("SM_90A, t4,sm_90a", ("sm_90a", "sm_75")),
        ("rtx4090,a100", ("sm_89", "sm_80")),
    ],
)
def test_architectures(words: str, names: tuple[str, ...]) -> None:
    assert architectures(words) == names


@pytest.mark.parametrize("words", ["", "sm_", "90", "compute_90", "mi300x", "sm_90,", "sm_90x"])
def test_what_is_no_architecture(words: str) -> None:
    with pytest.raises(ValueError, match="is no architecture; write one as sm_90, or a device: t4, a100"):
        architectures(words)


def test_types_are_those_of_the_rubric() -> None:
    assert RUBRIC.kernel is not None
    matrix = {"dtype": "float32", "ndim": 2, "layout": "C"}
    assert types_of(RUBRIC.kernel) == [matrix] * 3 + [{"dtype": "int64"}] * 3


@pytest.mark.parametrize("shows", [True, False])
def test_occupancy_tells_nothing_of_a_hidden_shape(shows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The student's own function chooses the block, here by the sizes, and students see the occupancy."""
    rubric = load(ROOT / "rubrics" / "01_tiled_matmul.yaml")
    solution = (ROOT / "solutions" / "01_tiled_matmul.py").read_text(encoding="utf-8")
    head = solution[: solution.index("def launch_config")]
    text = f"{head}def launch_config(M, N):\n    return (1, 1), (min(M, 1024), 1)\n"
    shapes = shapes_of(rubric, {"TILE": 16})
    if not shows:
        shapes = tuple(replace(shape, shown=False) for shape in shapes)
        monkeypatch.setattr(grade_module, "shapes_of", lambda *_, **__: shapes)
    asked: list[int] = []

    def compiled(plan: object, types: object, archs: object, threads: int, **_: object) -> Compiled:
        asked.append(threads)
        return Compiled((GOOD,))

    monkeypatch.setattr(compilation, "compile_check", compiled)
    report = grade_kernel(rubric, "mine.py", text, "", None, Beside(("sm_90",)))
    largest = {shown: max(one.dims["M"] for one in shapes if one.shown is shown) for shown in (shows, False)}
    assert asked == [min(largest[shows], 1024)]
    if shows:
        assert largest[True] < largest[False]
        assert report.compiled == (GOOD,)
    else:
        assert report.compiled == (replace(GOOD, warps=0, most_warps=0, occupancy=0.0, limited_by=""),)
        assert "low-occupancy" not in [one.name for one in report.diagnostics]


@pytest.mark.parametrize(
    ("wanted", "reason"), [("required", "there is no sandbox here"), ("found", ""), ("none", "")]
)
def test_where_a_sandbox_is_required_nothing_is_compiled_without(
    wanted: Any, reason: str, says: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    says(GOOD)
    monkeypatch.setattr(compilation, "find_sandbox", lambda: None)
    report = grade_kernel(RUBRIC, "mine.py", SOLUTION, "", None, Beside(("sm_90",), sandbox=wanted))
    assert report.outcome is Outcome.PASS
    assert report.not_compiled.startswith(reason)
    assert report.compiled == (() if reason else (GOOD,))
