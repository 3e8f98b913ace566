"""Climb the ladder on the GPU of this machine and record it: what docs/results/ladder_h200.json holds.

    python -m tools.hardware.ladder_record FOLDER [SIZES]

Writes FOLDER/ladder.json anew after each rung, so that whatever ends the run early leaves the rungs
before it, and FOLDER/ladder_compiled.json with what the compile check says of the same kernels here.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from grader import ladder, ladder_files
from grader.cli.model import parse_size
from grader.gpu.ladder_run import run_rungs
from grader.perf.climb import Climb, measured_rows
from grader.perf.devices import device
from grader.perf.rungs import RUNGS
from grader.reporters import ladder_json, ladder_lab, ladder_table
from grader.reporters.style import Style

STYLE = Style(colour=False, width=100, unicode=True)
# The library first: a share of it needs its time, and a run that is cut short should have it.
ORDER = sorted(RUNGS, key=lambda rung: not rung.is_library)


def main(out: Path, words: str) -> int:
    if reason := ladder.no_gpu():
        print(reason)
        return 2
    sizes = [parse_size(word) for word in words.split(",")]
    whole = Climb(gpu="", device="", date="", versions={}, rungs=())
    for rung in ORDER:
        began = time.perf_counter()
        part = run_rungs(ladder_files.folder(), sizes, rungs=[rung])
        whole = merged(whole, part)
        (out / "ladder.json").write_text(rendered(whole), encoding="utf-8")
        said = "; ".join(row.problem for row in part.rungs if row.problem)
        print(f"{rung.title}: {time.perf_counter() - began:.1f} s {said}", flush=True)
    record_compiled(whole, out)
    show(whole)
    return 0


def merged(whole: Climb, part: Climb) -> Climb:
    """Both runs, rungs in the ladder's order within each size."""
    order = {rung.name: position for position, rung in enumerate(RUNGS)}
    sizes = list(dict.fromkeys(row.sizes for row in (*whole.rungs, *part.rungs)))
    rungs = sorted((*whole.rungs, *part.rungs), key=lambda row: (sizes.index(row.sizes), order[row.rung]))
    known = whole if whole.gpu else part
    profile = ladder.profile_for(known.gpu)
    return replace(known, device=profile.name if profile else "", rungs=tuple(rungs))


def rendered(climb: Climb) -> str:
    profile = device(climb.device) if climb.device else None
    return ladder_json.render(climb, measured_rows(climb, profile))


def record_compiled(climb: Climb, out: Path) -> None:
    if not climb.device:
        return
    try:
        found, reason = ladder.compiled_resources(device(climb.device))
    except Exception as error:  # noqa: BLE001 - the times are what matters here
        found, reason = {}, f"{type(error).__name__}: {error}"
    tree = {"reason": reason, "resources": {name: asdict(one) for name, one in found.items()}}
    (out / "ladder_compiled.json").write_text(json.dumps(tree, indent=2) + "\n", encoding="utf-8")
    print(f"compiled: {', '.join(found)} {reason}", flush=True)


def show(climb: Climb) -> None:
    profile = device(climb.device) if climb.device else None
    tables = measured_rows(climb, profile)
    print(ladder_lab.render(climb, tables, STYLE))
    print(ladder_table.render_measured(climb, profile, tables, STYLE))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1000,1024,4096"))
