from __future__ import annotations

import io

import pytest

from grader.batch import progress
from grader.batch.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_with_rate_and_time_left_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 20.0, 30.0, 30.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    stream = Terminal()
    bar = Progress(90, stream=stream)
    for _ in range(3):
        bar.step()
    bar.close()
    last = stream.getvalue().rsplit("\r", 1)[1]
    assert last == "[............................] 3 of 90, 0.1 a second, 14:30 left\n"


def test_a_line_now_and_then_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 31.0, 32.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    log = Progress(62, stream=stream)
    for _ in range(3):
        log.step()
    log.close()
    assert stream.getvalue() == "graded 2 of 62, 0.1 a second, 15:30 left\n"


def test_quiet_says_nothing() -> None:
    stream = Terminal()
    bar = Progress(1, stream=stream, quiet=True)
    bar.step()
    assert stream.getvalue() == ""
