"""Reading and writing a function's variables under masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.simt.affine import Affine
from grader.simt.context import UNSET, Frame
from grader.simt.evidence import Entry, Site, count, first_thread, loops_at
from grader.simt.mask import Active, Mask, contains, union
from grader.simt.memory import View
from grader.simt.values import Tainted, select


def settled(value: Any) -> Any:
    """``value`` safe to keep: a view of memory is copied, for later stores would change it."""
    kind = type(value)
    if kind is np.ndarray:
        return value if value.base is None else value.copy()
    if kind is Tainted:
        return Tainted(settled(value.value), value.taint)
    if kind is tuple:
        return tuple([settled(item) for item in value])
    return value


def assign(fr: Frame, slot: int, value: Any, m: Active) -> None:
    """Give a variable a new value for the threads of ``m``."""
    value = settled(value)
    old = fr.values[slot]
    defined = fr.defined[slot]
    if m is None or old is UNSET or defined is m or (defined is not None and defined.within(m)):
        fr.values[slot] = value
        fr.defined[slot] = m
        return
    fr.values[slot] = merge(m, value, old)
    if defined is not None:
        whole = defined.parent if defined.parent is m.parent else None
        fr.defined[slot] = union(defined, m, whole)  # type: ignore[assignment]


def merge(m: Mask, new: Any, old: Any) -> Any:
    """``new`` for the threads of ``m``, ``old`` for the others."""
    if new is old:
        return new
    if isinstance(new, tuple) and isinstance(old, tuple):
        return tuple([merge(m, a, b) for a, b in zip(new, old, strict=True)])
    if isinstance(new, View) or isinstance(old, View) or not _mergeable(new) or not _mergeable(old):
        raise MixedArrays
    if type(new) is type(old) and isinstance(new, int | float | bool | np.generic) and new == old:
        return new
    if isinstance(new, Affine) and isinstance(old, Affine) and (new.base, new.coefs) == (old.base, old.coefs):
        return new
    return select(m.array, new, old)


class MixedArrays(Exception):
    """An array that differs from thread to thread, which the machine does not follow."""


def _mergeable(value: Any) -> bool:
    return isinstance(value, int | float | complex | np.generic | np.ndarray | Affine | Tainted)


def read(fr: Frame, slot: int, name: str, site: Site, m: Active) -> Any:
    """A variable's value; an error for the threads whose path never set it."""
    value = fr.values[slot]
    defined = fr.defined[slot]
    if value is not UNSET and (defined is None or defined is m or contains(defined, m)):
        return value
    _report_undefined(fr, name, site, m, None if value is UNSET else defined)
    return 0 if value is UNSET else value


def _report_undefined(fr: Frame, name: str, site: Site, m: Active, defined: Active) -> None:
    mc = fr.mc
    active = np.ones((1,) * len(mc.chunk.shape), bool) if m is None else m.array
    missing = active if defined is None else active & ~defined.array
    if mc.ledger.seen("undefined-variable", site.ident):
        return
    flat = first_thread(missing, mc.chunk)
    entry = Entry("undefined-variable", "error", site.span, site.guard)
    entry.threads = (mc.chunk.thread(flat),)
    entry.loops = loops_at(mc.loops, mc.chunk, flat)
    entry.counts = {"threads": count(np.broadcast_to(missing, mc.chunk.shape), mc.chunk)}
    entry.facts = {"variable": name}
    mc.ledger.add(("undefined-variable", site.ident), entry)
