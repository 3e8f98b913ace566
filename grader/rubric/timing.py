"""What a rubric has timed on a GPU: which launch shapes, and which arguments are the product's.

Only a plain product of two matrices is timed: its flops are 2 M N K, its floor and its exact check
rest on that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.rubric.expressions import evaluate
from grader.rubric.model import KernelSpec, Rubric
from grader.rubric.reference import matrix_product
from grader.rubric.suites import Shape

__all__ = ["LARGEST", "Operands", "operands_of", "product_sizes", "timed_shapes"]

#: Sizes where the rubric names none: a power of two that fills any GPU, and one that no tile divides.
DEFAULT_SIZES = (4096, 1000)
LARGEST = 16384
_DTYPES = ("float32", "float64")


@dataclass(frozen=True, slots=True)
class Operands:
    """Names of the arguments of ``out = left @ right``, and their one dtype."""

    left: str
    right: str
    out: str
    dtype: str


def operands_of(kernel: KernelSpec) -> Operands:
    """The product that a kernel computes. Raises ``ValueError`` with one clause where it is none."""
    arrays = [name for name, arg in kernel.args.items() if arg.role == "array"]
    product = matrix_product(next(iter(kernel.references.values()))) if len(kernel.outputs) == 1 else None
    if product is None:
        raise ValueError("only a kernel whose reference is one product, such as 'A @ B', is timed")
    operands = Operands(*product, kernel.outputs[0], kernel.args[kernel.outputs[0]].dtype)
    names = (operands.left, operands.right, operands.out)
    if sorted(names) != sorted(arrays):
        raise ValueError(f"a timed kernel has the arrays {', '.join(names)} and no other")
    if {kernel.args[name].dtype for name in names} - {operands.dtype} or operands.dtype not in _DTYPES:
        raise ValueError(f"a timed kernel's arrays are all {' or all '.join(_DTYPES)}")
    left, right, out = (kernel.args[name].shape for name in names)
    if not (len(left) == len(right) == 2 and left[1] == right[0] and out == (left[0], right[1])):
        raise ValueError("a timed kernel's arrays have the shapes [M, K], [K, N] and [M, N]")
    return operands


def product_sizes(kernel: KernelSpec, sizes: Mapping[str, int]) -> tuple[int, int, int]:
    """M, N and K of the product. ``sizes`` holds the dimensions and the submission's constants."""
    operands = operands_of(kernel)
    M, K = (int(evaluate(size, sizes)) for size in kernel.args[operands.left].shape)
    return M, int(evaluate(kernel.args[operands.right].shape[1], sizes)), K


def timed_shapes(rubric: Rubric, constants: Mapping[str, int]) -> tuple[Shape, ...]:
    """The launch shapes to time, of the family ``timed``; none where the rubric does not ask for it.

    Raises ``ExpressionError`` or ``ValueError`` for a size that is no whole number from 1 to ``LARGEST``.
    """
    if rubric.timing is None or rubric.kernel is None:
        return ()
    dims = rubric.kernel.dims
    asked = rubric.timing.sizes or tuple((size,) * len(dims) for size in DEFAULT_SIZES)
    shapes = []
    for sizes in asked:
        found: dict[str, int] = {}
        for name, size in zip(dims, sizes, strict=True):
            value = evaluate(str(size), constants)
            if value != int(value) or not 1 <= value <= LARGEST:
                raise ValueError(f"{name} = {size} is no whole number from 1 to {LARGEST}")
            found[name] = int(value)
        shapes.append(Shape("timed", found, shown=True))
    return tuple(shapes)
