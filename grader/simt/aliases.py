"""Arrays of several element types over the same bytes, as all dynamic shared arrays of a kernel are.

What is logged and shadowed there is the unit: as many bytes as the smallest of the elements has. Each
element is a whole number of units, so that what two threads share is found to the byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from grader.simt import affine
from grader.simt.affine import Affine
from grader.simt.memory import Address, Buffer, View
from grader.simt.race import WRITE
from grader.simt.race_sweep import Sweep
from grader.simt.values import Value, strip


class Alias(Buffer):
    """The bytes of ``whole``, a buffer of units, as elements of one unit each."""

    __slots__ = ("whole",)

    def __init__(self, whole: Buffer, name: str, code: str) -> None:
        ratio = np.dtype(code).itemsize // whole.data.itemsize
        # A byte that is neither 0 nor 1 is no bool of NumPy's.
        data = whole.data.view("B" if code == "?" else code)
        self.whole = whole
        super().__init__(
            data,
            whole.space,
            name,
            whole.words // ratio,
            taint=whole.taint,
            dirty=whole.dirty,
            stamp=whole.stamp,
            shadowed=whole.shadowed,
            log=whole.log,
            pitch=whole.pitch // ratio,
        )

    @property
    def dirty(self) -> bool:
        """Whether some unit's taint may be other than 0."""
        return self.whole.dirty

    @dirty.setter
    def dirty(self, dirty: bool) -> None:
        self.whole.dirty = dirty

    @property
    def log(self) -> Any:
        """The units' log."""
        return self.whole.log

    @log.setter
    def log(self, log: Any) -> None:
        self.whole.log = log


class Pieces(Alias):
    """An alias whose elements are several units each, or bools. Its shadows are those of the units."""

    plain: ClassVar[bool] = False

    @property
    def ratio(self) -> int:
        """How many units an element is."""
        return self.data.itemsize // self.whole.data.itemsize

    def add(
        self,
        kind: int,
        site: Any,
        view: View,
        address: Address,
        dims: tuple[Any, ...],
        mask: Any,
        valid: Any,
        loops: Any,
        value: Any,
        bounded: bool = False,
    ) -> bool:
        """Log one access unit by unit; the result says that the log has grown long."""
        over, full = over_units(view), False
        values = _split(value, self) if kind == WRITE else [value] * self.ratio
        for there, part in zip(units(self, address), values, strict=True):
            full |= self.log.add(kind, site, over, there, dims, mask, valid, loops, part, bounded)
        return full


def alias(whole: Buffer, name: str, code: str) -> Alias:
    """The bytes of ``whole`` as elements of another type."""
    same = np.dtype(code).itemsize == whole.data.itemsize
    return (Alias if same and code != "?" else Pieces)(whole, name, code)


def adder(buffer: Buffer) -> Callable[..., bool]:
    """What logs an access to a buffer that is not plain."""
    assert isinstance(buffer, Pieces)
    return buffer.add


def units(buffer: Buffer, address: Any) -> list[Any]:
    """The addresses of an element's units; of a plain buffer's element, its own."""
    if not isinstance(buffer, Pieces):
        return [address]
    ratio = buffer.ratio
    first = affine.scale(address, ratio) if type(address) is Affine else address * ratio
    if isinstance(first, int | Affine):
        return [affine.add(first, piece) for piece in range(ratio)]
    return [first + piece for piece in range(ratio)]


def over_units(view: View) -> View:
    """The same elements over the buffer of units."""
    buffer = view.buffer
    if not isinstance(buffer, Pieces):
        return view
    ratio = buffer.ratio
    base = affine.scale(view.base, ratio) if isinstance(view.base, Affine) else view.base * ratio
    strides = tuple([stride * ratio for stride in view.strides])
    outer = None if view.whole is None else over_units(view.whole)
    return View(buffer.whole, base, view.shape, strides, view.name, view.code, outer)


def units_of(view: View) -> int:
    """How many units an element is, of a view over units or any other (there: 1)."""
    return max(1, np.dtype(view.code).itemsize // view.buffer.data.itemsize)


def sweeps(sweep: Sweep) -> list[Sweep]:
    """A swept loop's read, unit by unit."""
    buffer = sweep.view.buffer
    if buffer.plain:
        return [sweep]
    over, rest = over_units(sweep.view), (sweep.dims, sweep.steps, sweep.mask, sweep.loops)
    return [Sweep(sweep.order, sweep.site, over, there, *rest) for there in units(buffer, sweep.address)]


def as_bool(value: Value) -> Value:
    """A loaded byte as the bool that a device takes it for: anything but 0 is True."""
    return bool(value) if np.ndim(value) == 0 else np.not_equal(value, 0)


def _split(value: Value, buffer: Pieces) -> list[Any]:
    """The units of the values written, as their bits (a number, or an array like the value)."""
    plain = np.asarray(strip(value)).astype(buffer.data.dtype)
    bits: npt.NDArray[Any] = plain.reshape(-1).view(buffer.whole.data.dtype)
    parts = bits.reshape(*plain.shape, buffer.ratio)
    if not plain.ndim:
        return [int(part) for part in parts]
    return [parts[..., piece] for piece in range(buffer.ratio)]


__all__ = ["Alias", "Pieces", "adder", "alias", "as_bool", "over_units", "sweeps", "units", "units_of"]
