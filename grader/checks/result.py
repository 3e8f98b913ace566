"""The result check: which elements of an output are wrong.

The exact pass compares with ``==``. The approximate pass allows

    |got - reference| <= c * sqrt(n + 1) * eps * magnitude,    c = 4

where the reference is computed in float64, ``magnitude`` is |A| @ |B| for A @ B, n the number of terms
summed (K), and eps the spacing of the least precise float type among the arrays (2**-23 for float32).

Why c = 4. One rounding errs by at most u = eps / 2 relative to the partial sum, and no partial sum
exceeds the magnitude S; the n additions and the rounded products of one sum together have
variance proxy at most (n + 1) * (u * S)**2. By the Azuma-Hoeffding inequality an error beyond
lambda * sqrt(n + 1) * u * S has probability below 2 * exp(-lambda**2 / 2). With lambda = 8, that is
c = 4, this is 2.5e-14 for an element; the order of summation does not matter. At K = 100 the
bound is 5e-6 of the magnitude, far below what any missing, doubled or misplaced product makes, and
below the 5e-4 of half precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.checks.inputs import Arguments
from grader.rubric.model import KernelSpec
from grader.rubric.reference import Estimate

__all__ = ["HEADROOM", "tolerance", "wrong_elements"]

Array = npt.NDArray[Any]
HEADROOM = 4.0


def tolerance(estimate: Estimate, eps: float) -> Array:
    """The absolute error allowed for each element."""
    bound: Array = HEADROOM * np.sqrt(estimate.terms + 1.0) * eps * estimate.magnitude
    return bound


def wrong_elements(
    kernel: KernelSpec, arguments: Arguments, got: Mapping[str, Any]
) -> dict[str, npt.NDArray[np.bool_]]:
    """For each output, where ``got`` (the arguments after the launch) differs from what is expected."""
    eps = _coarsest_eps(kernel)
    wrong: dict[str, npt.NDArray[np.bool_]] = {}
    for name, estimate in arguments.expected.items():
        value = np.asarray(got[name], dtype=np.float64)
        if arguments.exact or np.dtype(kernel.args[name].dtype).kind != "f":
            wrong[name] = ~(value == estimate.value)
        else:
            # NaN compares false, so it is wrong without a case of its own.
            wrong[name] = ~(np.abs(value - estimate.value) <= tolerance(estimate, eps))
    return wrong


def _coarsest_eps(kernel: KernelSpec) -> float:
    dtypes = [np.dtype(arg.dtype) for arg in kernel.args.values() if arg.role == "array"]
    return max((float(np.finfo(dtype).eps) for dtype in dtypes if dtype.kind == "f"), default=0.0)
