"""The design's invariants: who may import whom, and what may stand where."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "grader"

#: Lower layers first. A module may import from its own layer's package and from lower layers.
LAYERS = (
    {"records"},
    {"source", "skeletons"},
    {"perf"},
    {"simt", "gpu"},
    {"rubric", "checks", "diagnosis", "reporters", "exercises"},
    {
        "kernel_scores",
        "kernel_messages",
        "device_messages",
        "grade_gpu",
        "compilation",
        "counted_launch",
        "beside",
        "profile",
        "grade_kernel",
        "grade_timing",
        "grade",
        "review",
        "sanitize",
        "placement",
        "ladder",
        "ladder_files",
    },
    {"batch"},
    {"cli"},
)
#: Packages of one layer that may draw on another of it, and why.
SIDEWAYS = {
    ("checks", "rubric"),  # a check scores what the rubric asks for
    ("checks", "exercises"),  # the skeleton that an unfinished file is compared with
    ("rubric", "exercises"),  # a rubric's own place
    ("exercises", "rubric"),
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _rank(part: str) -> int:
    return next(rank for rank, layer in enumerate(LAYERS) if part in layer)


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def _ours(path: Path) -> set[str]:
    parts = {name.split(".")[1] for name in _imports(path) if name.startswith("grader.")}
    known = {_part(module) for module in MODULES}
    return parts & known


def _literals(path: Path) -> list[str]:
    """String constants of a module, docstrings left out."""
    tree = ast.parse(path.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down_only(path: Path) -> None:
    mine = _part(path)
    if mine in {"__init__", "__main__"}:
        return
    for other in _ours(path) - {mine, "__init__"}:
        below = _rank(other) < _rank(mine) or (_rank(mine) == 5 and _rank(other) == 5)
        assert below or (mine, other) in SIDEWAYS, f"{mine} imports {other}"


def test_records_import_nothing_else_of_ours() -> None:
    for path in (PACKAGE / "records").glob("*.py"):
        assert _ours(path) <= {"records"}


@pytest.mark.parametrize("name", ["numba", "cupy", "llvmlite"])
def test_gpu_libraries_are_imported_in_gpu_alone(name: str) -> None:
    users = {_part(path) for path in MODULES if any(i.split(".")[0] == name for i in _imports(path))}
    assert users <= {"gpu"}


def test_subprocesses_are_started_in_batch_and_gpu_alone() -> None:
    names = {"subprocess", "multiprocessing", "concurrent.futures"}
    users = {_part(path) for path in MODULES if _imports(path) & names}
    assert users <= {"batch", "gpu"}


def test_the_machine_never_runs_a_submission() -> None:
    """No exec, eval, compile or import by name in the layers that see a submission's text."""
    forbidden = {"exec", "eval", "compile", "__import__"}
    for part in ("simt", "checks", "rubric", "diagnosis"):
        for path in (PACKAGE / part).rglob("*.py"):
            calls = {
                node.func.id
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            assert not calls & forbidden, path
            assert "importlib" not in {name.split(".")[0] for name in _imports(path)}, path


def test_no_english_below_diagnosis() -> None:
    """Evidence is names, numbers and places: no sentence stands in simt, perf or checks.

    Exempt are messages of exceptions that a caller of the Python API sees, and notes on data.
    """
    sentence = re.compile(r"\b(the|is|are|was|does not|should)\b .* \w+", re.IGNORECASE)
    for part in ("simt", "checks"):
        for path in (PACKAGE / part).rglob("*.py"):
            if path.name == "typing_table.py":
                continue
            raised = _raised(path)
            for text in _literals(path):
                assert not sentence.search(text) or text in raised, (path.name, text)


def _raised(path: Path) -> set[str]:
    return {
        part.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise)
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def test_formats_live_in_reporters() -> None:
    marks = ("\x1b[", "<testsuite", "<html", "<!DOCTYPE")
    for path in MODULES:
        if _part(path) != "reporters":
            assert not any(mark in text for text in _literals(path) for mark in marks), path


def test_no_module_is_a_grab_bag() -> None:
    assert not [path for path in MODULES if path.stem in {"utils", "helpers", "misc", "common"}]
