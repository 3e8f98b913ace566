"""Counters: what hardware would count, from address arithmetic.

An access is tallied under its pattern (linear form and mask), and each distinct pattern is worked
out once: on aligned shapes all iterations of a loop share a handful of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine
from grader.simt.evidence import Site, count
from grader.simt.geometry import Chunk
from grader.simt.mask import Active

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
LOAD, STORE = "load", "store"
KEPT_BYTES = 32 << 20
MAX_HELD = 200_000


@dataclass(slots=True)
class ArrayCounters:
    """Traffic of one array: warp requests, 32-byte sectors, bytes asked by active threads."""

    load_requests: int = 0
    load_sectors: int = 0
    load_bytes: int = 0
    store_requests: int = 0
    store_sectors: int = 0
    store_bytes: int = 0
    load_bank_conflicts: int = 0
    store_bank_conflicts: int = 0


@dataclass(slots=True)
class Counters:
    """Totals of a launch, named as in hardware counters; bytes are those that threads asked for."""

    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_bytes: int = 0
    shared_load_requests: int = 0
    shared_load_bytes: int = 0
    shared_load_bank_conflicts: int = 0
    shared_store_requests: int = 0
    shared_store_bytes: int = 0
    shared_store_bank_conflicts: int = 0
    shared_bytes_per_block: int = 0
    ffma_threads: int = 0
    fadd_threads: int = 0
    fmul_threads: int = 0
    dfma_threads: int = 0
    dadd_threads: int = 0
    dmul_threads: int = 0
    barriers: int = 0
    per_array: dict[str, ArrayCounters] = field(default_factory=dict)
    per_line: dict[tuple[int, str], ArrayCounters] = field(default_factory=dict)


class Tally:
    """Collects patterns while a chunk runs and turns them into counters at its end."""

    def __init__(self, warp: int = 32) -> None:
        self.warp = warp
        self.counters = Counters()
        self.patterns: dict[Any, list[Any]] = {}
        self.flops: dict[Any, list[Any]] = {}
        self.by_site: dict[tuple[int, str], tuple[Site, ArrayCounters]] = {}

    def begin(self, chunk: Chunk) -> None:
        """Start the next chunk of blocks."""
        self.chunk = chunk
        self.patterns = {}
        self.flops = {}
        self.held: set[Any] = set()
        self.kept = 0

    def fence(self) -> None:
        """A barrier: values loaded from global memory are no longer kept in registers."""
        self.held.clear()

    def access(self, site: Site, kind: str, address: Any, active: Active, valid: Any) -> None:
        """One execution of a load or store by the threads of ``active``.

        A global element that the same threads have loaded since the last barrier or global store
        is still in a register: the compiler drops the second load, and so does the count.
        """
        if site.space == "local":
            return
        if type(address) is Affine:
            base = address.base % (SECTOR_BYTES // site.itemsize)
            key: Any = (site.ident, kind, base, address.coefs, id(active), id(valid))
            exact: Any = (site.array, address.base, address.coefs, id(active))
        else:
            key = (site.ident, kind, "one" if type(address) is int else id(address), id(active), id(valid))
            exact = (site.array, address, id(active)) if type(address) is int else None
        if site.space == "global":
            if kind == STORE:
                self.held.clear()
            elif exact is not None:
                if exact in self.held:
                    return
                if len(self.held) > MAX_HELD:
                    self.held.clear()
                self.held.add(exact)
        found = self.patterns.get(key)
        if found is None:
            self.patterns[key] = [1, site, kind, address, active, valid]
            self.kept += sum(part.nbytes for part in (address, valid) if isinstance(part, np.ndarray))
            self.kept += 0 if active is None else active.array.nbytes
            if self.kept > KEPT_BYTES:
                self.finish()
        else:
            found[0] += 1

    def flop(self, ident: int, work: tuple[tuple[str, int], ...], active: Active) -> None:
        """One execution of a statement's floating-point operations."""
        key = (ident, id(active))
        found = self.flops.get(key)
        if found is None:
            self.flops[key] = [1, work, active]
        else:
            found[0] += 1

    def finish(self) -> None:
        """Work the patterns out that were seen so far, and forget them."""
        known: dict[Any, tuple[int, int, int]] = {}
        for times, site, kind, address, active, valid in self.patterns.values():
            shape = (site.space, site.itemsize, id(active), id(valid))
            if isinstance(address, Affine):
                base = address.base % (SECTOR_BYTES // site.itemsize)
                key: Any = (*shape, 0 if site.space == "shared" else base, address.coefs)
            else:
                key = (*shape, id(address))
            if key not in known:
                known[key] = self._work_out(site, address, active, valid)
            self._book(times, site, kind, known[key])
        for times, work, active in self.flops.values():
            threads = count(None if active is None else active.array, self.chunk)
            for name, operations in work:
                field_name = f"{name}_threads"
                total = getattr(self.counters, field_name) + times * operations * threads
                setattr(self.counters, field_name, total)
        self.patterns, self.flops, self.held, self.kept = {}, {}, set(), 0

    def _book(self, times: int, site: Site, kind: str, work: tuple[int, int, int]) -> None:
        requests, cost, threads = (times * part for part in work)
        key = (site.ident, kind)
        if key not in self.by_site:
            self.by_site[key] = (site, ArrayCounters())
        array = self.counters.per_array.setdefault(site.array, ArrayCounters())
        line = self.counters.per_line.setdefault((site.span.line, site.array), ArrayCounters())
        second = f"{kind}_sectors" if site.space == "global" else f"{kind}_bank_conflicts"
        for target in (array, line, self.by_site[key][1]):
            _bump(target, f"{kind}_requests", requests)
            _bump(target, f"{kind}_bytes", threads * site.itemsize)
            _bump(target, second, cost)
        total = self.counters
        _bump(total, f"{site.space}_{kind}_requests", requests)
        _bump(total, f"{site.space}_{kind}_bytes", threads * site.itemsize)
        _bump(total, f"{site.space}_{second}", cost)

    def _work_out(self, site: Site, address: Any, active: Active, valid: Any) -> tuple[int, int, int]:
        """(requests, sectors or bank conflicts, active threads) of one execution over the chunk."""
        chunk = self.chunk
        mask = None if active is None else active.array
        if valid is not None:
            mask = valid if mask is None else mask & valid
        spread = address.array() if isinstance(address, Affine) else np.asarray(address)
        spread = spread.reshape((1,) * (len(chunk.shape) - spread.ndim) + spread.shape)
        shape = spread.shape if mask is None else np.broadcast_shapes(spread.shape, mask.shape)
        grid = shape[: chunk.grid_axes]
        shape = (*grid, *chunk.shape[chunk.grid_axes :])
        blocks = int(np.prod(grid)) if grid else 1
        repeat = chunk.blocks // blocks
        lanes = _by_warp(np.broadcast_to(spread, shape).reshape(blocks, -1), self.warp, -1)
        if mask is not None:
            on = _by_warp(np.broadcast_to(mask, shape).reshape(blocks, -1), self.warp, False)
            lanes = np.where(on, lanes, -1)
        return tuple(repeat * part for part in _cost(lanes, site))  # type: ignore[return-value]


class Uncounted(Tally):
    """A tally for a launch that only its values matter of."""

    def access(self, site: Site, kind: str, address: Any, active: Active, valid: Any) -> None:
        """Count nothing."""

    def flop(self, ident: int, work: tuple[tuple[str, int], ...], active: Active) -> None:
        """Count nothing."""


def _bump(target: Any, name: str, amount: int) -> None:
    setattr(target, name, getattr(target, name) + amount)


def _by_warp(values: npt.NDArray[Any], warp: int, filler: Any) -> npt.NDArray[Any]:
    """Rows of one warp each, the last warp of a block filled up (int64 or bool)."""
    blocks, threads = values.shape
    lack = -threads % warp
    if lack:
        values = np.concatenate([values, np.full((blocks, lack), filler, values.dtype)], axis=1)
    return np.ascontiguousarray(values).reshape(-1, warp)


def _cost(lanes: npt.NDArray[np.int64], site: Site) -> tuple[int, int, int]:
    active = lanes >= 0
    requests = int(np.count_nonzero(active.any(axis=1)))
    threads = int(np.count_nonzero(active))
    if site.space == "global":
        return requests, _sectors(lanes, active, site.itemsize), threads
    return requests, _bank_conflicts(lanes, site.itemsize), threads


def _sectors(lanes: npt.NDArray[np.int64], active: npt.NDArray[np.bool_], itemsize: int) -> int:
    """Distinct 32-byte sectors of each warp, summed."""
    sectors = np.where(active, lanes * itemsize // SECTOR_BYTES, -1)
    ordered = np.sort(sectors, axis=1)
    fresh = ordered[:, 1:] != ordered[:, :-1]
    return int(np.count_nonzero(fresh & (ordered[:, 1:] >= 0)) + np.count_nonzero(ordered[:, 0] >= 0))


def _bank_conflicts(lanes: npt.NDArray[np.int64], itemsize: int) -> int:
    """Extra wavefronts: for each warp, the most distinct words on one bank, less one.

    A value wider than a bank is served in as many passes as it has words, each by part of the
    warp, so its words are counted for half warps (8 bytes) or quarter warps (16 bytes).
    """
    passes = max(1, itemsize // BANK_BYTES)
    rows = lanes.reshape(-1, lanes.shape[1] // passes)
    words = np.where(rows >= 0, rows * itemsize // BANK_BYTES, -1)
    ordered = np.sort(words, axis=1)
    fresh = np.ones(ordered.shape, bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    fresh &= ordered >= 0
    banks = ordered % BANKS
    number = np.arange(len(rows))[:, None] * BANKS + banks
    load = np.bincount(number[fresh], minlength=len(rows) * BANKS).reshape(-1, BANKS)
    return int(np.maximum(load.max(axis=1) - 1, 0).sum())
