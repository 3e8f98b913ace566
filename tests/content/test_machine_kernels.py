"""The machine on kernels of many kinds: right ones without an alarm, faulty ones named.

Each file of ``tests/kernels/machine/right`` is a kernel and, below ``# ---- harness``, a function
``setup`` that returns (grid, block, args, {index of an output: what it must become}).
``tests/kernels/machine/faulty.toml`` holds one kernel for each entry, with what must be found.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.simt import Run, launch

FOLDER = Path(__file__).resolve().parents[1] / "kernels" / "machine"
RIGHT = sorted((FOLDER / "right").glob("*.py"))
FAULTY: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "faulty.toml").read_text(encoding="utf-8"))
HEAD = "import math\nfrom numba import cuda, float32, float64, int32, int64\n\n"


def _ints(shape: int | tuple[int, ...], below: int = 10) -> Any:
    return np.random.default_rng(7).integers(0, below, shape)


def _setup(harness: str) -> Any:
    names: dict[str, Any] = {"np": np, "ints": _ints}
    exec(compile(harness, "harness", "exec"), names)
    return names["setup"]()


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_right_kernel_raises_no_alarm(path: Path) -> None:
    kernel, _, harness = path.read_text(encoding="utf-8").partition("# ---- harness")
    grid, block, args, wanted = _setup(harness)

    run = launch(kernel, "kernel", grid=grid, block=block, args=args)

    assert run.completed, run.findings
    assert [f for f in run.findings if f.severity != "note"] == []
    for position, want in wanted.items():
        assert args[position].dtype == want.dtype or want.dtype.kind == "f"
        np.testing.assert_allclose(args[position], want, rtol=1e-6, atol=0)


def _line(source: str, mark: str) -> int:
    return next(number for number, text in enumerate(source.splitlines(), 1) if mark in text)


def _faulty(entry: dict[str, Any]) -> tuple[str, Run]:
    source = HEAD + entry["kernel"]
    names = {"np": np, "ints": _ints}
    args = eval(f"({entry['args']},)", names)
    options = {"shared_bytes": entry.get("shared_bytes", 0), "fuel": entry.get("fuel")}
    run = launch(
        source, "kernel", grid=_dims(entry["grid"]), block=_dims(entry["block"]), args=args, **options
    )
    return source, run


def _dims(value: int | list[int]) -> int | tuple[int, ...]:
    return value if isinstance(value, int) else tuple(value)


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_kernel_is_named_on_its_line(name: str) -> None:
    entry = FAULTY[name]
    source, run = _faulty(entry)
    found = [(f.name, f.severity, f.primary.line if f.primary else 0) for f in run.findings]
    primary = _line(source, "# here")
    assert (entry["must"], entry.get("severity", "error"), primary) in found
    if "# why" in source:
        why = _line(source, "# why")
        assert any(f.secondary and f.secondary.line == why for f in run.findings if f.name == entry["must"])
    allowed = {entry["must"], *entry.get("may", ())}
    assert {f.name for f in run.findings if f.severity == "error"} <= allowed
    for key, value in entry.get("counts", {}).items():
        assert next(f for f in run.findings if f.name == entry["must"]).counts[key] == value
    for key, value in entry.get("facts", {}).items():
        assert next(f for f in run.findings if f.name == entry["must"]).facts[key] == (
            tuple(value) if isinstance(value, list) else value
        )


def test_there_are_enough() -> None:
    assert len(RIGHT) >= 30
    assert len(FAULTY) >= 30
