"""Write docs/what-each-tool-finds.md from the recorded runs in docs/results/hardware.json.

python -m tools.hardware.report                      the page anew
python -m tools.hardware.report JOBS RESULT.json ... record new runs first; repeat for other jobs
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "results" / "hardware.json"
PAGE = ROOT / "docs" / "what-each-tool-finds.md"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
#: Verdicts that need no launch, or that are about speed alone: no tool of hardware could show them.
NOT_A_HAZARD = frozenset(
    [
        "bad-launch-config",
        "missing-kernel",
        "changed-signature",
        "syntax-error",
        "not-started",
        "low-arithmetic-intensity",
        "no-shared-reuse",
        "uncoalesced-access",
        "float64-arithmetic",
        "forbidden-call",
    ]
)


def record(jobs: Path, results: list[Path]) -> None:
    """Join what the GPU gave with what the machine said."""
    machine = json.loads((jobs / "machine.json").read_text())
    rows: dict[str, dict[str, Any]] = json.loads(DATA.read_text())["rows"] if DATA.exists() else {}
    for name, said in machine.items():
        row: dict[str, Any] = {"kind": said["kind"], "expected": said["expected"]}
        row["machine"] = {"wrong": said["wrong"], "findings": said["findings"], "launches": said["launches"]}
        rows[name] = row
    for path in results:
        for name, tools in json.loads(path.read_text()).items():
            if name not in machine:
                continue
            for tool, answer in tools.items():
                rows[name][tool] = {
                    key: answer[key] for key in ("wrong", "runs", "error", "errors") if key in answer
                }
    about = {"device": "NVIDIA H200", "driver": "580.159.04", "numba-cuda": "0.30.4", "date": "2026-11-30"}
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text(json.dumps({"about": about, "rows": rows}, indent=0, sort_keys=True) + "\n")


def is_faulty(row: dict[str, Any]) -> bool:
    """Whether a row is a kernel with a fault that running it could show."""
    expected = row["expected"] or ""
    if row["kind"] == "case":
        return not expected.startswith("correct")
    return row["kind"] == "wrong" and bool(expected) and expected not in NOT_A_HAZARD


def is_correct(row: dict[str, Any]) -> bool:
    """Whether a row is a kernel that is right."""
    return row["kind"] == "odd" or (row["kind"] == "case" and (row["expected"] or "").startswith("correct"))


def shown_by_output(row: dict[str, Any]) -> bool:
    """Whether the runs on the GPU gave a wrong result, or none at all, at least once."""
    plain = row.get("plain", {})
    return "error" in plain or any(plain.get("wrong", ()))


def shown_by(row: dict[str, Any], tool: str) -> bool:
    """Whether a sanitizer tool reported something that it does not report of a correct kernel."""
    return bool(row.get(tool, {}).get("errors"))


def shown_by_machine(row: dict[str, Any]) -> bool:
    """Whether the machine found a hazard or gave a wrong result, for the check of the output to name."""
    return bool(row["machine"]["findings"]) or row["machine"]["wrong"] > 0


def render(data: dict[str, Any]) -> str:
    """The page."""
    rows = data["rows"]
    faulty = {name: row for name, row in rows.items() if is_faulty(row)}
    correct = {name: row for name, row in rows.items() if is_correct(row)}
    about = data["about"]
    lines = [
        "# What each tool finds",
        "",
        f"Kernels of the tests (`tests/kernels`, the shared cases) on one {about['device']}, "
        f"driver {about['driver']}, numba-cuda {about['numba-cuda']}, {about['date']}: each launch run "
        "20 times with its output compared, and once under each tool of compute-sanitizer; beside them "
        "the machine's verdict on the same launches. "
        "The runs are recorded in `docs/results/hardware.json`; this page is made from them by "
        "`python -m tools.hardware.report`.",
        "",
        "| tool | faulty kernels it shows a fault in | correct kernels it complains of |",
        "|---|---|---|",
    ]
    for label, shows in _columns():
        ran = [row for row in faulty.values() if _ran(row, label)]
        calm = [row for row in correct.values() if _ran(row, label)]
        lines.append(
            f"| {label} | {sum(map(shows, ran))} of {len(ran)} | {sum(map(shows, calm))} of {len(calm)} |"
        )
    lines += ["", "## What only the machine finds", ""]
    lines += ["Neither 20 runs with the output compared nor any sanitizer tool shows a fault in these.", ""]
    lines += ["| kernel | the machine's findings |", "|---|---|"]
    for name, row in sorted(faulty.items()):
        others = shown_by_output(row) or any(shown_by(row, tool) for tool in TOOLS)
        if not others and shown_by_machine(row):
            lines.append(f"| {name} | {', '.join(row['machine']['findings']) or 'wrong result'} |")
    lines += ["", "## What the machine's launch alone does not show", ""]
    lines += ["These need the reference of a rubric, or are not faults of the launches tried here.", ""]
    lines += ["| kernel | expected | on the GPU |", "|---|---|---|"]
    for name, row in sorted(faulty.items()):
        if not shown_by_machine(row):
            lines.append(f"| {name} | {row['expected']} | {_plain(row)} |")
    lines += [
        "",
        "## All faulty kernels",
        "",
        "| kernel | expected | GPU output | sanitizer | machine |",
        "|---|---|---|---|---|",
    ]
    for name, row in sorted(faulty.items()):
        tools = ", ".join(tool for tool in TOOLS if shown_by(row, tool)) or "-"
        found = ", ".join(row["machine"]["findings"]) or ("wrong result" if row["machine"]["wrong"] else "-")
        lines.append(f"| {name} | {row['expected']} | {_plain(row)} | {tools} | {found} |")
    return "\n".join(lines) + "\n"


def _columns() -> list[tuple[str, Any]]:
    columns: list[tuple[str, Any]] = [("20 runs, output compared", shown_by_output)]
    columns += [(tool, lambda row, tool=tool: shown_by(row, tool)) for tool in TOOLS]
    columns.append(
        ("the four sanitizer tools together", lambda row: any(shown_by(row, tool) for tool in TOOLS))
    )
    columns.append(("the machine", shown_by_machine))
    return columns


def _ran(row: dict[str, Any], label: str) -> bool:
    if row.get("plain", {}).get("error") == "SystemExit":
        return label == "the machine"  # the file ends its own process: there was no launch to look at
    if label in TOOLS:
        return row.get(label, {}).get("errors") is not None
    return label == "the machine" or "plain" in row


def _plain(row: dict[str, Any]) -> str:
    plain = row.get("plain", {})
    if "error" in plain:
        return str(plain["error"])
    wrong = plain.get("wrong", [])
    return f"wrong in {sum(wrong)} of {len(wrong) * plain.get('runs', 0)}" if any(wrong) else "right"


if __name__ == "__main__":
    if len(sys.argv) > 2:
        record(Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]])
    PAGE.write_text(render(json.loads(DATA.read_text())))
    sys.stdout.write(f"wrote {PAGE.name}\n")
