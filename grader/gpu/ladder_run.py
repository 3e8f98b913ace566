"""The parent's side of a climb: each rung in a child with a deadline; what fails is a row that says so."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.perf.climb import Climb, Climbed, Resources, Sizes
from grader.perf.rungs import RUNGS, Rung, fits

__all__ = ["Deadlines", "run_rungs"]

_ROOT = Path(__file__).resolve().parents[2]
_CHILD = (sys.executable, "-m", "grader.gpu.ladder_child")


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds of wall time: for a child to start and compile, for each size, and for timing each size."""

    start: float = 60.0
    size: float = 30.0
    timing: float = 2.0


@dataclass(slots=True)
class _Heard:
    """What a child said before it ended, and how it ended (empty: as it should)."""

    about: Mapping[str, Any] = field(default_factory=dict)
    rows: list[Climbed] = field(default_factory=list)
    ended: str = ""


def run_rungs(
    folder: Path,
    sizes: Sequence[Sizes],
    say: Callable[[str], None] = lambda _: None,
    rungs: Sequence[Rung] = RUNGS,
    deadlines: Deadlines | None = None,
    child: Sequence[str] = _CHILD,
) -> Climb:
    """Climb ``rungs``, whose kernels lie in ``folder``, at every size. The profile is left open.

    Those whose instructions the GPU, which the first child tells of, does not have are left out.
    """
    rows: list[Climbed] = []
    about: Mapping[str, Any] = {}
    for rung in rungs:
        if about.get("architecture") and not fits(rung, about["architecture"]):
            continue
        say(rung.title)
        found, told = _climb_one(folder, rung, sizes, deadlines or Deadlines(), child)
        rows += found
        about = about or told
    order = {each: position for position, each in enumerate(sizes)}
    rows.sort(key=lambda row: order[row.sizes])
    return Climb(
        gpu=str(about.get("gpu", "")),
        device="",
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        versions=dict(about.get("versions", {})),
        rungs=tuple(rows),
    )


def _climb_one(
    folder: Path, rung: Rung, sizes: Sequence[Sizes], deadlines: Deadlines, child: Sequence[str]
) -> tuple[list[Climbed], Mapping[str, Any]]:
    """One rung at every size. A size that ends its child has that for its problem; the rest get a new one."""
    rows: list[Climbed] = []
    about: Mapping[str, Any] = {}
    left = list(sizes)
    while left:
        request = {"folder": str(folder), "rung": rung.name, "sizes": left, "seconds": deadlines.timing}
        heard = _hear(request, deadlines.start + deadlines.size * len(left), child)
        about = about or heard.about
        rows += heard.rows
        done = {row.sizes for row in heard.rows}
        left = [each for each in left if each not in done]
        if left:
            M, N, K = left.pop(0)
            said = heard.ended or "the child gave no result"
            rows.append(Climbed(rung=rung.name, M=M, N=N, K=K, problem=said))
            if not heard.about and not heard.rows:
                # It did not even start: another would not either.
                rows += [Climbed(rung=rung.name, M=m, N=n, K=k, problem=said) for m, n, k in left]
                break
    return rows, about


def _hear(request: Mapping[str, Any], seconds: float, child: Sequence[str]) -> _Heard:
    path = os.pathsep.join(part for part in (str(_ROOT), os.environ.get("PYTHONPATH", "")) if part)
    try:
        done = subprocess.run(  # noqa: S603 - our own words
            list(child),
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=seconds,
            env={**os.environ, "PYTHONPATH": path, "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0"},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return _read(_text(error.stdout), f"not done after {seconds:.0f} s")
    except OSError as error:
        return _Heard(ended=f"the child cannot be started: {error.strerror or error}")
    return _read(done.stdout, _how_it_ended(done.returncode, done.stderr))


def _text(output: bytes | str | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def _how_it_ended(code: int, complaint: str) -> str:
    if code == 0:
        return ""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    last = "".join(one if one.isprintable() else " " for one in lines[-1])[:300] if lines else ""
    return last or (f"killed by signal {-code}" if code < 0 else f"ended with exit code {code}")


def _read(output: str, ended: str) -> _Heard:
    """The child's lines; one that is no message ends what it is believed."""
    heard = _Heard(ended=ended)
    for line in output.splitlines():
        try:
            message = json.loads(line)
            if "rung" in message:
                heard.rows.append(_climbed(message))
            else:
                heard.about = message
        except (ValueError, TypeError, KeyError):
            heard.ended = heard.ended or "the child's answer cannot be read"
            break
    return heard


def _climbed(message: dict[str, Any]) -> Climbed:
    resources = message.pop("resources", None)
    return Climbed(**message, resources=None if resources is None else Resources(**resources))
