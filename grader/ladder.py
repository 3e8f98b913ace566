"""The ladder climbed: a run on a GPU, or a run that was recorded."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from grader.gpu.available import gpu_reason
from grader.ladder_files import compiled_resources, folder, missing_files
from grader.perf.climb import Climb, Sizes
from grader.perf.devices import Device, device, device_names
from grader.perf.rungs import RUNGS

__all__ = ["LadderError", "climb", "compiled_resources", "no_gpu", "profile_for", "recorded"]

SCHEMA = "tilegrade.ladder/1"
_MOST_BYTES = 4 << 20


class LadderError(Exception):
    """A record that is none; the text is one line that says what is wrong."""


def no_gpu() -> str:
    """Why the ladder cannot be climbed here, in one line; empty where it can."""
    reason = missing_files() or gpu_reason()
    if not reason and importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed: pip install '.[gpu]' in Tilegrade's checkout"
    return reason


def profile_for(gpu: str) -> Device | None:
    """The profile of a GPU by the name that its driver gives it, or None where there is none."""
    words = gpu.lower().replace("-", " ").replace("geforce", "").split()
    for name in device_names():
        if name in words or "".join(words).endswith(name):
            return device(name)
    return None


def climb(sizes: Iterable[Sizes], say: Callable[[str], None] = lambda _: None) -> Climb:
    """Run every rung at every size on the GPU, each rung in a child of its own.

    ``say`` is told each rung before it runs. Whatever fails is a row with its reason.
    """
    from grader.gpu.ladder_run import run_rungs

    ran = run_rungs(folder(), list(sizes), say)
    profile = profile_for(ran.gpu)
    return replace(ran, device=profile.name if profile is not None else "")


def recorded(record: Path) -> Climb:
    """Read a run that ``grader ladder --json`` wrote. Raises LadderError."""
    try:
        if record.stat().st_size > _MOST_BYTES:
            raise LadderError(f"{record}: larger than 4 MiB, which no ladder is")
        tree = msgspec.json.decode(record.read_bytes())
        if not isinstance(tree, dict) or tree.get("schema") != SCHEMA:
            raise LadderError(f'{record}: not written by grader ladder --json (schema "{SCHEMA}")')
        found = msgspec.convert(tree, Climb)
    except OSError as error:
        raise LadderError(f"{record}: cannot be read ({error.strerror or error})") from None
    except msgspec.MsgspecError as error:
        raise LadderError(f"{record}: {error}") from None
    _check(record, found)
    return found


def _check(record: Path, found: Climb) -> None:
    known = {rung.name for rung in RUNGS}
    if found.device and found.device not in device_names():
        raise LadderError(f"{record}: no device named {found.device!r} (known: {', '.join(device_names())})")
    for rung in found.rungs:
        figures = (rung.milliseconds, rung.max_relative_error, rung.spread)
        if rung.rung not in known:
            raise LadderError(f"{record}: no rung is named {rung.rung!r} (known: {', '.join(sorted(known))})")
        if min(rung.sizes) < 1 or any(figure is not None and figure < 0 for figure in figures):
            raise LadderError(f"{record}: {rung.rung}: sizes are at least 1, and no figure is below 0")
