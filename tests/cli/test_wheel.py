"""The built wheel, used outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grader.exercises import find, names, skeleton

pytestmark = pytest.mark.xdist_group("wheel")  # built once
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "grader", "exercises", "rubrics", "docs/diagnostics")


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the checkout with its exercises as students first get them."""
    source = tmp_path_factory.mktemp("source")
    junk = shutil.ignore_patterns("__pycache__", ".tilegrade")
    for part in BUILT_FROM:
        copy = shutil.copytree if (root / part).is_dir() else shutil.copy2
        (source / part).parent.mkdir(exist_ok=True)
        copy(root / part, source / part, **({"ignore": junk} if copy is shutil.copytree else {}))  # type: ignore[operator]
    for name in names():
        exercise = find(name)
        (source / "exercises" / exercise.file_name).write_text(skeleton(exercise), encoding="utf-8")
    # As a student leaves it: nothing of this may travel.
    shutil.copy2(root / ".gitignore", source / ".gitignore")
    (source / "exercises/.tilegrade").mkdir()
    (source / "exercises/.tilegrade/hints.json").write_text("{}")
    _pip("wheel", ".", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", cwd=source)
    (built,) = (source / "dist").glob("tilegrade-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    _pip("install", "--no-deps", "--target", str(site), str(wheel), cwd=site)
    return site


def _pip(*words: str, cwd: Path) -> None:
    command = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *words]
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def grader(site: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(site / "bin" / "grader"), *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(site), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_wheel_holds_a_students_part_and_no_solutions(wheel: Path, root: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    for name in names():
        assert f"grader/data/exercises/{find(name).file_name}" in held
        assert f"grader/data/rubrics/{name}.yaml" in held
    for page in (root / "docs/diagnostics").glob("*.md"):
        assert f"grader/data/diagnostics/{page.name}" in held
    assert {name for name in held if "solutions" in name or "tests/" in name or ".tilegrade" in name} == set()
    assert {name.split("/")[0] for name in held} == {"grader", f"{wheel.stem.split('-py3')[0]}.dist-info"}


def test_a_student_works_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    laid = grader(installed, tmp_path, "init", "gemm")
    assert laid.returncode == 0, laid.stderr
    folder = tmp_path / "gemm"
    mine = folder / "exercises/02_ragged_dims.py"
    assert mine.read_text(encoding="utf-8") == skeleton(find("02"))

    mine.write_text("nonsense(\n")
    reset = grader(installed, folder, "reset", "02")
    assert reset.returncode == 0, reset.stderr
    assert mine.read_text(encoding="utf-8") == skeleton(find("02"))
    assert (folder / "exercises/.tilegrade/backups/02_ragged_dims.1.py").read_text() == "nonsense(\n"

    listed = grader(installed, folder, "list")
    assert (listed.returncode, "02_ragged_dims" in listed.stdout) == (0, True)


def test_a_missing_exercise_is_not_looked_for_in_the_package(installed: Path, tmp_path: Path) -> None:
    result = grader(installed, tmp_path, "check", "02")
    assert result.returncode == 2
    assert "exercises/02_ragged_dims.py: there is no such file" in result.stderr.replace("\\", "/")


@pytest.mark.parametrize(
    ("name", "verdict"), [("01", "NOT STARTED YET"), ("02", "FAIL"), ("03", "NOT STARTED YET")]
)
def test_a_fresh_exercise_gets_its_verdict(installed: Path, tmp_path: Path, name: str, verdict: str) -> None:
    grader(installed, tmp_path, "init", ".")
    result = grader(installed, tmp_path, "check", name)
    assert result.returncode == 1, result.stdout + result.stderr
    assert result.stdout.splitlines()[0].startswith(f"{find(name).name}  {verdict}")


def test_the_ladder_is_predicted_and_what_is_missing_named(installed: Path, tmp_path: Path) -> None:
    result = grader(installed, tmp_path, "ladder", "--size", "1000")
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "lie in solutions/ladder of a checkout, which an installed package lacks" in said
    assert "M, N, K = 1000, 1000, 1000" in said
