"""``grader batch --arch``: every kernel through the real compiler, in a child of its worker's."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from classes import FILES, KEY, answers, hand_in, text
from click.testing import CliRunner
from test_dry_run import INSTRUCTORS, secrets

from grader.batch import compiling, run
from grader.batch.assignment import Limits
from grader.batch.compiling import beside_of, toolkit_of
from grader.batch.problems import BatchError
from grader.batch.run import Settings
from grader.batch.task import Task, bundle_of, task_key
from grader.batch.worker import grade_bytes
from grader.cli import cli
from grader.gpu import compile as compile_module
from grader.gpu import sandbox as sandbox_module
from grader.gpu.compile import compile_reason
from grader.gpu.sandbox import Ran, find_sandbox, run_child
from grader.records import Outcome

RAGGED = text("solutions", FILES[1])
#: Arithmetic in a shared array's shape: the machine and numba refuse it.
REFUSED = RAGGED.replace("As = cuda.shared.array((TILE, TILE)", "As = cuda.shared.array((TILE + 1, TILE)")
needs_compiler = pytest.mark.skipif(
    bool(compile_reason()),
    reason="the extra `compile` is not installed",
)
needs_sandbox = pytest.mark.skipif(
    find_sandbox() is None, reason="no sandbox on this machine (bubblewrap, setpriv, prlimit)"
)


def says(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


def rows(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((out / "compiled.csv").read_text(), newline="")))


def kept(out: Path) -> dict[str, tuple[bool, dict[str, Any]]]:
    """Give whether each student's first grading is settled, and its report."""
    with closing(sqlite3.connect(out / "journal.sqlite3")) as connection:
        found = connection.execute(
            "SELECT student, settled, report FROM handins JOIN gradings USING (key)"
        ).fetchall()
    return {student: (bool(settled), json.loads(report)["report"]) for student, settled, report in found}


@pytest.fixture(scope="module")
def a_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("class")
    hand_in(root / "in", "ada", FILES[1], RAGGED)
    hand_in(root / "in", "bob", FILES[1], REFUSED)
    hand_in(root / "in", "cy", FILES[1], "def (\n")
    hand_in(root / "in", "di", FILES[2], text("solutions", FILES[2]))
    hand_in(root / "in", "eve", FILES[1], RAGGED.replace("K + TILE - 1) // TILE", "K // TILE)"))
    key = root / "key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    return root


@pytest.fixture(scope="module")
def graded(a_class: Path) -> Path:
    out = a_class / "out"
    says("batch", a_class / "in", "--out", out, "--arch", "sm_75,h200", "--quiet", "--workers", 2,
         "--private-key-file", a_class / "key", "--junit-per-student")  # fmt: skip
    return out


@needs_compiler
@needs_sandbox
class TestTheClass:
    def test_every_kernel_has_its_figures_or_its_reason(self, graded: Path) -> None:
        found = {(row["student"], row["arch"]): row for row in rows(graded)}
        assert sorted(found) == [
            *[("ada", "sm_75"), ("ada", "sm_90"), ("bob", "sm_75"), ("bob", "sm_90")],
            *[("cy", ""), ("eve", "sm_75"), ("eve", "sm_90")],
        ]
        ada = found["ada", "sm_90"]
        assert 16 <= int(ada["registers"]) <= 64
        assert (ada["shared_bytes"], ada["occupancy"], ada["not_compiled"]) == ("2048", "1", "")
        assert found["bob", "sm_75"]["not_compiled"].startswith("line 34: refused: No implementation")
        assert found["cy", ""]["not_compiled"] == "the kernel was not launched"

    def test_the_verdicts_are_the_machines(self, graded: Path) -> None:
        with (graded / "grades.csv").open(newline="") as file:
            found = {
                row["student"]: (row["outcome"], row["cause"])
                for row in csv.DictReader(file)
                if row["outcome"] != "MISSING"
            }
        assert found == {
            "ada": ("PASS", ""),
            "bob": ("FAIL", "non-constant-shared-shape"),
            "cy": ("FAIL", "syntax-error"),
            "di": ("PASS", ""),
            "eve": ("FAIL", "dropped-k-tail"),
        }

    def test_the_figures_reach_every_writer(self, graded: Path) -> None:
        page = (graded / "report.html").read_text()
        assert '<section id="compiled">' in page
        assert "Kernels were also compiled for sm_75, sm_90, each in a sandbox, by numba " in page
        assert 'name="compiled.sm_90.shared_bytes" value="2048"' in (graded / "junit.xml").read_text()
        for form in ("html", "md"):
            assert "64 of 64 warps resident" in (graded / f"feedback/ada.{form}").read_text()
        scope = json.loads((graded / f"gradescope/ada/{FILES[1][:-3]}.json").read_text())
        assert scope["extra_data"]["compiled.sm_75.shared_bytes"] == "2048"
        assert "sm_75: " in scope["output"]
        assert "not compiled: the kernel was not launched" in (graded / "moodle.csv").read_text()

    def test_nothing_hidden_is_in_what_a_student_sees(self, graded: Path) -> None:
        hidden = secrets()
        for path in [one for one in graded.rglob("*") if one.is_file() and one.name not in INSTRUCTORS]:
            written = " ".join(path.read_text(encoding="utf-8").split())
            assert [what for what, pattern in hidden.items() if pattern.search(written)] == [], path

    def test_one_worker_writes_the_same(self, graded: Path, a_class: Path) -> None:
        other = a_class / "one worker"
        says("batch", a_class / "in", "--out", other, "--arch", "sm_75,sm_90", "--quiet", "--workers", 1,
             "--private-key-file", a_class / "key", "--junit-per-student")  # fmt: skip
        assert answers(other) == answers(graded)

    def test_the_journal_knows_architectures_and_toolkit(self, graded: Path, a_class: Path) -> None:
        with closing(sqlite3.connect(graded / "journal.sqlite3")) as connection:
            noted = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        assert json.loads(noted["settings"])["archs"] == ["sm_75", "sm_90"]
        assert noted["toolkit"].startswith("numba ")
        assert "nvjitlink" in noted["toolkit"]

    def test_a_regrading_compiles_again(self, graded: Path, a_class: Path) -> None:
        before = answers(graded)
        words = ["regrade", graded, "--student", "ada", "--quiet", "--private-key-file", a_class / "key"]
        said = says(*words)
        assert said == "1 graded again\nnothing changed\n"
        again = {name: data for name, data in answers(graded).items() if not name.startswith("junit/")}
        assert again == {name: data for name, data in before.items() if not name.startswith("junit/")}

    def test_without_it_the_kernels_are_graded_anew_and_worksheets_are_not(
        self, graded: Path, a_class: Path, tmp_path: Path
    ) -> None:
        words = ["batch", a_class / "in", "--out", tmp_path / "out", "--quiet"]
        assert "5 graded now" in says(*words)
        assert not (tmp_path / "out" / "compiled.csv").exists()
        assert "4 graded now, 1 kept" in says(*words, "--arch", "sm_90")
        assert (tmp_path / "out" / "compiled.csv").exists()
        assert "5 graded now" not in says(*words)
        assert not (tmp_path / "out" / "compiled.csv").exists()


@needs_compiler
@needs_sandbox
def test_a_worker_with_as_little_memory_as_is_allowed_compiles(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "ada", FILES[1], RAGGED)
    (tmp_path / "assignment.yaml").write_text(f"limits: {{memory_mb: {compile_module.LEAST_MEMORY_MB}}}\n")
    says("batch", tmp_path / "in", "--out", tmp_path / "out", "--arch", "sm_75,sm_90,sm_120", "--quiet",
         "--assignment", tmp_path / "assignment.yaml", "--workers", 1)  # fmt: skip
    assert [row["not_compiled"] for row in rows(tmp_path / "out")] == [""] * 3


@needs_compiler
def test_an_architecture_that_the_compiler_has_not_is_refused(a_class: Path, tmp_path: Path) -> None:
    words = ["batch", a_class / "in", "--out", tmp_path / "out", "--unsafe-no-sandbox", "--arch"]
    said = says(*words, "sm_75,sm_33", code=2)
    assert "--arch: this compiler has no sm_33; known here: sm_75" in said
    assert "--arch: 'sm90' is no architecture" in says(*words, "sm90", code=2)
    assert not (tmp_path / "out").exists()


def test_without_the_extra_nothing_is_graded(
    a_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        compile_module.importlib.util, "find_spec", lambda name: None if name == "cuda" else known(name)
    )
    words = ["batch", a_class / "in", "--out", tmp_path / "out", "--arch", "sm_90", "--unsafe-no-sandbox"]
    said = says(*words, code=2)
    reason = "cuda-bindings is not installed: pip install '.[compile]' in Tilegrade's checkout"
    assert said == f"grader: --arch: {reason}\n"
    assert not (tmp_path / "out").exists()


def test_without_a_sandbox_nothing_is_compiled_unless_told_so(
    a_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_module, "find_sandbox", lambda: None)
    said = says("batch", a_class / "in", "--out", tmp_path / "out", "--arch", "sm_90", code=2)
    assert "no sandbox here to run or compile submissions in" in said
    assert not (tmp_path / "out").exists()


def test_too_little_memory_for_the_compiler_is_refused() -> None:
    with pytest.raises(BatchError, match=r"takes 2048 MB of memory; the assignment's limits allow .* 1024"):
        toolkit_of(("sm_90",), Limits(memory_mb=1024), bare=True)


def test_a_result_of_other_architectures_or_versions_is_not_used_again() -> None:
    bundle = bundle_of(FILES[1][:-3])
    tasks = [
        Task(bundle, b"x = 1\n"),
        Task(bundle, b"x = 1\n", archs=("sm_75",), toolkit="numba 1"),
        Task(bundle, b"x = 1\n", archs=("sm_75", "sm_90"), toolkit="numba 1"),
        Task(bundle, b"x = 1\n", archs=("sm_75",), toolkit="numba 2"),
    ]
    assert len({task_key(task) for task in tasks}) == 4


@pytest.mark.parametrize(("runs", "share"), [("", 0.9), ("sandbox", 0.35)])
def test_the_compiler_is_done_before_the_gradings_time_is_over(runs: Any, share: float) -> None:
    task = Task(bundle_of(FILES[1][:-3]), b"", seconds=100, run=runs, archs=("sm_90",), toolkit="numba 1")
    beside = beside_of(task)
    assert beside.ends is not None
    assert beside.ends - time.monotonic() == pytest.approx(100 * share, abs=1)
    assert (beside.archs, beside.toolkit, beside.sandbox) == (("sm_90",), "numba 1", "required")


@contextmanager
def here(workers: int, limits: Limits, cluster: str | None = None, **_: object) -> Iterator[Any]:
    """Grade in this process, where a test can reach what starts the compiler."""

    class One(ThreadPoolExecutor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            return super().submit(grade_bytes, *args)

    with One(1) as pool:
        yield pool


@needs_compiler
@pytest.mark.parametrize("end", ["dies", "hangs"])
def test_a_compiler_that_dies_costs_one_submission_its_figures(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = RAGGED.replace("acc", "doom")
    for who, source in (("ada", RAGGED), ("bob", victim), ("cy", RAGGED.replace("acc", "total"))):
        hand_in(tmp_path / "in", who, FILES[1], source)
    problem = "it ended without all results" if end == "dies" else "it did not finish in time"

    def child(sandbox: Any, script: Path, packages: Any, request: bytes, *rest: Any) -> Ran:
        if b"doom" in request:
            return Ran(b"", problem)
        return run_child(sandbox, script, packages, request, *rest)

    monkeypatch.setattr(compile_module, "_kept", {})
    monkeypatch.setattr(compile_module, "run_child", child)
    monkeypatch.setattr(run, "open_executor", here)
    settings = Settings(tmp_path / "in", tmp_path / "out", archs=("sm_90",), bare=True, quiet=True)
    first = run.run(settings)
    assert [grade.report.outcome for grade in first.record.grades] == [Outcome.PASS] * 3
    found = kept(tmp_path / "out")
    assert {who: settled for who, (settled, _) in found.items()} == {"ada": True, "bob": False, "cy": True}
    assert found["bob"][1]["not_compiled"] == f"the compiler's child failed: {problem}"
    assert all(found[who][1]["compiled"][0]["registers"] > 0 for who in ("ada", "cy"))
    assert "WITHOUT a sandbox" in (tmp_path / "out/report.html").read_text()
    # Another run tries the one that was lost again, and it alone.
    monkeypatch.setattr(compile_module, "run_child", run_child)
    second = run.run(settings)
    assert (second.graded, second.kept) == (1, 2)
    assert kept(tmp_path / "out")["bob"][1]["compiled"][0]["registers"] > 0


@needs_compiler
def test_a_worker_with_another_compiler_has_no_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a cluster whose machines differ: figures of two compilers do not stand in one table."""
    hand_in(tmp_path / "in", "ada", FILES[1], RAGGED)
    monkeypatch.setattr(run, "open_executor", here)
    monkeypatch.setattr(compiling, "toolkit_of", lambda *_, **__: "numba 0.1")
    settings = Settings(tmp_path / "in", tmp_path / "out", archs=("sm_90",), bare=True, quiet=True)
    (grade,) = run.run(settings).record.grades
    assert grade.report.outcome is Outcome.PASS
    assert grade.report.compiled == ()
    assert grade.report.not_compiled.startswith("the compiler's child has other versions: numba ")
    assert grade.report.not_compiled.endswith("in place of numba 0.1")
    assert kept(tmp_path / "out")["ada"][0] is False
