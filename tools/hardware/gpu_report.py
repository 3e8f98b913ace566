"""Record runs of tools/hardware/gpu_backend.py, and write the page that quotes them.

python -m tools.hardware.gpu_report                              the page anew
python -m tools.hardware.gpu_report DATE RESULT.json ...         record first; a later file's rows replace
                                                                 an earlier one's
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "results" / "gpu_backend_h200.json"
PAGE = ROOT / "docs" / "gpu-verdicts.md"


def record(date: str, results: list[Path]) -> None:
    """Join runs into one record."""
    data: dict[str, Any] = {"about": {"date": date}, "rows": {}, "batch": {}}
    for path in results:
        answer = json.loads(path.read_text())
        data["rows"] |= {row["id"]: _row(row) for row in answer["rows"]}
        data["about"]["workers"] = answer["workers"]
        if answer["batch"]:
            data["batch"] = {row["id"]: _row(row) for row in answer["batch"]}
            data["about"]["batch_seconds"] = answer["batch_seconds"]
    ran = next(row["run"] for row in answer["rows"] if row.get("run"))
    versions = {("CUDA" if name == "driver" else name): text for name, text in ran["versions"].items()}
    data["about"] |= {"device": ran["device"], "capability": ran["capability"], "versions": versions}
    DATA.write_text(json.dumps(data, indent=0, sort_keys=True) + "\n")


def _row(row: dict[str, Any]) -> dict[str, Any]:
    run = row.get("run") or {}
    explained = Counter(one["explained_by"] for one in row.get("disagreements", ()))
    kept: dict[str, Any] = {
        "kind": row["kind"],
        "expected": row["expected"],
        "machine": row["machine"],
        "unexplained": explained.pop("", 0),
        "explained": dict(explained),
        "seconds": row["seconds"],
    }
    if "gpu" in row:
        kept["gpu"] = row["gpu"]
    if row.get("luck"):
        kept["luck"] = True
    if run:
        kept["run"] = {key: run[key] for key in ("right", "total", "fault", "sandboxed") if key in run}
    return kept


def agree(row: dict[str, Any]) -> bool:
    """Whether nothing is left unexplained, and the outcome beside the GPU is the machine's."""
    same = "gpu" not in row or row["gpu"]["outcome"] == row["machine"]["outcome"]
    return same and not row["unexplained"]


def render(data: dict[str, Any]) -> str:
    """The page."""
    about, rows, batch = data["about"], data["rows"], data["batch"]
    versions = ", ".join(f"{name} {text}" for name, text in sorted(about["versions"].items()))
    agreeing = sum(agree(row) for row in rows.values())
    differing = [row for row in rows.values() if row["explained"]]
    launches = sum(sum(row["explained"].values()) for row in differing)
    ran = sum("run" in row and row["run"].get("fault") != "gpu-not-planned" for row in rows.values())
    sandboxed = sum(bool(row.get("run", {}).get("sandboxed")) for row in rows.values())
    lucky = sum(bool(row.get("luck")) for row in rows.values())
    good = [name for name, row in batch.items() if row["gpu"]["outcome"] == "PASS"]
    lines = [
        "# Verdicts beside a GPU",
        "",
        "Every exercise's skeleton and solution, every variant of `tests/kernels` and the shared cases, "
        f"graded by `--backend gpu` on one {about['device']} ({versions}; {about['date']}), "
        f"{about['workers']} at once. Written by `python -m tools.hardware.gpu_report` from "
        "[results/gpu_backend_h200.json](results/gpu_backend_h200.json); [gpu.md](gpu.md) explains the "
        "words.",
        "",
        f"- {agreeing} of {len(rows)} gradings agree, {len(rows) - agreeing} do not.",
        f"- Unexplained disagreements: {sum(row['unexplained'] for row in rows.values())}.",
        f"- Launches that the two judged differently, all explained by what the machine had found: "
        f"{launches}, in {len(differing)} of the kernels.",
        f"- Faulty kernels that the GPU got right on at least one shape, by luck: {lucky}.",
        f"- {ran} of the {len(rows)} ran on the GPU, {sandboxed} of them in the sandbox; the others have "
        "nothing that could run.",
        "",
        "## A batch of forty with four in its middle that ruin a process",
        "",
        f"{len(good)} of {len(batch)} are the solutions, and pass; {about['batch_seconds']} s in all, "
        f"{about['workers']} at once, each in a sandbox of its own. The other four:",
        "",
        "| submission | the machine says | how the run on the GPU ended | outcome | seconds |",
        "|---|---|---|---|---|",
    ]
    for name, row in sorted(batch.items()):
        if name not in good:
            cells = (
                *(name, row["machine"]["first"], row["run"].get("fault", "-")),
                *(row["gpu"]["outcome"], f"{row['seconds']:.1f}"),
            )
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "## Every kernel",
        "",
        "*Right* counts the shapes that came out right on the GPU; *explained* are launches that the two "
        "judged differently because of the finding named. A shared case has no rubric, hence findings and no "
        "outcome.",
        "",
        "| kernel | machine | beside the GPU | right | run ended by | explained |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_line(name, row) for name, row in sorted(rows.items())]
    return "\n".join(lines) + "\n"


def _line(name: str, row: dict[str, Any]) -> str:
    machine, run = row["machine"], row.get("run", {})
    if "findings" in machine:
        said, beside = ", ".join(machine["findings"]) or "nothing found", "-"
    else:
        said = machine["outcome"] + (f": {machine['first']}" if machine["first"] else "")
        beside = row["gpu"]["outcome"]
    right = f"{run['right']}/{run['total']}" if run.get("total") else "-"
    explained = ", ".join(f"{count} {cause}" for cause, count in sorted(row["explained"].items())) or "-"
    return f"| {name} | {said} | {beside} | {right} | {run.get('fault', '-')} | {explained} |"


if __name__ == "__main__":
    if len(sys.argv) > 2:
        record(sys.argv[1], [Path(word) for word in sys.argv[2:]])
    PAGE.write_text(render(json.loads(DATA.read_text())))
    sys.stdout.write(f"wrote {PAGE.name}\n")
