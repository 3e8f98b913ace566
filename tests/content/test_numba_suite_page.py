"""The page about numba-cuda's own tests says what the stored result says."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULT = json.loads((ROOT / "docs" / "results" / "numba_suite.json").read_text())


def test_the_page_is_made_from_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("numba_page", ROOT / "tools" / "numba_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "numba_page", module)
    spec.loader.exec_module(module)
    assert module.page(RESULT) == (ROOT / "docs" / "numba-suite.md").read_text()


def test_no_kernel_of_numba_comes_out_wrong() -> None:
    totals = RESULT["totals"]
    assert sum(totals.values()) == len(RESULT["outcomes"])
    assert {kind: totals[kind] for kind in ("type-error", "wrong", "crash", "other")} == {
        "type-error": 0,
        "wrong": 0,
        "crash": 0,
        "other": 0,
    }
    assert totals["passed"] >= 437
