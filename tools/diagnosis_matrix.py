"""Grade the corpus of mutants and write docs/diagnosis_matrix.json and docs/diagnosis-matrix.md.

    python -m tools.diagnosis_matrix [PROCESSES]

``docs/results/mutants.json`` must hold the oracles' answers (see tests/mutation/oracles.py).
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter, process_time

from tests.mutation.corpus import corpus
from tests.mutation.equivalents import reason
from tests.mutation.judging import Judgement, grade_all, judged
from tests.mutation.oracles import HARDWARE, recorded
from tests.mutation.pairs import Mending, mended, pairs

ROOT = Path(__file__).resolve().parents[1]
JSON = ROOT / "docs" / "diagnosis_matrix.json"
PAGE = ROOT / "docs" / "diagnosis-matrix.md"
#: The test suite grades every so many of the mutants again.
SAMPLE = 25


def totals(judgements: Sequence[Judgement]) -> dict[str, int]:
    faulty = sum(one.faulty for one in judgements)
    return {
        "mutants": len(judgements),
        "equivalent": len(judgements) - faulty,
        "faulty": faulty,
        "found": sum(one.found for one in judgements),
        "named": sum(one.named for one in judgements),
        "line_right": sum(one.line_right for one in judgements),
        "false_alarms": sum(one.false_alarm for one in judgements),
    }


def pair_totals(mendings: Sequence[Mending]) -> dict[str, int]:
    return {
        "pairs": len(mendings),
        "first_true": sum(one.first_true for one in mendings),
        "reach_pass": sum(one.reaches_pass for one in mendings),
    }


def hardware(judgements: Sequence[Judgement]) -> dict[str, int]:
    """What an H200 shows of the mutants that were run on one: a wrong value, or an error, in any run."""
    faulty = [one for one in judgements if one.faulty and one.shown is not None]
    equivalent = [one for one in judgements if not one.faulty and one.shown is not None]
    return {
        "faulty": len(faulty),
        "faulty_shown": sum(bool(one.shown) for one in faulty),
        "faulty_found": sum(one.found for one in faulty),
        "equivalent": len(equivalent),
        "equivalent_shown": sum(bool(one.shown) for one in equivalent),
    }


def page(judgements: Sequence[Judgement], mendings: Sequence[Mending]) -> str:
    figures = totals(judgements)
    lines = [
        "# Diagnosis matrix",
        "",
        "Correct kernels in ten styles, each changed in one place by the operators of `tests/mutation/`, "
        "graded, and set against what is true of them. The true names and lines are written down in the "
        "operators; whether a mutant is faulty is decided by a reference checker of plain Python, by numba's "
        "simulator and by an H200, not by the grader. `make matrix` writes this page.",
        "",
        *_table(("what", "count", "share of the faulty"), _totals_rows(figures)),
        "",
        "## Two mistakes at once",
        "",
        "Pairs of faults in one kernel: whether the first diagnosis is true of one of them, and whether, "
        "once that is mended, the other is named too, so that mending one after the other ends in PASS.",
        "",
        *_table(("what", "count"), list(pair_totals(mendings).items())),
        "",
        *_pair_misses(mendings),
        "",
        "## Beside the hardware",
        "",
        *_beside_hardware(judgements),
        "",
        "## By style",
        "",
        *_table(("style", "mutants", "faulty", "found", "named", "line right"), _rows(judgements, "style")),
        "",
        "## By operator",
        "",
        *_table(
            ("operator", "mutants", "faulty", "found", "named", "line right"), _rows(judgements, "operator")
        ),
        "",
        "## True name by given name",
        "",
        "A mutant that makes several faults counts at its given name where that is one of them, "
        "else at the first of its true names.",
        "",
        *_confusion([one for one in judgements if one.faulty]),
        "",
        "## Misnamed or misplaced",
        "",
        *_misses(judgements),
        "",
        "## Equivalent mutants",
        "",
        *_equivalents(judgements),
    ]
    return "\n".join(lines) + "\n"


def _beside_hardware(judgements: Sequence[Judgement]) -> list[str]:
    about = json.loads(HARDWARE.read_text(encoding="utf-8"))["about"]
    figures = hardware(judgements)
    groups: dict[str, list[Judgement]] = {}
    for one in judgements:
        groups.setdefault(one.mutant.operator, []).append(one)
    counted = [(name, hardware(group)) for name, group in groups.items()]
    rows = [(name, one["faulty"], one["faulty_found"], one["faulty_shown"]) for name, one in counted]
    total = ("all", figures["faulty"], figures["faulty_found"], figures["faulty_shown"])
    device, none = about["device"].removeprefix("NVIDIA "), figures["equivalent_shown"] or "none"
    return [
        f"The same mutants on an {device} (driver {about['driver']}, numba-cuda {about['numba-cuda']}, "
        f"{about['date']}), {about['runs']}: shown is what gave a wrong value, or an error, in any of the "
        f"runs. Of the {figures['equivalent']} equivalent ones {none} did. The runs are in "
        "[results/mutants_h200.json](results/mutants_h200.json).",
        "",
        *_table(("operator", "faulty", "found by the grader", "shown by the H200"), [*rows, total]),
    ]


def _totals_rows(figures: dict[str, int]) -> list[tuple[object, ...]]:
    faulty = figures["faulty"] or 1
    shares = {name: f"{100 * figures[name] / faulty:.1f} %" for name in ("found", "named", "line_right")}
    return [(name.replace("_", " "), count, shares.get(name, "")) for name, count in figures.items()]


def _rows(judgements: Sequence[Judgement], by: str) -> list[tuple[object, ...]]:
    groups: dict[str, list[Judgement]] = {}
    for one in judgements:
        groups.setdefault(getattr(one.mutant, by), []).append(one)
    names = ("mutants", "faulty", "found", "named", "line_right")
    return [(name, *(totals(group)[key] for key in names)) for name, group in groups.items()]


def _confusion(faulty: Sequence[Judgement]) -> list[str]:
    pairs: Counter[tuple[str, str]] = Counter()
    for one in faulty:
        given = one.grading.name or one.grading.outcome
        true = given if one.named else next(iter(one.mutant.labels), "(none)")
        pairs[true, given] += 1
    rows = [(true, given, count) for (true, given), count in sorted(pairs.items())]
    return _table(("true name", "given name", "mutants"), rows)


def _pair_misses(mendings: Sequence[Mending]) -> list[str]:
    rows = []
    for one in mendings:
        if not one.reaches_pass:
            last = one.second if one.first_true and one.second is not None else one.first
            rows.append((one.pair.both.style, one.pair.both.what, f"{last.name} {last.line}"))
    return _table(("style", "pair", "what stands first, or after the first repair"), rows)


def _misses(judgements: Sequence[Judgement]) -> list[str]:
    rows = [
        (
            one.mutant.key,
            _true(one),
            f"{one.grading.name or one.grading.outcome} {one.grading.line or ''}".strip(),
        )
        for one in judgements
        if one.false_alarm or (one.faulty and not one.line_right)
    ]
    return _table(("mutant", "true", "given"), rows) if rows else ["None."]


def _true(one: Judgement) -> str:
    if not one.faulty:
        return "equivalent"
    return (
        ", ".join(f"{name} {'/'.join(map(str, sorted(at)))}" for name, at in one.mutant.labels.items())
        or "(none)"
    )


def _equivalents(judgements: Sequence[Judgement]) -> list[str]:
    rows = [(one.mutant.key, reason(one.mutant)) for one in judgements if not one.faulty]
    return _table(("mutant", "why nothing tells it from a correct kernel"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> list[str]:
    body = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (list(head), ["---"] * len(head), *body)]


def _seconds() -> float:
    """CPU seconds of this process and of the workers that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def main(processes: int) -> None:
    mutants, answers = corpus(), recorded()
    missing = [one.key for one in mutants if one.key not in answers]
    if missing:
        sys.exit(f"{len(missing)} mutants are not judged yet; run: python -m tests.mutation.oracles")
    started = perf_counter()
    gradings = list(grade_all([*mutants, *(pair.both for pair in pairs())], processes))
    judgements = judged(mutants, gradings[: len(mutants)], answers)
    mendings = mended(gradings[len(mutants) :], processes)
    figures = totals(judgements)
    sample = {
        one.mutant.key: [one.grading.outcome, one.grading.name, one.grading.line]
        for one in judgements[::SAMPLE]
    }
    table = {**figures, **pair_totals(mendings), "h200": hardware(judgements), "sample": sample}
    JSON.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(judgements, mendings), encoding="utf-8")
    count = len(gradings) + sum(one.second is not None for one in mendings)
    sys.stdout.write(f"{figures}\n{pair_totals(mendings)}\n")
    sys.stdout.write(f"{count} gradings in {perf_counter() - started:.0f} s, {_seconds():.0f} s of CPU\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1)
