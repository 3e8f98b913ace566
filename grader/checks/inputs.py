"""Arguments for one launch: drawn inputs, poisoned outputs, and what the kernel must make of them.

Two kinds of numbers are drawn. *Exact*: integers 1 to 8, with one sign for each column of every
matrix but the first, so that all products of one sum have the same sign: a product that is lost or
added twice always shows, and every float32 sum is exact. *Approximate*: floats in (-1, 1), with one sign
for each row of the first matrix and each column of the others, so that a kernel that treats negative
values otherwise shows it, and no sum cancels its own errors; but in every sixteenth row the signs are
mixed, for kernels that look at a sum's sign. A sixteenth of them, one row of the first matrix and one
column of the others are zero, for kernels that take a zero for the end of something or for nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.rubric.expressions import evaluate
from grader.rubric.model import ArgSpec, KernelSpec
from grader.rubric.reference import Estimate, evaluate_reference

__all__ = ["Arguments", "draw_arguments", "drawn_arguments", "is_exact", "old_values", "without_zeros"]

Array = npt.NDArray[Any]
SEED = b"tilegrade inputs 1"
LARGEST = 8
#: The first of the rows in which signs are mixed, and one less than their distance.
MIXED_ROW = 15
#: One in so many floats is zero, and so is this row of the first matrix, this column of the others.
ZERO_SHARE = 16
ZERO_LINE = 7


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one launch in the kernel's order, before it, and the expected outputs.

    ``values`` must not be written to: ``fresh`` gives a copy for each launch.
    """

    values: Mapping[str, Any]
    expected: Mapping[str, Estimate]
    exact: bool

    def fresh(self) -> dict[str, Any]:
        """A copy to launch with."""
        return {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in self.values.items()
        }


#: Arguments that are kept: a suite's shapes come again with every submission of the class.
MAX_KEPT = 256
_kept: OrderedDict[Any, tuple[KernelSpec, Arguments]] = OrderedDict()


def drawn_arguments(
    kernel: KernelSpec, sizes: Mapping[str, int], label: str, *, exact: bool, key: bytes = b""
) -> Arguments:
    """What :func:`draw_arguments` gives, drawn once and kept; its arrays cannot be written to."""
    name = (id(kernel), label, exact, key, tuple(sorted(sizes.items())))
    found = _kept.get(name)
    if found is not None and found[0] is kernel:
        _kept.move_to_end(name)
        return found[1]
    arguments = draw_arguments(kernel, sizes, label, exact=exact, key=key)
    for value in arguments.values.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    _kept[name] = kernel, arguments
    if len(_kept) > MAX_KEPT:
        _kept.popitem(last=False)
    return arguments


def draw_arguments(
    kernel: KernelSpec, sizes: Mapping[str, int], label: str, *, exact: bool, key: bytes = b""
) -> Arguments:
    """Arguments for a launch shape. ``sizes`` holds its dimensions and the submission's constants.

    The same label and key give the same numbers on every machine.
    """
    digest = hmac.new(SEED + key, f"{label}/{exact}".encode(), hashlib.sha256).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:16], "big"))
    values: dict[str, Any] = {}
    first = True
    for name, arg in kernel.args.items():
        if arg.role != "array":
            number = evaluate(arg.value or name, sizes)
            values[name] = int(number) if arg.role == "int" else float(number)
            continue
        shape = tuple(int(evaluate(size, sizes)) for size in arg.shape)
        if arg.out:
            values[name] = old_values(shape, arg.dtype) if exact else _poison(shape, arg.dtype)
        else:
            values[name] = (
                _whole_numbers(rng, shape, arg, signed=not first)
                if exact
                else _floats(rng, shape, arg, by_row=first)
            )
            first = False
    return Arguments(values, _expected(kernel, values), exact)


def without_zeros(kernel: KernelSpec, arguments: Arguments) -> Arguments:
    """The same arguments with another number for each zero of the inputs, and what they give."""
    values = {
        name: np.where(value == 0, value.dtype.type(1), value)
        if isinstance(value, np.ndarray) and not kernel.args[name].out
        else value
        for name, value in arguments.values.items()
    }
    return Arguments(values, _expected(kernel, values), arguments.exact)


def _expected(kernel: KernelSpec, values: Mapping[str, Any]) -> dict[str, Estimate]:
    inputs = {name: value for name, value in values.items() if not kernel.args[name].out}
    expected: dict[str, Estimate] = {}
    for output, text in kernel.references.items():
        estimate, shape = evaluate_reference(text, inputs), values[output].shape
        expected[output] = Estimate(
            np.broadcast_to(estimate.value, shape), np.broadcast_to(estimate.magnitude, shape), estimate.terms
        )
    return expected


def is_exact(kernel: KernelSpec, arguments: Arguments) -> bool:
    """Whether every float sum of the exact pass can be represented, so that ``==`` is the right test."""
    for name, estimate in arguments.expected.items():
        dtype = np.dtype(kernel.args[name].dtype)
        if not np.array_equal(estimate.value, np.rint(estimate.value)):
            return False
        # The old output is added in when the kernel accumulates into it: leave it room.
        largest = 2.0 ** (np.finfo(dtype).nmant - 1) if dtype.kind == "f" else np.inf
        if estimate.magnitude.size and estimate.magnitude.max() >= largest:
            return False
    return True


def old_values(shape: tuple[int, ...], dtype: str) -> Array:
    """The recognisable pattern that outputs hold before the exact pass; no whole-number result equals it."""
    index = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64).reshape(shape)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        base = 70_000 if kind.itemsize > 2 else 700
        return (-(base + index * 17 % 997) - 0.5).astype(kind)
    return (np.iinfo(kind).max - 7 - index % 89).astype(kind)


def _poison(shape: tuple[int, ...], dtype: str) -> Array:
    kind = np.dtype(dtype)
    return np.full(shape, np.nan, kind) if kind.kind == "f" else old_values(shape, dtype)


def _whole_numbers(rng: np.random.Generator, shape: tuple[int, ...], arg: ArgSpec, *, signed: bool) -> Array:
    numbers = rng.integers(1, LARGEST, size=shape, endpoint=True)
    kind = np.dtype(arg.dtype)
    if signed and len(shape) >= 2 and kind.kind != "u":
        numbers = numbers * rng.choice((-1, 1), size=shape[-1])
    return numbers.astype(kind)


def _floats(rng: np.random.Generator, shape: tuple[int, ...], arg: ArgSpec, *, by_row: bool) -> Array:
    kind = np.dtype(arg.dtype)
    if kind.kind != "f":
        return rng.integers(0, LARGEST, size=shape, endpoint=True).astype(kind)
    numbers = rng.random(shape, dtype=np.float32)
    if not shape:
        return numbers.astype(kind)
    signs = np.ones(shape, np.float32)
    if by_row:
        signs *= rng.choice((-1, 1), size=(shape[0],) + (1,) * (len(shape) - 1))
        signs[MIXED_ROW :: MIXED_ROW + 1] = rng.choice((-1, 1), size=signs[MIXED_ROW :: MIXED_ROW + 1].shape)
    else:
        signs *= rng.choice((-1, 1), size=shape[-1])
    numbers[rng.integers(0, ZERO_SHARE, size=shape) == 0] = 0.0
    if by_row:
        numbers[ZERO_LINE : ZERO_LINE + 1] = 0.0
    elif len(shape) > 1:
        numbers[..., ZERO_LINE : ZERO_LINE + 1] = 0.0
    return (numbers * signs).astype(kind)
