"""What keeps a green run honest: skips count, and the sample outputs are real."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SUITE = """
import pytest

def test_passes(): pass

@pytest.mark.xfail(reason="known")
def test_fails_as_known(): assert False

@pytest.mark.gpu
def test_needs_a_gpu(): pass

@pytest.mark.gpu
@pytest.mark.skip(reason="two GPUs")
def test_needs_two_gpus(): pass
"""
SKIPPED = "def test_skipped():\n    import pytest; pytest.skip('no server')\n"
SKIPPED_MODULE = "import pytest\npytest.importorskip('no_such_module')\n"


def run(root: Path, folder: Path, *suites: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run a suite of small modules under the project's own conftest, skips forbidden."""
    shutil.copy2(root / "tests/conftest.py", folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu\n    browser\n    slow\n")
    for i, suite in enumerate(suites):
        (folder / f"test_suite_{i}.py").write_text(suite)
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**os.environ, "CI_FAIL_ON_SKIP": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout


def test_what_needs_a_gpu_may_be_skipped_in_ci(root: Path, tmp_path: Path) -> None:
    code, text = run(root, tmp_path, SUITE)
    assert code == 0
    assert re.search(r"1 passed.* 1 xfailed|[12] skipped.* 1 xfailed", text)


def test_any_other_skip_fails_in_ci(root: Path, tmp_path: Path) -> None:
    code, text = run(root, tmp_path, SUITE + SKIPPED)
    assert code == 1
    assert "CI_FAIL_ON_SKIP: Skipped: no server" in text
    assert "1 failed" in text


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "1")])
def test_a_skipped_module_fails_in_ci(root: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    code, text = run(root, tmp_path, SUITE, SKIPPED_MODULE, options=options)
    assert code != 0
    assert "could not import 'no_such_module'" in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_the_ci_script_is_sound(root: Path) -> None:
    script = root / ".ci/run"
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    text = script.read_text(encoding="utf-8")
    assert "set -euo pipefail" in text
    assert re.search(r"^make lint$", text, re.M)
    assert re.search(r"^make test$", text, re.M)
    assert "CI_FAIL_ON_SKIP=1" in text


@pytest.fixture(scope="module")
def outputs(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("outputs", root / "tools/outputs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["README.md", "exercises/README.md"])
def test_every_sample_output_is_what_its_command_prints(root: Path, page: str, outputs: ModuleType) -> None:
    text = (root / page).read_text(encoding="utf-8")
    assert outputs.regenerate(text) == text


@pytest.mark.parametrize("page", ["README.md", "exercises/README.md"])
def test_a_pass_and_a_fail_are_shown(root: Path, page: str, outputs: ModuleType) -> None:
    text = (root / page).read_text(encoding="utf-8")
    assert len(outputs.samples(text)) >= 2
    assert re.search(r"^02_ragged_dims  FAIL  ", text, re.M)
    assert re.search(r"^0\d_\w+  PASS  ", text, re.M)
