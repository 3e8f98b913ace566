"""Run all jobs of a folder on the GPU, plainly and under compute-sanitizer, several at a time.

    python all_jobs.py JOBS RESULT.json SECONDS [EARLIER.json]

What EARLIER.json holds already is not run again.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
RUNS = 20
WORKERS = 14
LIMIT = 60


def plain(folder: Path) -> dict[str, Any]:
    """Twenty runs of every launch."""
    return _answer([sys.executable, str(Path(__file__).with_name("job.py")), str(folder), str(RUNS)])


def sanitized(folder: Path, tool: str) -> dict[str, Any]:
    """One run of every launch under one tool."""
    job = [sys.executable, str(Path(__file__).with_name("job.py")), str(folder), "1"]
    options = ["--tool", tool, "--print-limit", "1"]
    if tool == "racecheck":
        options += ["--racecheck-report", "all"]
    answer = _answer(["compute-sanitizer", *options, *job])
    text = answer.pop("output", "")
    found = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", text)
    first = next(
        (
            line.strip("= ")
            for line in text.splitlines()
            if re.search(r"Error|Invalid|hazard|Uninit|diverg", line)
        ),
        "",
    )
    answer["errors"] = int(found[1]) if found else None
    answer["first"] = first[:160]
    return answer


def _answer(command: list[str]) -> dict[str, Any]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"error": "timeout", "output": ""}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    answer = json.loads(lines[-1]) if lines else {"error": "no answer"}
    if command[0] == "compute-sanitizer":
        answer["output"] = done.stdout
    return answer


def main(jobs: Path, result: Path, seconds: float, earlier: Path | None) -> None:
    """All plain runs first, then tool after tool, until the time is up."""
    known = json.loads(earlier.read_text()) if earlier else {}
    end = time.monotonic() + seconds
    folders = sorted(path for path in jobs.iterdir() if path.is_dir())
    table: dict[str, dict[str, Any]] = {folder.name: {} for folder in folders}

    def work(item: tuple[Path, str]) -> None:
        folder, tool = item
        if time.monotonic() < end:
            table[folder.name][tool] = plain(folder) if tool == "plain" else sanitized(folder, tool)

    items = [
        (folder, tool)
        for tool in ("plain", *TOOLS)
        for folder in folders
        if tool not in known.get(folder.name, {})
    ]
    with ThreadPoolExecutor(WORKERS) as pool:
        for position, _ in enumerate(pool.map(work, items)):
            if position % 100 == 0:
                result.write_text(json.dumps(table))
                sys.stdout.write(f"{position}/{len(items)} {end - time.monotonic():.0f} s left\n")
                sys.stdout.flush()
    result.write_text(json.dumps(table, indent=0))


if __name__ == "__main__":
    main(
        Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4:] else None
    )
