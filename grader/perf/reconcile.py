"""Predicted against measured: how near a kernel comes to its limit, and what kind of gap is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from grader.perf.gemm import LimitName, Prediction

Gap = Literal["faster-than-model", "at-limit", "below-limit", "far-below-limit"]

# The model's own promise: within 30 % is agreement.
_AGREEMENT = 0.3
_FAR = 0.3


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """A measured time beside its prediction.

    ``achieved`` is predicted over measured time: 1 is the model's speed, above 1 faster than it.
    ``shares`` gives, for each limit, the part of the measured time that the limit alone would take.
    """

    prediction: Prediction
    measured_seconds: float
    achieved: float
    flops_per_second: float
    shares: tuple[tuple[LimitName, float], ...]
    gap: Gap


def reconcile(prediction: Prediction, measured_seconds: float) -> Reconciliation:
    """Compare a measured time (seconds, above zero) with a prediction.

    Raises ValueError for a time that is none, or a kernel that the model says cannot run.
    """
    if not 0 < measured_seconds < float("inf"):
        raise ValueError(f"a measured time must be above zero and finite, not {measured_seconds!r} s")
    if prediction.seconds is None:
        raise ValueError(f"the kernel cannot run on {prediction.device.name}, so there is nothing to compare")
    achieved = prediction.seconds / measured_seconds
    return Reconciliation(
        prediction=prediction,
        measured_seconds=measured_seconds,
        achieved=achieved,
        flops_per_second=prediction.flops / measured_seconds,
        shares=tuple((limit.name, limit.seconds / measured_seconds) for limit in prediction.limits),
        gap=_gap(achieved),
    )


def _gap(achieved: float) -> Gap:
    if achieved > 1 + _AGREEMENT:
        return "faster-than-model"
    if achieved >= 1 - _AGREEMENT:
        return "at-limit"
    return "below-limit" if achieved >= _FAR else "far-below-limit"
