"""Measure what diagnosing a failing kernel costs beside judging it, over a part of the mutants.

    python -m tools.diagnosis_cost [EVERY]

For every EVERY-th mutant (9 unless told) that fails: the CPU time of grading it, less that of launching its
suite alone, in a warm process. Reading, findings, repairs tried and messages are all in the difference.
"""

from __future__ import annotations

import statistics
import sys
from time import process_time

from grader.checks.launching import Launcher
from grader.checks.structure import constants_of
from grader.rubric.load import load
from grader.rubric.suites import shapes_of
from grader.simt import parse
from tests.mutation.corpus import corpus
from tests.mutation.judging import report_on
from tests.mutation.mutant import Mutant
from tests.mutation.styles import style

EVERY = 9


def suite_seconds(mutant: Mutant) -> float:
    """CPU seconds of the launches alone, the text parsed and compiled anew."""
    rubric = load(style(mutant.style).rubric)
    assert rubric.kernel is not None
    started = process_time()
    # A blank line at the end makes it another text, so that nothing is kept from the grading.
    program = parse(mutant.source + "\n")
    constants, _ = constants_of(program, rubric.kernel.constants)
    launcher = Launcher(program, rubric.kernel, rubric.exercise, constants)
    launcher.suite(shapes_of(rubric, constants))
    return process_time() - started


def costs(mutants: tuple[Mutant, ...]) -> list[tuple[float, str]]:
    """(extra CPU seconds, key) of each mutant that fails, the cheapest first."""
    found = []
    for mutant in mutants:
        started = process_time()
        report = report_on(mutant)
        whole = process_time() - started
        if report.outcome.value == "FAIL":
            found.append((whole - suite_seconds(mutant), mutant.key))
    return sorted(found)


def main(every: int) -> None:
    costs(corpus()[:1])
    found = costs(corpus()[::every])
    seconds = [cost for cost, _ in found]
    sys.stdout.write(
        f"{len(found)} failing mutants: diagnosing costs {statistics.median(seconds):.3f} s of CPU in the "
        f"median, {seconds[int(0.9 * len(seconds))]:.3f} s in nine of ten, {seconds[-1]:.3f} s at most\n"
    )
    for cost, key in found[-3:]:
        sys.stdout.write(f"  {cost:.3f} s  {key}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EVERY)
