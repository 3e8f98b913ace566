"""Moving values between flat memory and threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine
from grader.simt.machine import Machine
from grader.simt.memory import Address, code_of, inside, window
from grader.simt.values import cast_scalar

Bools = npt.NDArray[np.bool_]
POISON = {"f": np.nan, "d": np.nan, "e": np.nan, "F": np.nan, "D": np.nan, "?": True}


def poison(dtype: np.dtype[Any]) -> Any:
    """What a word holds that nobody wrote."""
    return dtype.type(POISON.get(code_of(dtype), 0x5A))


def gather(data: npt.NDArray[Any], address: Address, valid: Bools | None, code: str) -> Any:
    """The element of each thread; 0 for a thread whose address does not exist."""
    if isinstance(address, Affine):
        if valid is None:
            if inside(address, data.size):
                return window(data, address)
            # The threads that take part stay inside; what the others get is of no account.
            return data.take(address.array(), mode="clip")
        address = address.array()
    if isinstance(address, int):
        if valid is not None or not data.size:
            return cast_scalar(0, code) if code else np.uint8(0)
        return scalar(data[address], code)
    if valid is None:
        return data.take(address)
    if not data.size:
        return np.zeros(np.shape(address), data.dtype)
    return np.where(valid, data.take(np.where(valid, address, 0)), data.dtype.type(0))


def scalar(value: Any, code: str) -> Any:
    """A NumPy element as a uniform value: Python's int, float and bool where they are as wide."""
    if code == "q":
        return int(value)
    if code == "d":
        return float(value)
    if code == "?":
        return bool(value)
    return int(value) if code and code in "bhiBHIQ" else value


def put(mc: Machine, data: Any, address: Address, where: Bools | None, value: Any) -> None:
    """Write ``value`` at ``address`` for the threads of ``where``; of several on one word, one wins."""
    if where is not None and not np.count_nonzero(where):
        return
    if isinstance(address, int):
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.reshape(())[()]
        elif isinstance(value, np.ndarray):
            full = np.broadcast_to(value, mc.chunk.shape)
            value = full.ravel()[-1] if where is None else full[np.broadcast_to(where, full.shape)][-1]
        data[address] = value
        return
    value = np.asarray(value)
    if isinstance(address, Affine) and inside(address, data.size):
        extents = zip(address.coefs, mc.chunk.shape, strict=True)
        shape = tuple([extent if coef else 1 for coef, extent in extents])
        wide = shape
        if shape != mc.chunk.shape:
            wide = np.broadcast_shapes(shape, value.shape, () if where is None else where.shape)
        np.copyto(
            window(data, address, wide), value, where=True if where is None else where, casting="unsafe"
        )
        return
    spread: Any = address.array() if isinstance(address, Affine) else address
    parts = [spread, value] if where is None else [spread, value, where]
    shape = np.broadcast_shapes(*(np.shape(part) for part in parts))
    spread, value = np.broadcast_to(spread, shape), np.broadcast_to(value, shape)
    if where is not None:
        chosen = np.broadcast_to(where, shape)
        spread, value = spread[chosen], value[chosen]
    data[spread] = value
