"""The page that shows what became of numba-cuda's own tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Outcome:
    """What became of one test. ``kind`` is a key of :data:`KINDS`; ``reason`` is empty for a pass."""

    name: str
    kind: str
    reason: str = ""
    findings: list[str] = field(default_factory=list)


KINDS = {
    "passed": "numba's assertions hold for what the machine computed",
    "refused-alike": "the machine refuses what numba refuses; the test reads numba's own wording",
    "refused": "the machine does not follow a construct, and says so",
    "type-error": "the machine calls an error what numba compiles",
    "wrong": "an assertion on a result fails",
    "crash": "the machine raised an exception",
    "other": "a failure outside the machine",
    "excluded": "not about what kernels compute",
}


def page(data: dict[str, Any]) -> str:
    """The Markdown page of a result."""
    outcomes = [Outcome(**item) for item in data["outcomes"]]
    by_kind = {kind: [item for item in outcomes if item.kind == kind] for kind in KINDS}
    about = sum(len(items) for kind, items in by_kind.items() if kind != "excluded")
    right = len(by_kind["passed"]) + len(by_kind["refused-alike"])
    lines = [
        "# numba-cuda's own tests on the machine",
        "",
        f"Written by `python tools/numba_suite.py` from the tests that numba-cuda {data['numba_cuda']}",
        "ships. Each test's kernels run on the machine, and the test's own assertions judge what comes out;",
        "a test passes when all of its kernels do.",
        "",
        "| outcome | tests | meaning |",
        "|---|---|---|",
        *(f"| {kind} | {len(by_kind[kind])} | {meaning} |" for kind, meaning in KINDS.items()),
        "",
        f"Of {about} tests about kernels, {right} come out right ({right / about:.1%}).",
        "",
    ]
    for kind in ("refused", "type-error", "wrong", "crash", "other"):
        lines += _table(kind, by_kind[kind]) if by_kind[kind] else []
    lines += ["## Passed, with an error found", ""]
    lines += ["Kernels whose results are right, and in which the machine finds a fault all the same.", ""]
    lines += ["| test | findings |", "|---|---|"]
    lines += [f"| `{item.name}` | {', '.join(item.findings)} |" for item in outcomes if item.findings]
    lines += [
        "",
        *_table("Excluded", by_kind["excluded"]),
        "A module without names stands for all of its tests.",
    ]
    return "\n".join(lines) + "\n"


def _table(title: str, items: list[Outcome]) -> list[str]:
    """Tests by reason, the most frequent reason first."""
    reasons: dict[str, list[Outcome]] = {}
    for item in items:
        reasons.setdefault(item.reason, []).append(item)
    ordered = sorted(reasons.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    rows = [f"| {_cell(reason)} | {len(found)} | {_named(found)} |" for reason, found in ordered]
    return [f"## {title}", "", "| reason | tests | which |", "|---|---|---|", *rows, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _named(items: list[Outcome]) -> str:
    modules: dict[str, list[str]] = {}
    for item in items:
        parts = item.name.split(".")
        modules.setdefault(".".join(parts[:2]), []).append(parts[-1] if len(parts) > 2 else "")
    return "; ".join(
        f"`{module}`" + (f" ({', '.join(sorted(set(names)))})" if all(names) else "")
        for module, names in modules.items()
    )
