from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.batch import run

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def no_key_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEGRADE_PRIVATE_KEY", raising=False)


@pytest.fixture(autouse=True)
def real_executor_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """``instant.batch`` puts another executor in the place of this one; the next test gets it back."""
    monkeypatch.setattr(run, "open_executor", run.open_executor)
