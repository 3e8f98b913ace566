"""The commands that print tables and prose keep to the width of the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import ladder
from grader.cli import main

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "no_gpu", lambda: "no NVIDIA driver was found")
    monkeypatch.setattr(ladder, "compiled_resources", lambda profile: ({}, "no compiler"))


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["list"], "Ten questions on tiled products"),
        (["model"], "Register blocking (128x128, 8x8)"),
        (["model", "--detail"], "2 blocks an SM, 64 of 64 warps, limited by threads and registers"),
        (["ladder"], "as the model predicts it"),
        (
            ["review", str(ROOT / "solutions" / "02_ragged_dims.py")],
            "no race and no barrier that part of a block",
        ),
    ],
)
def test_no_line_is_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    columns: int,
    words: list[str],
    said: str,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(words) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= columns
    assert said in " ".join(out.split())


def test_a_page_breaks_prose_and_keeps_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["explain", "stale-shared-read"]) == 0
    out = capsys.readouterr().out
    page = (ROOT / "docs" / "diagnostics" / "stale-shared-read.md").read_text(encoding="utf-8")
    assert " ".join(out.split()) == " ".join(page.split())
    code = [block for at, block in enumerate(page.split("```")) if at % 2]
    assert code
    assert all(block in out for block in code)
    prose = [block for at, block in enumerate(out.split("```")) if not at % 2]
    assert max(len(line) for block in prose for line in block.splitlines() if not line.startswith("|")) <= 60
