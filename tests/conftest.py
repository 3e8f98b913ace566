"""What all tests share: which of them run here, and that none is skipped unseen."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What an outer make, which may run these tests, hands down: a make that a test runs would act on it.
for _name in (
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "MAKEOVERRIDES",
    "PYTHON",
    "VENV",
    "FILE",
    "HINT",
    "PYTEST_ARGS",
):
    os.environ.pop(_name, None)
# The suite starts hundreds of interpreters: what one of them compiled is there for the next.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@cache
def _gpu_missing() -> str | None:
    """Give why no GPU can be used, or None where one can."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return "no NVIDIA driver on this machine"
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return "no NVIDIA GPU on this machine"
    return None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files anew; read the diff")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and (why := _gpu_missing()):
        pytest.skip(why)
    if item.get_closest_marker("browser") and not any(
        map(shutil.which, ("chromium", "google-chrome", "chrome"))
    ):
        pytest.skip("no Chromium on this machine")
    if item.get_closest_marker("slow") and not os.environ.get("CI"):
        pytest.skip("builds or installs something: set CI=1 to run it")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not item.get_closest_marker("gpu") and not hasattr(report, "wasxfail"):
        _fail_where_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if "gpu" not in collector.nodeid.replace("\\", "/").split("/"):
        _fail_where_skipped(report)
    return report


def _fail_where_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Under CI_FAIL_ON_SKIP, make a skip the failure it hides."""
    if report.skipped and os.environ.get("CI_FAIL_ON_SKIP"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"CI_FAIL_ON_SKIP: {why}"


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with the file that holds what it should be."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return compare
