"""Wall time of ``grader check`` for the kernel exercises, beside a Python that only imports NumPy."""

from __future__ import annotations

import statistics

from measure import ROOT, Figure, Result, Skipped, command_seconds, python

EXERCISES = ("01_tiled_matmul", "02_ragged_dims")
TARGET_SECONDS = 1.0


def run(small: bool) -> Result:
    repetitions = 1 if small else 5
    commands = {name: check(name) for name in EXERCISES}
    bare = python("-c", "import numpy")
    for words in (bare, *commands.values()):
        command_seconds(words)
    # Taken in turns, so that a slow moment of the machine falls on all of them.
    rounds = [
        {"bare": command_seconds(bare)} | {name: command_seconds(words) for name, words in commands.items()}
        for _ in range(repetitions)
    ]
    medians = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    figures = [Figure("python -c 'import numpy'", medians["bare"], "s")]
    for name in EXERCISES:
        met = None if small else medians[name] <= TARGET_SECONDS
        figures.append(Figure(f"grader check {name}", medians[name], "s", f"at most {TARGET_SECONDS}", met))
        figures.append(Figure("  of the bare import", medians[name] / medians["bare"], "times"))
    return Result(f"grade latency, whole hidden suite, median of {repetitions}", figures)


def check(name: str) -> list[str]:
    solution = ROOT / "solutions" / f"{name}.py"
    if not solution.is_file():
        raise Skipped(f"{solution.relative_to(ROOT)} is not there")
    return python("-m", "grader", "check", name, "--file", str(solution))
