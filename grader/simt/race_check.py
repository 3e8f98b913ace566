"""The end of a barrier interval: dismiss it by linear forms, or check it exactly, word by word."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.simt.affine import Affine
from grader.simt.evidence import Ledger
from grader.simt.geometry import Chunk
from grader.simt.race import ATOMIC, READ, WRITE, Access, Log, limited
from grader.simt.race_batch import Batch
from grader.simt.race_forms import plainly_free
from grader.simt.race_owners import Folded, Owners, conflicts, numbered
from grader.simt.race_report import report
from grader.simt.race_sweep import Sweep
from grader.simt.race_table import Found
from grader.simt.race_words import STATEMENT_BITS, Scope, Words, expand, expand_all, expand_sweep

MAX_DETAILED = 24
ONE_BY_ONE = 1024
MAX_FORM = 64
WARP = 32


def close(log: Log, chunk: Chunk, ledger: Ledger, passed: npt.NDArray[np.bool_] | None) -> None:
    """End the interval of the blocks in ``passed`` (None: of all): report its conflicts and forget it."""
    if log.writes and not plainly_free(log, chunk):
        _check(log, chunk, ledger)
    log.drop(passed, chunk)


def _check(log: Log, chunk: Chunk, ledger: Ledger) -> None:
    """Report the interval's conflicts; those of an interval like one before are counted to its own."""
    form = form_of(log, chunk)
    known = None if form is None else log.known.get(form)
    if known is not None:
        signature, words = known
        if words and log.detailed.get(signature, 0) < MAX_DETAILED:
            log.detailed[signature] += 1
            for key, more in words.items():
                counts = ledger.entries[key].counts
                counts["words"] = counts.get("words", 0) + more
        return
    signature = _signature(log)
    if log.detailed.get(signature, 0) >= MAX_DETAILED:
        return
    entered: dict[Any, int] = {}
    every = findings(log, chunk)
    for found in every:
        entered |= report(found, log, chunk, ledger)
    if form is not None and all(_whatever_values(found) for found in every):
        log.known[form] = signature, entered


def form_of(log: Log, chunk: Chunk) -> tuple[Any, ...] | None:
    """What conflicts hang on besides the values written; None for what is not worth comparing."""
    if log.folded is not None or log.settled or len(log.raw) > MAX_FORM:
        return None
    parts: list[Any] = [chunk.shape]
    start = None
    for one in log.raw:
        if type(one.address) is not Affine:
            return None
        mask = None if one.mask is None else one.mask.digest()
        place = (one.number, one.address.base, one.address.coefs, mask)
        if isinstance(one, Sweep):
            start = one.order[0] if start is None else start
            parts.append((*place, one.steps, one.count, one.order[0] - start, one.order[1]))
        elif one.valid is not None:
            return None
        else:
            start = one.order if start is None else start
            parts.append((*place, one.kind, one.order - start))
    return tuple(parts)


def _whatever_values(found: Found) -> bool:
    """Whether each word has one writer at most, so that what it wrote makes no difference."""
    writes = [part for part in found.parts if part.kind == WRITE]
    if any((part.low != part.high).any() for part in writes):
        return False
    keys = np.concatenate([part.keys for part in writes]) if writes else np.zeros(0, np.int64)
    return np.unique(keys).size == keys.size


def fold(log: Log, chunk: Chunk) -> None:
    """Turn the accesses of a long interval into owners by word; the log's memory is bounded so."""
    if log.folded is None:
        log.folded = Folded(log.buffer)
    for words in expand_all([*log.settled, *log.accesses], Scope.of_blocks(chunk, log.buffer)):
        log.folded.add(words)
    log.accesses, log.settled, log.keys, log.held = [], [], set(), 0


def settle_warps(
    log: Log, chunk: Chunk, ledger: Ledger, mask: npt.NDArray[np.bool_] | None, warp: int
) -> None:
    """A ``syncwarp`` by the threads of ``mask``: what came before it is ordered within each warp."""
    if log.writes and log.accesses:
        found = _within_warps(log.accesses, chunk, log, warp)
        if found is not None:
            report(found, log, chunk, ledger)
    if mask is None:
        log.settled, log.accesses = [*log.settled, *log.accesses], []
    else:
        inside = [limited(access, mask, chunk) for access in log.accesses]
        outside = [limited(access, ~mask, chunk) for access in log.accesses]
        log.settled = [*log.settled, *(access for access in inside if access is not None)]
        log.accesses = [access for access in outside if access is not None]
    log.keys = set()


def findings(log: Log, chunk: Chunk) -> list[Found]:
    """The conflicts of the interval's words, between threads of one block."""
    accesses: list[Access | Sweep] = [*log.settled, *log.separate()]
    signature = _signature(log)
    if log.detailed.get(signature, 0) >= MAX_DETAILED:
        return []
    scope = Scope.of_blocks(chunk, log.buffer)
    parts = [] if log.folded is None else list(log.folded.kinds.values())
    if len(accesses) <= ONE_BY_ONE:
        parts += [
            one.words()
            if isinstance(one, Batch)
            else expand_sweep(one, scope)
            if isinstance(one, Sweep)
            else expand(one, scope)
            for one in accesses
        ]
    else:
        parts += expand_all([*log.settled, *log.accesses], scope)
    found = [_conflicting(parts, WARP if log.settled else 1)]
    if log.settled:
        found.append(_within_warps(log.accesses, chunk, log, WARP))
    conflicting = [each for each in found if each is not None]
    if conflicting:
        log.detailed[signature] = log.detailed.get(signature, 0) + 1
    return conflicting


def _signature(log: Log) -> frozenset[Any]:
    """Which statements touch the buffer in the interval, and how."""
    kinds = ((READ if isinstance(one, Sweep) else one.kind, one.number) for one in (*log.settled, *log.raw))
    return frozenset(kinds)


def _conflicting(parts: list[Words], divisor: int) -> Found | None:
    names, places = numbered([part.keys for part in parts])
    owners = {kind: Owners.nobody(names.size) for kind in (READ, WRITE, ATOMIC)}
    values = Owners.nobody(names.size)
    values.greatest[:] = np.iinfo(np.int64).min
    for part, place in zip(parts, places, strict=True):
        owners[part.kind].touch(place, part.low, part.high)
        if part.bits is not None:
            values.touch(place, *part.bits)
    bad = conflicts(*(owners[kind].by(divisor) for kind in (READ, WRITE, ATOMIC)))
    if not bad.any():
        return None
    reduced = []
    for part, place in zip(parts, places, strict=True):
        where = bad[place]
        if where.any():
            reduced.append(part.chosen(where))
    names = names[bad]
    return Found(reduced, names, values.least[bad] < values.greatest[bad], divisor)


def _by_warp(accesses: list[Access], chunk: Chunk, log: Log, warp: int) -> list[Words]:
    """The words of accesses, with a key of its own for each warp that touches a word."""
    scope = Scope.of_blocks(chunk, log.buffer)
    parts = [expand(access, scope, by_thread=True) for access in accesses]
    for words in parts:
        words.keys = words.keys * _warps(chunk, warp) + (words.low >> STATEMENT_BITS) // warp
    return parts


def _warps(chunk: Chunk, warp: int) -> int:
    return -(-chunk.geometry.threads_per_block // warp)


def _within_warps(accesses: list[Access], chunk: Chunk, log: Log, warp: int) -> Found | None:
    """The conflicts between threads of one warp."""
    if not any(access.kind != READ for access in accesses):
        return None
    found = _conflicting(_by_warp(accesses, chunk, log, warp), 1)
    if found is not None:
        found.per_word = _warps(chunk, warp)
    return found
