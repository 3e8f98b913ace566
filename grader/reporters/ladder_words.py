"""The ladder's numbers and remarks, as its tables show them."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from grader.perf.rungs import RUNGS
from grader.reporters.model_words import with_prefix

if TYPE_CHECKING:
    from grader.perf.climb import Climb, Sizes
    from grader.perf.devices import Device

_MODEL = (
    "A model: FLOP per byte at HBM with the stores of C counted; nothing is found again in L2; the longest "
    "of the limits is the time."
)


def size_words(sizes: Sizes) -> str:
    """A product's sizes and its work: ``M, N, K = 4096, 4096, 4096: 137.4 GFLOP``."""
    M, N, K = sizes
    return f"M, N, K = {M}, {N}, {K}: {with_prefix(2 * M * N * K, 'FLOP')}"


def factor_words(value: float) -> str:
    """A speed-up: ``1.0``, ``9.7``, ``39.5``, ``163``."""
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def share_words(value: float) -> str:
    """A share of the library's speed: ``2.5%``, ``81%``."""
    return f"{value:.1%}" if value < 0.0995 else f"{value:.0%}"


def error_words(value: float) -> str:
    """A relative error: ``1.1e-06``."""
    return f"{value:.1e}"


def measured_notes(climb: Climb, device: Device | None) -> list[str]:
    """What the columns of a measured table mean, and with what it was made."""
    versions = ", ".join(f"{name} {version}" for name, version in climb.versions.items())
    notes = [
        "Tensor cores take BF16 and sum in FP32. Every timed result was compared with float64, for BF16 with "
        "the product of the rounded inputs. "
        "Times are medians by GPU events, the L2 cache flushed before each launch. Of cuBLAS: its time with "
        "the same arithmetic over this one. Registers, shared memory and occupancy are the driver's.",
    ]
    if device is None:
        notes.append("This GPU has no profile, so there is no prediction; grader model lists the profiles.")
    else:
        notes.append(f"{_MODEL} Model/time above 1 is faster than the model says of {device.title}.")
    notes += _left_out({row.rung for row in climb.rungs})
    return [*notes, f"Measured with {versions}."] if versions else notes


def _left_out(there: Container[str]) -> list[str]:
    """Which rungs a run does not have because few GPUs do."""
    lacking = [rung for rung in RUNGS if rung.only_on and rung.name not in there]
    return [f"Left out: {rung.title}, whose instructions {rung.only_on} alone has." for rung in lacking]


def predicted_notes(missing: str, there: Container[str]) -> list[str]:
    """What the columns of a predicted table mean, and where the registers come from.

    ``there`` names the rungs that it has.
    """
    taken = "Registers and shared memory are those that the compiler takes, asked without a GPU."
    if missing:
        taken = f"Registers (~) and shared memory are estimated; no compiler was asked: {missing}."
    return ["Tensor cores take BF16 and sum in FP32.", _MODEL, taken, *_left_out(there)]
