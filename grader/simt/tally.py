"""Counters: what hardware would count, from address arithmetic.

An access is tallied under its pattern (linear form and mask), and each distinct pattern is worked
out once: on aligned shapes all iterations of a loop share a handful of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.simt.affine import Affine
from grader.simt.evidence import Site, count
from grader.simt.geometry import Chunk
from grader.simt.mask import Active
from grader.simt.requests import BANK_BYTES, SECTOR_BYTES, Cost, Pattern, cost, period

LOAD, STORE = "load", "store"
KEPT_BYTES = 32 << 20
MAX_HELD = 200_000
#: 2 * 16 * 8 * 16 operations of a warp, shared among its 32 threads.
MMA_FLOPS = 128


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
    """Totals of a launch, named as in hardware counters; bytes are those that threads asked for.

    ``mma_threads`` counts the threads that took part in an m16n8k16 matrix instruction, of which each
    does MMA_FLOPS floating-point operations.
    """

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
    mma_threads: int = 0
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

    def access(self, site: Site, kind: str, address: Any, active: Active, valid: Any, times: int = 1) -> None:
        """``times`` executions of a load or store by the threads of ``active``.

        A global element that the same threads have loaded since the last barrier or global store
        is still in a register: the compiler drops the second load, and so does the count.
        """
        if site.space == "local":
            return
        if type(address) is Affine:
            wide = site.space == "shared" and site.itemsize >= BANK_BYTES
            base = 0 if wide else address.base % (SECTOR_BYTES // site.itemsize)
            key: Any = (site.ident, kind, base, address.coefs, id(active), id(valid))
            exact: Any = (site.array, site.itemsize, address.base, address.coefs)
        else:
            key = (site.ident, kind, "one" if type(address) is int else id(address), id(active), id(valid))
            exact = (site.array, site.itemsize, address) if type(address) is int else None
        if site.space == "global":
            if kind == STORE:
                self.held.clear()
            elif exact is not None:
                exact = (*exact, None if active is None else active.threads(self.chunk.shape))
                if exact in self.held:
                    return
                if len(self.held) > MAX_HELD:
                    self.held.clear()
                self.held.add(exact)
        found = self.patterns.get(key)
        if found is None:
            self.patterns[key] = [times, site, kind, address, active, valid]
            self.kept += sum(part.nbytes for part in (address, valid) if isinstance(part, np.ndarray))
            self.kept += 0 if active is None else active.array.nbytes
            if self.kept > KEPT_BYTES:
                self.finish()
        else:
            found[0] += times

    def sweep(self, site: Site, address: Affine, step: int, times: int, active: Active) -> None:
        """Loads in the iterations of a loop, each ``step`` words beyond the last, all within the array."""
        if site.space != "shared":
            for number in range(times):
                there = Affine(address.base + number * step, address.coefs, address.extents)
                self.access(site, LOAD, there, active, None)
            return
        # Which bank a warp's first word lies on makes no difference, so all iterations cost the same.
        self.access(site, LOAD, address, active, None, times)

    def flop(self, ident: Any, work: tuple[tuple[str, int], ...], active: Active, times: int = 1) -> None:
        """``times`` executions of a statement's floating-point operations."""
        key = (ident, id(active))
        found = self.flops.get(key)
        if found is None:
            self.flops[key] = [times, work, active]
        else:
            found[0] += times

    def lone(self, site: Site, kind: str, total: Cost) -> None:
        """Accesses in the iterations of a loop that ran in one go: what they cost all together."""
        self._book(site, kind, *total)

    def lone_flops(self, work: tuple[tuple[str, int], ...], times: int) -> None:
        """``times`` executions, over all threads, of a statement's floating-point operations."""
        for name, operations in work:
            _bump(self.counters, f"{name}_threads", operations * times)

    def finish(self) -> None:
        """Work the patterns out that were seen so far, and forget them."""
        known: dict[Any, tuple[int, int, int]] = {}
        sums: dict[tuple[int, str], tuple[Site, list[int]]] = {}
        for times, site, kind, address, active, valid in self.patterns.values():
            shape = (site.space, site.itemsize, id(active), id(valid))
            if isinstance(address, Affine):
                base = address.base % period(site.space, site.itemsize)
                key: Any = (*shape, base, address.coefs)
            else:
                key = (*shape, id(address))
            if key not in known:
                mask = None if active is None else active.array
                if valid is not None:
                    mask = valid if mask is None else mask & valid
                pattern = Pattern(site.space, site.itemsize, self.warp, address, mask)
                known[key] = cost(pattern, self.chunk)
            total = sums.setdefault((site.ident, kind), (site, [0, 0, 0]))[1]
            for place, part in enumerate(known[key]):
                total[place] += times * part
        for (_, kind), (site, total) in sums.items():
            self._book(site, kind, *total)
        for times, work, active in self.flops.values():
            threads = count(None if active is None else active.array, self.chunk)
            for name, operations in work:
                field_name = f"{name}_threads"
                _bump(self.counters, field_name, times * operations * threads)
        self.patterns, self.flops, self.held, self.kept = {}, {}, set(), 0

    def _book(self, site: Site, kind: str, requests: int, cost: int, threads: int) -> None:
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


class Uncounted(Tally):
    """A tally for a launch that only its values matter of."""

    def lone(self, site: Site, kind: str, total: Cost) -> None:
        """Count nothing."""

    def lone_flops(self, work: tuple[tuple[str, int], ...], times: int) -> None:
        """Count nothing."""

    def access(self, site: Site, kind: str, address: Any, active: Active, valid: Any, times: int = 1) -> None:
        """Count nothing."""

    def sweep(self, site: Site, address: Affine, step: int, times: int, active: Active) -> None:
        """Count nothing."""

    def flop(self, ident: Any, work: tuple[tuple[str, int], ...], active: Active, times: int = 1) -> None:
        """Count nothing."""


def _bump(target: Any, name: str, amount: int) -> None:
    setattr(target, name, getattr(target, name) + amount)
