"""On a machine with a GPU: what the compile check says beside the driver, and what NVIDIA's tools write.

python -m tools.hardware.compiled_record FOLDER               all of it
python -m tools.hardware.compiled_record FOLDER --registers   no logs of tools: a few seconds
python -m tools.hardware.compiled_record record FOLDER/compile.json    into docs/results

Writes FOLDER/compile.json (registers, shared and local bytes of every solution, every kernel of the
ladder and the styles of the tests, by the compile check and by the driver) and the raw logs of
compute-sanitizer and ncu, from which the tests of their parsers are made. A record is of the kernels'
texts as they were: ``text`` is their digest.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ("regs_per_thread", "local_mem_per_thread", "shared_mem_per_block", "const_mem_size")
RECORD = ROOT / "docs" / "results" / "compile_h200.json"
SQUARE = {"ndim": 2, "layout": "C"}


def digest(path: Path) -> str:
    """SHA-256 of a kernel's file, and of the PTX module where it uses that."""
    text = path.read_bytes()
    if b"grader.gpu.ptx" in text:
        modules = sorted((ROOT / "grader" / "gpu").glob("ptx*.py"))
        text += b"".join(module.read_bytes() for module in modules)
    return hashlib.sha256(text).hexdigest()


def digests() -> dict[str, str]:
    """The digest of each kernel that is compared, by name."""
    return {f"{path.parent.name}/{path.stem}": digest(path) for path in _paths()}


def _paths() -> list[Path]:
    folders = (ROOT / "solutions", ROOT / "solutions" / "ladder", ROOT / "tests" / "kernels" / "styles")
    return [path for folder in folders for path in sorted(folder.glob("*.py"))]


def kernels() -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Name, plan and argument types of every kernel that is compared."""
    from grader.simt import parse
    from grader.simt.plan import Plan, plan

    for path in _paths():
        program = parse(path.read_text(encoding="utf-8"))
        kernel = program.scope.get("KERNEL")
        name = kernel.node.name if hasattr(kernel, "node") else "tiled_matmul"
        planned = plan(program, name, file=path.name)
        if not isinstance(planned, Plan):
            print(f"{path}: not planned: {planned}")
            continue
        yield f"{path.parent.name}/{path.stem}", planned.request(), types(program, name)


def types(program: Any, kernel: str) -> list[dict[str, Any]]:
    """A, B and C, then whole numbers; A and B as the ladder's DTYPE says."""
    dtype = program.scope.get("DTYPE", "float32")
    inner = {"bfloat16": "uint16", "float32": "float32"}[dtype]
    count = len(program.function(kernel, {}).node.args.args)
    arrays = [{"dtype": inner, **SQUARE}] * 2 + [{"dtype": "float32", **SQUARE}]
    return arrays + [{"dtype": "int64"}] * (count - 3)


def compare(item: tuple[str, dict[str, Any], list[dict[str, Any]]]) -> tuple[str, dict[str, Any]]:
    """Both sides' figures of one kernel."""
    from grader.gpu.compile_child import compile_kernel
    from grader.gpu.rebuild import numba_type, rebuild

    name, plan, described = item
    found: dict[str, Any] = {}
    try:
        found["compiled"] = compile_kernel(plan, described, "sm_90")
        dispatcher = rebuild(plan, kernel_signature=False)
        compiled = dispatcher.compile(tuple(map(numba_type, described)))
        found["driver"] = {figure: int(getattr(compiled, figure)) for figure in FIGURES}
    except Exception:  # noqa: BLE001 - the others go on
        found["error"] = traceback.format_exc(limit=3)
    return name, found


def about() -> dict[str, Any]:
    from numba import cuda

    from grader.gpu.compile_child import _versions

    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    driver = ".".join(map(str, cuda.cudadrv.driver.driver.get_version()))
    return {"device": name, "cuda": driver, "date": time.strftime("%Y-%m-%d"), "versions": _versions()}


FAULTS = {
    "memcheck": ("02_ragged_dims", "C[row, col] = acc", "C[row + 64 * TILE, col] = acc"),
    "racecheck": ("02_ragged_dims", "        cuda.syncthreads()\n\n    # Blocks", "\n    # Blocks"),
    "synccheck": (
        "02_ragged_dims",
        "    acc = float32(0.0)\n",
        "    acc = float32(0.0)\n    if tx < 8:\n        cuda.syncthreads()\n",
    ),
    "initcheck": ("02_ragged_dims", "", ""),
}


def launch(text: str) -> tuple[dict[str, Any], Any]:
    """Plan and one ragged launch of a product."""
    import numpy as np

    from grader.gpu.device_runs import Launch
    from grader.simt import parse
    from grader.simt.plan import plan

    M, N, K = 50, 37, 40
    rng = np.random.default_rng(1)
    arguments = {
        "A": rng.integers(1, 9, (M, K)).astype(np.float32),
        "B": rng.integers(1, 9, (K, N)).astype(np.float32),
        "C": np.full((M, N), np.nan, np.float32),
        "M": M,
        "N": N,
        "K": K,
    }
    planned = plan(parse(text), "tiled_matmul", file="submission.py")
    return planned.request(), Launch((-(-N // 16), -(-M // 16)), (16, 16), arguments)  # type: ignore[union-attr]


def sanitizer_log(tool: str, faulty: bool, folder: Path) -> dict[str, Any]:
    from grader.gpu.sanitizer import read_log
    from grader.gpu.tool_run import find_tool, run_under

    name, old, new = FAULTS[tool]
    text = (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    assert not faulty or old in text, tool
    plan, one = launch(text.replace(old, new) if faulty and old else text)
    words = [str(find_tool("compute-sanitizer")), "--tool", tool, "--print-limit", "200"]
    ended = run_under(words, plan, [one], log_option="--log-file")
    (folder / f"{tool}_{'faulty' if faulty else 'right'}.log").write_text(ended.log)
    read = read_log(tool, ended.log, "submission.py", ended.problem)  # type: ignore[arg-type]
    return {"read": repr(read), "launched": ended.launched, "problem": ended.problem}


def ncu_log(folder: Path) -> dict[str, Any]:
    from grader.gpu import counters, tool_run

    text = (ROOT / "solutions" / "02_ragged_dims.py").read_text(encoding="utf-8")
    plan, one = launch(text)
    kept: list[str] = []
    under = tool_run.run_under

    def keep(*words: Any, **options: Any) -> Any:
        ended = under(*words, **options)
        kept.append(ended.log)
        return ended

    counters.run_under = keep
    (measured,) = counters.measure(plan, [one])
    (folder / "ncu.csv").write_text("\n".join(kept))
    return {"figures": dict(measured.figures), "problem": measured.problem}


def guarded(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception:  # noqa: BLE001 - the others go on
        return {"error": traceback.format_exc(limit=4)}


def record(path: Path) -> None:
    """Keep what a run compared; a kernel without both sides' figures is no record."""
    found = json.loads(path.read_text(encoding="utf-8"))
    incomplete = [name for name, one in found["kernels"].items() if not {"compiled", "driver"} <= one.keys()]
    if incomplete:
        raise SystemExit(f"no figures of {', '.join(incomplete)}")
    kept = {"about": found["about"], "kernels": found["kernels"]}
    RECORD.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    if sys.argv[1] == "record":
        record(Path(sys.argv[2]))
        return
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    started = time.monotonic()
    found: dict[str, Any] = {}
    items = list(kernels())
    tools = "--registers" not in sys.argv
    with ThreadPoolExecutor(5) as threads:
        jobs = {
            f"{tool}_{'faulty' if faulty else 'right'}": threads.submit(
                guarded, sanitizer_log, tool, faulty, logs
            )
            for tool in FAULTS
            for faulty in (False, True)
            if tools and not (faulty and tool == "initcheck")
        }
        # A driver that was started here could not be used in a forked process.
        with ProcessPoolExecutor(6, multiprocessing.get_context("spawn")) as processes:
            found["about"] = processes.submit(guarded, about).result()
            found["kernels"] = dict(processes.map(compare, items))
        found["sanitizer"] = {name: job.result() for name, job in jobs.items()}
    for name, text in digests().items():
        found["kernels"][name]["text"] = text
    if tools:
        found["ncu"] = guarded(ncu_log, logs)
    found["seconds"] = time.monotonic() - started
    (folder / "compile.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    for name, one in found["kernels"].items():
        mine, driver = one.get("compiled", {}), one.get("driver", {})
        print(name, mine.get("registers"), driver.get("regs_per_thread"), one.get("error", "")[-200:])
    print(json.dumps(found["sanitizer"], indent=1)[:4000])
    print(json.dumps(found.get("ncu"), indent=1)[:2000], found["seconds"], found["about"])


if __name__ == "__main__":
    main()
