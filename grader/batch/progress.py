"""How far a batch is: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["Progress"]

_LOG_EVERY = 30.0
_DRAW_EVERY = 0.1
_BAR = 28


class Progress:
    """Counts gradings to a total. On a terminal it draws a bar with rate and time left."""

    def __init__(self, total: int, *, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._total, self._done = total, 0
        self._stream = sys.stderr if stream is None else stream
        self._bar = self._stream.isatty() and not quiet
        self._quiet = quiet
        self._started = self._last = time.monotonic()

    def step(self) -> None:
        """Count one more."""
        self._done += 1
        now = time.monotonic()
        if self._quiet or now - self._last < (_DRAW_EVERY if self._bar else _LOG_EVERY):
            return
        self._last = now
        end = "" if self._bar else "\n"
        self._stream.write(f"{chr(13) if self._bar else ''}{self.line(now)}{end}")
        self._stream.flush()

    def line(self, now: float) -> str:
        """Write where things stand."""
        rate = self._done / max(now - self._started, 1e-9)
        left = (self._total - self._done) / rate if rate else 0.0
        filled = _BAR * self._done // max(self._total, 1)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] " if self._bar else "graded "
        return f"{bar}{self._done} of {self._total}, {rate:.1f} a second, {_clock(left)} left"

    def close(self) -> None:
        """End the bar's line."""
        if self._bar and self._done:
            self._stream.write(f"\r{self.line(time.monotonic())}\n")
            self._stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
