"""Findings about wrong outputs: the hypotheses that cover the failing shapes, with their place and figures.

The slot is the lowest wrong element. Facts: ``rule`` (the kebab code within the name, see ``hypotheses``),
``array``, ``got`` and ``expected`` (values of that element), ``block`` ((x, y) of the block that owns it,
where blocks tile the output), ``cut`` (the rule again, for dropped-k-tail), ``relative_error``
and ``tolerance`` (approximate pass; the rule is ``at-zeros`` where the zeros of the inputs make it wrong,
with a test of loaded values as its place), and, where the products could be counted, ``missing`` and
``repeated`` as ((first k, last k), ...), with ``often``, the different numbers of times that repeated ones
are added; ``misplaced`` is true where every product is added once, but some
from a wrong row or column, as other inputs show. Counts: ``wrong``, ``elements``, ``shapes``; ``unwritten``
for unwritten-output; for k-ranges ``first``, ``last``, ``size`` (K) and ``times``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.checks.hypotheses import Guess, Product, matching
from grader.checks.k_range import K_RANGE, counted
from grader.checks.launching import Launcher, Pass, Trial
from grader.checks.names import own_name, position_of
from grader.checks.result import tolerance
from grader.checks.result_places import result_place
from grader.checks.zeros import at_zeros, hangs_on_zeros
from grader.records import Fact, Finding, Slot
from grader.rubric.reference import matrix_product

__all__ = ["result_findings"]

Mask = npt.NDArray[np.bool_]

#: Names that may hold on some of the failing shapes only; wrong-result takes the rest.
_PARTIAL = frozenset({("unwritten-output", "some"), ("unwritten-output", "all"), ("wrong-result", "")})
#: So many depths K are looked at for one whose products say more.
MOST_DEPTHS = 4


def result_findings(
    launcher: Launcher, failing: Sequence[Trial], only: frozenset[str] | None = None
) -> list[tuple[Trial, Finding]]:
    """One finding for each hypothesis that is needed to cover the failing trials, with its exemplar.

    The exemplar is the first of the covered trials in the given order. ``counts["shapes"]`` tells how
    many trials the hypothesis covers. ``only`` restricts the names that are reported.
    """
    left = {
        index: _guesses(launcher, trial)
        for index, trial in enumerate(failing)
        if trial.failed_pass is not None
    }
    found: list[tuple[Trial, Finding]] = []
    while left:
        # Guesses come most telling first, so ties go to the more telling one.
        tally: dict[tuple[str, str], tuple[int, int]] = {}
        for guesses in left.values():
            for place, guess in enumerate(guesses):
                count, best = tally.get(guess.key, (0, place))
                tally[guess.key] = (count + 1, min(best, place))
        # A rule that leaves failing shapes unexplained holds by chance on the others: K = 1, say.
        whole = {key: rank for key, rank in tally.items() if rank[0] == len(left) or key in _PARTIAL}
        key = min(whole, key=lambda key: whole[key][1])
        covered = [index for index, guesses in left.items() if any(guess.key == key for guess in guesses)]
        guess = next(guess for guess in left[covered[0]] if guess.key == key)
        if only is None or guess.name in only:
            found.append(_most_telling(launcher, [failing[index] for index in covered], guess))
        if guess.name == "unwritten-output":
            # What the other shapes show may well follow from it; the next grading tells.
            break
        left = {index: guesses for index, guesses in left.items() if index not in covered}
    return found


def _names(launcher: Launcher) -> tuple[str, str, str] | None:
    """Left input, right input and output, where the exercise is a plain matrix product."""
    outputs = launcher.kernel.outputs
    operands = matrix_product(launcher.kernel.references[outputs[0]]) if len(outputs) == 1 else None
    return None if operands is None else (*operands, outputs[0])


def _guesses(launcher: Launcher, trial: Trial) -> tuple[Guess, ...]:
    one, names = trial.failed_pass, _names(launcher)
    assert one is not None
    if names is None or trial.config is None:
        return _plain_guesses(launcher, one)
    left, right, out = (np.asarray(one.arguments.values[name], np.float64) for name in names)
    written = one.run.written.get(position_of(launcher, names[2]), np.zeros(out.shape, bool))
    product = Product(
        left=left,
        right=right,
        out=np.asarray(one.after[names[2]], np.float64),
        old=out,
        written=written,
        tile=launcher.constants.get("TILE", max(trial.config.block)),
        grid=trial.config.grid,
        block=trial.config.block,
        exact=one.arguments.exact,
    )
    return matching(product)


def _plain_guesses(launcher: Launcher, one: Pass) -> tuple[Guess, ...]:
    """For a reference that is no plain matrix product."""
    guesses: list[Guess] = []
    for name, estimate in one.arguments.expected.items():
        written = one.run.written.get(position_of(launcher, name))
        if written is None or not written.all():
            guesses.append(
                Guess("unwritten-output", "some" if written is not None and written.any() else "all")
            )
        old, got = one.arguments.values[name], np.asarray(one.after[name], np.float64)
        if one.arguments.exact and np.array_equal(got, old + estimate.value):
            guesses.append(Guess("accumulated-into-output", "added"))
    return (*guesses, Guess("wrong-result", ""))


def _most_telling(launcher: Launcher, covered: Sequence[Trial], guess: Guess) -> tuple[Trial, Finding]:
    """The first covered trial with its finding, or a later one where the first says little.

    Where K is small, a sum cut short may lack every product; a deeper sum shows which of them are lacking.
    """
    first = covered[0], _finding(launcher, covered[0], guess, len(covered))
    if guess.key != ("wrong-result", "") or not _lacks_all(first[1]):
        return first
    depths: set[int] = set()
    for trial in covered:
        depth = trial.shape.dims.get("K", 0)
        if depth in depths or len(depths) == MOST_DEPTHS:
            continue
        depths.add(depth)
        finding = _finding(launcher, trial, guess, len(covered))
        if finding.name in K_RANGE:
            return trial, finding
    return first


def _lacks_all(finding: Finding) -> bool:
    missing, size = finding.facts.get("missing"), finding.counts.get("size")
    return isinstance(missing, tuple) and size is not None and missing == ((0, size - 1),)


def _finding(launcher: Launcher, trial: Trial, guess: Guess, shapes: int) -> Finding:
    one = trial.failed_pass
    assert one is not None
    array = next(name for name, mask in one.wrong.items() if mask.any() or len(one.wrong) == 1)
    mask = _shown(launcher, one, guess, array)
    index = tuple(int(axis[0]) for axis in np.nonzero(mask)) if mask.any() else (0,) * mask.ndim
    counts = {"wrong": trial.wrong, "elements": trial.elements, "shapes": shapes}
    if guess.name == "unwritten-output":
        counts["unwritten"] = int(mask.sum())
    facts = _facts(launcher, trial, one, guess, array, index)
    name, products = counted(launcher, trial, _names(launcher), guess, index)
    facts |= products.facts
    if products.k_range is not None:
        counts |= dict(
            zip(("first", "last"), products.k_range, strict=True), size=products.depth, times=products.times
        )
    slot = Slot(own_name(launcher, array), "global", index)
    place, more = result_place(launcher, trial, name, (array, index), products.facts)
    facts, store = facts | more, None
    if guess.key == ("wrong-result", "") and hangs_on_zeros(launcher, trial, one):
        more, test = at_zeros(launcher)
        facts |= more
        place, store = (test, place) if test is not None else (place, None)
    return Finding(name, "error", place, store, slot=slot, counts=counts, facts=facts)


def _facts(
    launcher: Launcher, trial: Trial, one: Pass, guess: Guess, array: str, index: tuple[int, ...]
) -> dict[str, Fact]:
    got, wanted = one.after[array], one.arguments.expected[array]
    facts: dict[str, Fact] = {"rule": guess.rule, "array": own_name(launcher, array)}
    facts["got"], facts["expected"] = _number(got[index]), _number(wanted.value[index])
    if guess.name == "dropped-k-tail":
        facts["cut"] = guess.rule
    if not one.arguments.exact and np.isfinite(got).all():
        # An element of which every product is zero has no relative error.
        some = wanted.magnitude > 0
        scale = wanted.magnitude[some]
        allowed = tolerance(wanted, float(np.finfo(np.float32).eps))
        facts["relative_error"] = float(np.max(np.abs(got - wanted.value)[some] / scale, initial=0.0))
        facts["tolerance"] = float(np.max(allowed[some] / scale, initial=0.0))
    return facts | _block(trial, index, got.shape)


def _shown(launcher: Launcher, one: Pass, guess: Guess, array: str) -> Any:
    if guess.name != "unwritten-output":
        return one.wrong[array]
    written = one.run.written.get(position_of(launcher, array))
    return ~written if written is not None else np.ones_like(one.wrong[array])


def _block(trial: Trial, index: tuple[int, ...], shape: tuple[int, ...]) -> dict[str, Fact]:
    config = trial.config
    if config is None or len(index) != 2 or len(config.block) < 2 or len(config.grid) < 2:
        return {}
    covers = all(
        (blocks - 1) * threads < size <= blocks * threads
        for blocks, threads, size in zip(config.grid, config.block, (shape[1], shape[0]), strict=False)
    )
    return {"block": (index[1] // config.block[0], index[0] // config.block[1])} if covers else {}


def _number(value: Any) -> Fact:
    number = float(value)
    return int(number) if number.is_integer() else number
