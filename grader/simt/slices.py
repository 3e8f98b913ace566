"""Slices and partial indices of arrays: the view that they leave, and filling it with one value."""

from __future__ import annotations

import itertools
from typing import Any

from grader.records import Finding
from grader.simt import access, affine
from grader.simt.affine import Affine
from grader.simt.attributes import flat_view
from grader.simt.context import Run, Typed
from grader.simt.evidence import Site
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
                axes.append(
                    [part.run(fr, m)] if isinstance(part, Typed) else _bounds(fr, m, part, size, site)
                )
            data = value(fr, m)
            for index in itertools.product(*axes):
                fr.mc.spend(site)
                access.store(fr.mc, m, view, list(index), data, site)

        return execute


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
