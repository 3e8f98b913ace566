"""Running the GPU child under a tool: how it is started, how it ended, and why it cannot be."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.gpu import counters, sanitizer, tool_run
from grader.gpu.device_runs import Launch
from grader.gpu.tool_run import Ended, run_under, tool_reason

PLAN: dict[str, Any] = {
    "file": "mine.py",
    "source": "",
    "kernel": "kernel",
    "functions": [{"name": "kernel", "line": 1, "options": {"fastmath": True}}],
}
LAUNCH = Launch((2, 1), (32,), {"x": np.arange(3, dtype=np.float32), "n": 3}, shared=64)


def message(**said: Any) -> bytes:
    encoded = json.dumps(said).encode()
    return len(encoded).to_bytes(4, "big") + encoded


def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: bytes, body: str = "") -> Path:
    """A stand-in for the GPU child: it keeps what it was asked and says what a test wants."""
    script = tmp_path / "child.py"
    script.write_text(
        f"import sys\nopen({str(tmp_path / 'asked')!r}, 'wb').write(sys.stdin.buffer.read())\n{body}\n"
        f"sys.stdout.buffer.write({says!r})\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(tool_run, "CHILD", script)
    return tmp_path / "asked"


@pytest.fixture
def tool(tmp_path: Path) -> list[str]:
    """A tool that writes its log and then runs what it was given."""
    path = tmp_path / "tool.py"
    path.write_text(
        "import subprocess, sys\n"
        "at = sys.argv.index('--log-file')\n"
        "open(sys.argv[at + 1], 'w').write('ERROR SUMMARY: 0 errors')\n"
        "sys.exit(subprocess.run(sys.argv[at + 2:]).returncode)\n",
        encoding="utf-8",
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return [sys.executable, str(path)]


def under(tool: list[str], **options: Any) -> Ended:
    return run_under(tool, PLAN, [LAUNCH], log_option="--log-file", **options)


def test_the_child_is_asked_for_lines_and_no_margins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: list[str]
) -> None:
    says = (
        message(at="ready") + message(at="launch", index=0, fault="", bytes=4) + b"data" + message(at="end")
    )
    asked = child(tmp_path, monkeypatch, says)
    assert under(tool) == Ended("ERROR SUMMARY: 0 errors", 1)
    request = asked.read_bytes()
    length = int.from_bytes(request[:8], "big")
    header = json.loads(request[8 : 8 + length])
    assert header["plan"]["functions"][0]["options"] == {"fastmath": True, "lineinfo": True}
    (launch,) = header["launches"]
    assert launch["arguments"] == [{"dtype": "<f4", "shape": [3], "margin": 0}, {"value": 3}]
    assert (launch["grid"], launch["block"], launch["shared"]) == ([2, 1], [32], 64)
    assert request[8 + length :] == np.arange(3, dtype=np.float32).tobytes()
    assert PLAN["functions"][0]["options"] == {"fastmath": True}


def test_a_fault_and_a_child_that_says_nothing_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: list[str]
) -> None:
    child(tmp_path, monkeypatch, message(at="launch", fault="gpu-illegal-address", detail="error 700"))
    assert under(tool).problem == "gpu-illegal-address: error 700"
    child(tmp_path, monkeypatch, b"\0\0\0\4nope")
    assert under(tool).problem == "the child's messages cannot be read"
    child(tmp_path, monkeypatch, b"")
    assert under(tool) == Ended("ERROR SUMMARY: 0 errors", 0)


def test_a_hang_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: list[str]) -> None:
    child(tmp_path, monkeypatch, b"", "import time; time.sleep(60)")
    assert under(tool, seconds=1.0).problem == "it did not finish within 1 s"


def test_why_a_tool_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_run, "gpu_reason", lambda: "no NVIDIA driver was found")
    assert tool_reason("ncu", "Nsight Compute") == "no NVIDIA driver was found"
    monkeypatch.setattr(tool_run, "gpu_reason", lambda: "")
    monkeypatch.setattr(tool_run, "find_tool", lambda _: None)
    assert tool_reason("ncu", "Nsight Compute") == "ncu is not installed: it comes with Nsight Compute"
    assert "compute-sanitizer is not installed" in sanitizer.sanitizer_reason()
    assert "ncu is not installed" in counters.counters_reason()
    monkeypatch.setattr(tool_run, "find_tool", lambda name: f"/usr/bin/{name}")
    assert tool_reason("ncu", "Nsight Compute") == ""
