"""Slices and partial indices of arrays: the view that they leave, and filling it with one value."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from grader.records import Finding
from grader.simt import access, affine, expressions, values, whole_numbers
from grader.simt.affine import Affine
from grader.simt.attributes import flat_view
from grader.simt.context import Run, Typed
from grader.simt.evidence import Site
from grader.simt.mask import DEAD, Dead
from grader.simt.memory import View
from grader.simt.types import Array


class Cut:
    """An array with the indices and slices of one subscript that leaves some of its axes.

    ``parts`` holds, axis by axis, a typed index or a triple (start, stop, step) of typed numbers
    and None; axes beyond it are kept whole.
    """

    def __init__(self, owner: Typed, parts: list[Any], site: Site) -> None:
        assert isinstance(owner.kind, Array)
        self.kind = owner.kind
        self.array = owner.run
        self.parts = parts
        self.site = site

    def view(self) -> Typed:
        """The array that is left."""
        kept = self.kind.ndim - sum(isinstance(part, Typed) for part in self.parts)
        kind = Array(self.kind.code, kept, self.kind.space, self.kind.ident)
        return Typed(kind, self._view)

    def _view(self, fr: Any, m: Any) -> View:
        view = flat_view(fr, self.array(fr, m))
        base, shape, strides = view.base, [], []
        for dim, stride in enumerate(view.strides):
            part = self.parts[dim] if dim < len(self.parts) else (None, None, None)
            if isinstance(part, Typed):
                base = _moved(base, part.run(fr, m), view.shape[dim], stride, self.site)
            else:
                kept = _bounds(fr, m, part, view.shape[dim], self.site)
                base = affine.add(base, kept.start * stride) if len(kept) else base
                shape.append(len(kept))
                strides.append(stride * kept.step)
        return View(view.buffer, base, tuple(shape), tuple(strides), view.name, view.code)

    def fill(self, value: Run, site: Site) -> Run:
        """Store one value in every element that is left: ``tile[ty, :] = 0``."""

        def execute(fr: Any, m: Any) -> None:
            view = flat_view(fr, self.array(fr, m))
            axes = []
            for dim, size in enumerate(view.shape):
                part = self.parts[dim] if dim < len(self.parts) else (None, None, None)
                axes.append(_kept(fr, m, part, size, site))
            data = value(fr, m)
            for places in itertools.product(*axes):
                active = m
                for _, inside in places:
                    active = DEAD if isinstance(active, Dead) else fr.mc.split(active, inside)[0]
                if not isinstance(active, Dead):
                    fr.mc.spend(site)
                    access.store(fr.mc, active, view, [index for index, _ in places], data, site)

        return execute


def _kept(fr: Any, m: Any, part: Any, size: int, site: Site) -> list[tuple[Any, Any]]:
    """The indices of one axis that are left, each with the threads for which it is."""
    if isinstance(part, Typed):
        return [(part.run(fr, m), True)]
    start, stop, step = (piece if piece is None else piece.run(fr, m) for piece in part)
    if all(piece is None or type(piece) is int for piece in (start, stop)):
        return [(index, True) for index in _bounds(fr, m, part, size, site)]
    step = 1 if step is None else step
    if type(step) is not int or step == 0:
        raise _refused("slice-per-thread", site)
    if step == 1 and _inside(start, size) and _inside(stop, size):
        length = whole_numbers.int_subtract(stop, start)
        if type(length) is int:
            return [(whole_numbers.int_add(start, number), True) for number in range(length)]
    low, high = (-1, size - 1) if step < 0 else (0, size)
    first = _clamped(fr, m, start, high if step < 0 else low, size, low, high)
    last = _clamped(fr, m, stop, low if step < 0 else high, size, low, high)
    lengths = np.maximum(0, (last - first + step - (1 if step > 0 else -1)) // step)
    # What a thread beyond its own slice would reach is of no account: it does not take part.
    reached = [np.where(number < lengths, first + number * step, 0) for number in range(int(lengths.max()))]
    return [(index, number < lengths) for number, index in enumerate(reached)]


def _inside(value: Any, size: int) -> bool:
    """Whether a bound is a number from 0 to ``size`` for every thread, so that it is not clamped."""
    if type(value) is int:
        return 0 <= value <= size
    return type(value) is Affine and value.bounds()[0] >= 0 and value.bounds()[1] <= size


def _clamped(fr: Any, m: Any, value: Any, default: int, size: int, low: int, high: int) -> Any:
    """A bound as Python reads it: counted from the end where negative, and kept inside the axis."""
    if value is None:
        return np.asarray(default)
    plain = np.asarray(values.numeric(expressions.decide(fr, value, m)), np.int64)
    return np.clip(np.where(plain < 0, plain + size, plain), low, high)


def _moved(base: Any, index: Any, size: int, stride: int, site: Site) -> Any:
    if type(index) is int:
        return affine.add(base, (index + size if index < 0 else index) * stride)
    if type(index) is Affine and index.bounds()[0] >= 0:
        return affine.add(base, affine.scale(index, stride))
    raise _refused("sub-array-per-thread", site)


def _bounds(fr: Any, m: Any, part: Any, size: int, site: Site) -> range:
    """The indices of one axis that a slice keeps."""
    found = [piece if piece is None else piece.run(fr, m) for piece in part]
    if any(piece is not None and type(piece) is not int for piece in found) or found[2] == 0:
        raise _refused("slice-per-thread", site)
    return range(*slice(*found).indices(size))


def _refused(construct: str, site: Site) -> Exception:
    return access.refuse(
        Finding("unsupported-construct", "error", primary=site.span, facts={"construct": construct})
    )
