"""Time a made-up class on a GPU, try the tricks, and record what came of it.

    python -m tools.hardware.timing_record run OUT [--unsafe-no-sandbox]     on a machine with a GPU
    python -m tools.hardware.timing_record record OUT/timing.json            into docs/results

The class holds each kernel that repeatability is read from twice, one that fails and one that passes every
shape of the suite and is wrong at the sizes that are timed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXERCISE = "02_ragged_dims"
SIZE = 4096
RESULTS = ROOT / "docs" / "results" / "timing_h200.json"
PAGE = ROOT / "docs" / "timing.md"
START, END = "<!-- measured: written by tools/hardware/timing_record.py -->", "<!-- end of measured -->"
TILES = "range((K + TILE - 1) // TILE)"


def kernels() -> dict[str, str]:
    """Who hands in what. Two of a pair differ in a comment alone."""
    solution = (ROOT / "solutions" / f"{EXERCISE}.py").read_text(encoding="utf-8")

    def variant(tile: int, *edits: tuple[str, str]) -> str:
        text = solution.replace("TILE = 16", f"TILE = {tile}")
        for old, new in edits:
            assert old in text, old
            text = text.replace(old, new)
        return text

    double = "acc = float32(0.0)", "acc = 0.0"
    return {
        "tile32-a": variant(32),
        "tile32-b": variant(32) + "# the other\n",
        "tile16-a": variant(16),
        "tile16-b": variant(16) + "# the other\n",
        "tile32-float64": variant(32, double),
        "tile16-float64": variant(16, double),
        "tile8": variant(8),
        "tile4": variant(4),
        "no-second-barrier": variant(16, ("        cuda.syncthreads()\n\n    # Blocks", "\n    # Blocks")),
        "half-of-k-where-large": variant(
            16, (TILES, "range((K + TILE - 1) // TILE if K < 512 else K // 32)")
        ),
    }


def run(out: Path, bare: bool) -> None:
    """Do everything, each part so that its failure loses no other."""
    out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {"about": _about()}
    for name, part in (("tricks", _tricks), ("data", _data), ("class", lambda: _class(bare))):
        began = time.monotonic()
        try:
            found[name] = part()
        except Exception:  # noqa: BLE001 - told in the record
            found[name] = {"error": traceback.format_exc()[-3000:]}
        found[f"{name}_seconds"] = round(time.monotonic() - began, 1)
        (out / "timing.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(name, found[f"{name}_seconds"], "s", str(found[name])[:1500], flush=True)


def _about() -> dict[str, str]:
    from importlib.metadata import version

    from numba import cuda

    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    versions = {}
    for package in ("numba", "numba-cuda", "cupy-cuda13x", "numpy", "cuda-bindings"):
        try:
            versions[package] = version(package)
        except Exception:  # noqa: BLE001 - told in the record
            versions[package] = ""
    return {"device": name, "date": datetime.now(UTC).date().isoformat(), **versions}


def _tricks() -> dict[str, Any]:
    """Each trick before the protocol and before the timer that everybody writes first."""
    from grader.gpu.timed_product import Product
    from grader.gpu.timing_floor import floor_of
    from tests.unit.gpu.device_tricks import EXPECTED, Tricks, naive, verdict

    product = Product(2048, 2048, 2048)
    tricks = Tricks(product, 256 * 2**20)
    floor = floor_of(product, "NVIDIA H200", {})
    found: dict[str, Any] = {"size": 2048, "floor": floor}
    for name in EXPECTED:
        try:
            found[name] = {"protocol": verdict(tricks, name, floor), "naive": naive(tricks, name)}
        except Exception:  # noqa: BLE001 - told in the record
            found[name] = {"error": traceback.format_exc()[-1500:]}
    return found


def _data() -> dict[str, float]:
    """Medians of cuBLAS in milliseconds on whole numbers as the bench draws them and on floats in [0, 1)."""
    import cupy
    import numpy as np

    from grader.gpu.cublas import product_by_cublas
    from grader.gpu.timed_product import Product
    from grader.gpu.timing_kernels import DeviceOperations

    operations = DeviceOperations(Product(SIZE, SIZE, SIZE), 256 * 2**20)
    launch = product_by_cublas(operations.left, operations.right, operations.out)
    left, right = cupy.asarray(operations.left), cupy.asarray(operations.right)

    def whole(seed: int) -> None:
        operations.draw("left", seed, 4095)
        operations.draw("right", seed + 1, 4)

    def floats(seed: int) -> None:
        source = cupy.random.Generator(cupy.random.XORWOW(seed))
        left[:] = source.random(left.shape, dtype=cupy.float32)
        right[:] = source.random(right.shape, dtype=cupy.float32)

    found = {}
    for name, draw in (
        ("whole", whole),
        ("floats", floats),
        ("whole again", whole),
        ("floats again", floats),
    ):
        times = []
        for run_ in range(15):
            draw(7 * run_ + 1)
            for _ in range(4):
                operations.flush()
            operations.record("start")
            launch()
            operations.record("stop")
            times.append(operations.elapsed("start", "stop"))
        found[name] = float(np.median(times[3:]))
    return found


def _class(bare: bool) -> dict[str, Any]:
    from grader.batch.journal import Journal
    from grader.batch.leaderboard import boards_of, timed_kernels
    from grader.batch.run import Settings
    from grader.batch.run import run as batch
    from grader.reporters import leaderboard
    from grader.reporters.style import Style

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("rubrics", "exercises"):
            (folder / name).mkdir()
        shutil.copy(ROOT / "exercises" / f"{EXERCISE}.py", folder / "exercises")
        rubric = (ROOT / "rubrics" / f"{EXERCISE}.yaml").read_text(encoding="utf-8")
        rubric += "" if "\ntiming:" in rubric else "\ntiming: {}\n"
        (folder / "rubrics" / f"{EXERCISE}.yaml").write_text(rubric, encoding="utf-8")
        for student, text in kernels().items():
            (folder / "class" / student).mkdir(parents=True)
            (folder / "class" / student / f"{EXERCISE}.py").write_text(text, encoding="utf-8")
        began = time.monotonic()
        settings = Settings(
            folder / "class",
            folder / "out",
            rubrics=folder / "rubrics",
            workers=1,
            backend="gpu",
            bare=bare,
            quiet=True,
        )
        result = batch(settings)
        seconds = time.monotonic() - began
        journal = Journal(folder / "out" / "journal.sqlite3")
        boards = boards_of(timed_kernels(journal, secret=None))
        journal.close()
        style = Style(colour=False, width=120, unicode=True)
        return {
            "seconds": round(seconds, 1),
            "outcomes": {grade.student.id: _graded(grade.report) for grade in result.record.grades},
            "board": leaderboard.terminal(boards, style) if boards else "",
            "files": sorted(path.name for path in (folder / "out").iterdir() if path.is_file()),
        }


def _graded(report: Any) -> dict[str, Any]:
    return {
        "outcome": report.outcome.value,
        "reason": report.reason[:300],
        "first": report.diagnostics[0].name if report.diagnostics else "",
        "timings": [asdict(timing) for timing in report.timings],
    }


def record(source: Path) -> None:
    """Put a run's results where the documents quote them from, and into the document."""
    found = json.loads(source.read_text(encoding="utf-8"))
    failed = [name for name in ("tricks", "data", "class") if "error" in found.get(name, {"error": ""})]
    if failed:
        sys.exit(f"{source}: these parts failed: {', '.join(failed)}")
    # The board follows from the times.
    found["class"].pop("board", None)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    before, _, after = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(f"{before}{START}\n{measured(found)}{END}{after.partition(END)[2]}", encoding="utf-8")
    print(f"wrote {RESULTS} and {PAGE}")


def measured(found: dict[str, Any]) -> str:
    """What docs/timing.md quotes of the results."""
    about, data, tricks = found["about"], found["data"], found["tricks"]
    whole, floats = (min(data[name], data[f"{name} again"]) for name in ("whole", "floats"))
    tried = sorted(name for name, one in tricks.items() if isinstance(one, dict))
    rows = "".join(_trick_row(name, tricks[name]) for name in tried)
    graded = f"{len(found['class']['outcomes'])} variants of exercise 02"
    return f"""
On an {about["device"]}, {about["date"]}, numba-cuda {about["numba-cuda"]}, CuPy {about["cupy-cuda13x"]}, with
`tools/hardware/timing_record.py`; all figures are in [timing_h200.json](results/timing_h200.json).
A class of {graded}, graded and timed in {found["class"]["seconds"]:.0f} s:

```text
{board(found)}```

`tile16-a` and `tile16-b` differ in a comment alone, and so do `tile32-a` and `tile32-b`: each pair is
one kernel timed twice, in two processes. Their medians differ by {100 * apart(found):.2f} % at most; a board
takes half a per cent for the same. `no-second-barrier` fails its checks and is not timed.
`half-of-k-where-large` leaves half of the products out where K is 512 or more: it passes every shape of
the suite, and its first timed output gives it away.

A report shows the times of a kernel, here of `tile32-a`, like this:

```text
{shown(found, "tile32-a")}```

Whole numbers do not flatter: cuBLAS at 4096 takes {whole:.3f} ms on them and {floats:.3f} on floats.

The tricks as kernels at 2048, beside the simple timer:

| kernel | the simple timer | this protocol |
|---|---|---|
{rows}
"""


def _trick_row(name: str, one: dict[str, Any]) -> str:
    naive, ours = one["naive"], one["protocol"]
    believed = f"{naive['milliseconds']:#.3g} ms, {'right' if naive['right'] else 'wrong'}"
    verdict = f"`{ours['verdict']}`" if ours["verdict"] else f"{ours['milliseconds']:#.3g} ms"
    return f"| {name} | {believed} | {verdict} |\n"


def shown(found: dict[str, Any], student: str) -> str:
    """The rows of a kernel's report that give its times."""
    from grader.reporters.style import Style
    from grader.reporters.timing_text import timing_rows

    (report,) = (one.report for one in _timed(found) if one.who == student)
    return "".join(f"{row}\n" for row in timing_rows(report, Style(colour=False, width=110, unicode=True)))


def board(found: dict[str, Any]) -> str:
    """The leaderboard that the recorded times make."""
    from grader.batch.leaderboard import boards_of
    from grader.reporters import leaderboard
    from grader.reporters.style import Style

    return leaderboard.terminal(boards_of(_timed(found)), Style(colour=False, width=120, unicode=True))


def _timed(found: dict[str, Any]) -> list[Any]:
    """The recorded class as hand-ins with reports."""
    from grader.batch.leaderboard import Timed
    from grader.records import CheckResult, DeviceRun, Outcome, Report, Timing

    return [
        Timed(
            student,
            Report(
                exercise=EXERCISE,
                title="Ragged dimensions",
                kind="kernel",
                path=f"{EXERCISE}.py",
                outcome=Outcome(one["outcome"]),
                checks=(CheckResult("result", 1, 1, passed=bool(one["timings"])),),
                gpu=DeviceRun(found["about"]["device"], 1, 1, sandboxed=False),
                timings=tuple(Timing(**timing) for timing in one["timings"]),
            ),
        )
        for student, one in found["class"]["outcomes"].items()
    ]


def apart(found: dict[str, Any]) -> float:
    """By how much two medians of one kernel differ at most, relative to the smaller."""
    outcomes, most = found["class"]["outcomes"], 0.0
    for name in [name for name in outcomes if name.endswith("-a")]:
        pairs = zip(outcomes[name]["timings"], outcomes[f"{name[:-1]}b"]["timings"], strict=True)
        for one, other in pairs:
            low, high = sorted((one["milliseconds"], other["milliseconds"]))
            most = max(most, high / low - 1)
    return most


def main() -> None:
    """Read the words of the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "record"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--unsafe-no-sandbox", action="store_true")
    words = parser.parse_args()
    if words.what == "run":
        run(words.path, words.unsafe_no_sandbox)
    else:
        record(words.path)


if __name__ == "__main__":
    main()
