"""Write the jobs for a GPU: every shared case and every exercise variant, with inputs and expectations.

    .venv/bin/python -m tools.hardware.prepare OUT                the exercises' variants
    .venv/bin/python -m tools.hardware.prepare OUT SHARED_CASES   the shared cases

Each job is a folder of OUT with the submission's text and the launches as ``.npz``. What the machine
says of the same launches goes into OUT/machine.json.
"""

from __future__ import annotations

import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

from grader.simt import launch, parse
from tests.content.variants import EXERCISES, KINDS, variants

SHAPES = ((64, 64, 64), (50, 37, 64), (50, 37, 40), (17, 33, 9))


def main(out: Path, cases: Path | None) -> None:
    """Write all jobs."""
    machine: dict[str, Any] = {}
    for kind in KINDS if not cases else ():
        for exercise in EXERCISES:
            for variant in variants(kind, exercise):
                machine[f"{variant}"] = _variant(out, variant, kind)
    for path in sorted(cases.glob("[0-9]*.py")) if cases else ():
        machine[path.stem] = _case(out, path)
    (out / "machine.json").write_text(json.dumps(machine, indent=1))
    sys.stdout.write(f"{len(machine)} jobs\n")


def _variant(out: Path, variant: Any, kind: str) -> dict[str, Any]:
    launches: list[Launch] = []
    found = re.search(r"^TILE = (\d+)", variant.source, re.MULTILINE)
    tile = int(found[1]) if found else 16
    for m, n, k in SHAPES:
        rng = np.random.default_rng([m, n, k])
        a = rng.integers(-4, 5, (m, k)).astype(np.float32)
        b = rng.integers(-4, 5, (k, n)).astype(np.float32)
        c = np.full((m, n), -777, np.float32)
        grid, block = _config(variant.source, m, n, tile)
        launches.append(Launch("tiled_matmul", grid, block, (a, b, c, m, n, k), 2, a @ b, 0))
    return _write(
        out, str(variant), variant.source, launches, {"kind": kind, "expected": variant.expected.name}
    )


def _config(source: str, m: int, n: int, tile: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    program = parse(source)
    if "launch_config" in program.functions:
        value, findings = program.evaluate("launch_config", (m, n))
        if not findings and isinstance(value, tuple) and len(value) == 2:
            return _dims(value[0]), _dims(value[1])
    return (-(-n // tile), -(-m // tile)), (tile, tile)


def _dims(value: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in value) if isinstance(value, tuple) else (int(value),)


class Launch:
    """One launch: kernel, grid, block, arguments, position of the output, expected output, shared bytes."""

    def __init__(
        self, kernel: str, grid: Any, block: Any, args: Any, out: int, want: Any, shared: int
    ) -> None:
        self.kernel, self.grid, self.block, self.args = kernel, grid, block, args
        self.out, self.want, self.shared = out, want, shared


def _case(out: Path, path: Path) -> dict[str, Any]:
    text = path.read_text()
    source = text.split("# ---- harness")[0]
    names: dict[str, Any] = {}
    numba = types.ModuleType("numba")
    numba.__getattr__ = lambda _: _Anything()  # type: ignore[method-assign]
    sys.modules["numba"], known = numba, sys.modules.get("numba")
    exec(compile(text, str(path), "exec"), names)
    del sys.modules["numba"]
    if known is not None:
        sys.modules["numba"] = known
    launches = []
    # The cases' shapes are meant for tiles of 4: scaled, they show the same bugs at the kernel's own tile.
    scale = next((names[name] // 4 for name in ("TILE", "TPB") if name in names and "sim tile: 4" in text), 1)
    for shape in [tuple(scale * size for size in shape) for shape in names["SHAPES"]]:
        kernel, grid, block, args, position, want, *shared = names["setup"](*shape)
        launches.append(
            Launch(kernel.__name__, grid, block, args, position, want, shared[0] if shared else 0)
        )
    verdict = text.splitlines()[0].partition(":")[2].strip()
    return _write(out, path.stem, source, launches, {"kind": "case", "expected": verdict})


class _Anything:
    def __call__(self, *args: Any, **_: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else (lambda function: function)

    def __getattr__(self, name: str) -> Any:
        return _Anything()


def _write(
    out: Path, name: str, source: str, launches: list[Launch], about: dict[str, Any]
) -> dict[str, Any]:
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "submission.py").write_text(source)
    found: dict[str, str] = {}
    wrong = 0
    for number, one in enumerate(launches):
        arrays = {f"arg{i}": np.asarray(arg) for i, arg in enumerate(one.args)}
        scalars = [i for i, arg in enumerate(one.args) if not isinstance(arg, np.ndarray)]
        meta = {
            "kernel": one.kernel,
            "grid": one.grid,
            "block": one.block,
            "out": one.out,
            "scalars": scalars,
        }
        meta["shared"] = one.shared
        np.savez_compressed(folder / f"{number}.npz", want=one.want, meta=json.dumps(meta), **arrays)
        args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in one.args]
        run = launch(
            source,
            one.kernel,
            grid=one.grid,
            block=one.block,
            args=args,
            shared_bytes=one.shared,
            fuel=50_000,
        )
        wrong += not run.completed or not np.allclose(args[one.out], one.want)
        for finding in run.findings:
            if finding.severity != "note":
                found.setdefault(finding.name, finding.severity)
    return {**about, "launches": len(launches), "wrong": wrong, "findings": found}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
