"""Random kernels on a real GPU against the machine.

python -m tools.hardware.differential prepare COUNT FILE.jsonl      here: kernels and the machine's answers
python tools/hardware/differential.py run FILE.jsonl RESULT.json    on the GPU
"""

from __future__ import annotations

import json
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {"F": np.float64, "fout": np.float64}


def prepare(count: int, out: Path) -> None:
    """Generate kernels and run them on the machine."""
    from grader.simt import launch
    from tests.differential.generate import generate

    with out.open("w") as file:
        for seed in range(count):
            kernel = generate(seed)
            arrays = _arrays(kernel.data)
            run = launch(
                kernel.source, "kernel", grid=kernel.grid, block=kernel.block, args=tuple(arrays.values())
            )
            case = {"seed": seed, "source": kernel.source, "grid": kernel.grid, "block": kernel.block}
            case |= {"data": kernel.data, "completed": run.completed}
            case["machine"] = {name: array.tolist() for name, array in arrays.items()}
            file.write(json.dumps(case) + "\n")


def _arrays(data: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(values, DTYPES.get(name, np.int64)) for name, values in data.items()}


def judge(line: str) -> dict[str, Any]:
    """Launch one kernel on the GPU and compare: integers exactly, floats to rounding."""
    import tempfile

    from numba import cuda

    warnings.simplefilter("ignore")
    case = json.loads(line)
    names: dict[str, Any] = {}
    folder = tempfile.mkdtemp()
    path = str(Path(folder) / f"kernel{case['seed']}.py")
    Path(path).write_text(case["source"])
    arrays = _arrays(case["data"])
    try:
        exec(compile(case["source"], path, "exec"), names)
        names["kernel"][tuple(case["grid"]), tuple(case["block"])](*arrays.values())
        cuda.synchronize()
    except Exception as error:  # noqa: BLE001 - the kind of error is the result
        return {"seed": case["seed"], "error": type(error).__name__, "text": str(error)[-300:]}
    worst, different = 0.0, []
    for name, array in arrays.items():
        want = np.array(case["machine"][name], array.dtype)
        if array.dtype.kind == "f":
            scale = np.maximum(np.abs(want), 1e-300)
            gap = np.nan_to_num(np.abs(array - want) / scale, nan=0.0)
            worst = max(worst, float(gap.max(initial=0.0)))
            if not np.allclose(array, want, rtol=1e-9, atol=1e-9, equal_nan=True):
                different.append(name)
        elif not (array == want).all():
            different.append(name)
    return {"seed": case["seed"], "different": different, "worst": worst}


def run(cases: Path, result: Path) -> None:
    """Judge all kernels, several processes at a time."""
    lines = cases.read_text().splitlines()
    with ProcessPoolExecutor(12) as pool:
        answers = list(pool.map(judge, lines, chunksize=4))
    result.write_text(json.dumps(answers))
    bad = [answer for answer in answers if answer.get("different") or answer.get("error")]
    sys.stdout.write(f"{len(answers)} kernels, {len(bad)} differ\n{json.dumps(bad[:5], indent=1)}\n")


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        run(Path(sys.argv[2]), Path(sys.argv[3]))
