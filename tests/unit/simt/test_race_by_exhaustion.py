"""The machine's race detection against the oracle, on every short sequence of events."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.records import Span
from grader.simt import launch
from grader.simt.evidence import Ledger, Site
from grader.simt.geometry import Geometry
from grader.simt.mask import Mask
from grader.simt.memory import Buffer, View
from grader.simt.race import ATOMIC, READ, WRITE, Log
from grader.simt.race_check import close, findings, fold
from grader.simt.race_grid import GridShadow
from grader.simt.race_words import stride_of

_spec = importlib.util.spec_from_file_location("race_oracle", Path(__file__).with_name("race_oracle.py"))
assert _spec is not None
assert _spec.loader is not None
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

KIND_CODES = {"read": READ, "write": WRITE, "atomic": ATOMIC}
SITES = {
    (thread, kind): Site(10 * thread + code, Span(thread + 1, code + 1, thread + 1, code + 2), "A", "global")
    for thread in oracle.BLOCK_OF
    for kind, code in KIND_CODES.items()
}
BATCH = 20_000

Sequence = tuple[Any, ...]


class Bench:
    """Many sequences side by side: each has two blocks of two threads and words of its own."""

    def __init__(self, sequences: list[Sequence], words: int, space: str, *, folding: bool) -> None:
        self.sequences, self.words, self.space, self.folding = sequences, words, space, folding
        count = len(sequences)
        (self.chunk,) = Geometry((2 * count, 1, 1), (2, 1, 1)).chunks(resident=True)
        size = words if space == "shared" else words * count
        stretches = 2 * count if space == "shared" else 1
        self.buffer = Buffer(np.zeros(size * stretches, np.int32), space, "A", size, shadowed=True)
        self.view = View(self.buffer, 0, (self.buffer.data.size,), (1,), "A", "i")
        self.log, self.grid = Log(self.buffer), GridShadow(self.buffer)
        self.blocks: list[set[tuple[int, int]]] = [set() for _ in sequences]

    def run(self) -> None:
        for step in range(len(self.sequences[0])):
            for event in oracle.events(self.words):
                chosen = np.array([sequence[step] == event for sequence in self.sequences])
                if chosen.any():
                    self._barrier(chosen, event[1]) if event[0] == "barrier" else self._access(chosen, event)
            if self.folding:
                fold(self.log, self.chunk)
        self._note()

    def _threads(self, chosen: Any, block: int, lane: int | None) -> Any:
        mask = np.zeros((len(self.sequences), 2, 2), bool)
        mask[:, block, slice(None) if lane is None else lane] = chosen.reshape(-1, *(1,) * (lane is None))
        return mask.reshape(self.chunk.shape)

    def _access(self, chosen: Any, event: tuple[int, str, int]) -> None:
        thread, kind, word = event
        block, lane = oracle.BLOCK_OF[thread], thread % 2
        each = (
            np.arange(2 * len(self.sequences))
            if self.space == "shared"
            else np.arange(len(self.sequences)).repeat(2)
        )
        address = (each * self.words + word)[:, None]
        mask = Mask(self._threads(chosen, block, lane), None)
        self.log.add(KIND_CODES[kind], SITES[thread, kind], self.view, address, (address,), mask, None, [], 1)
        if self.space == "global":
            self.grid.update(self.log.accesses, self.chunk)

    def _barrier(self, chosen: Any, block: int) -> None:
        self._note()
        close(self.log, self.chunk, Ledger(), self._threads(chosen, block, None))

    def _note(self) -> None:
        self.log.detailed.clear()
        if not self.log.writes:
            return
        for found in findings(self.log, self.chunk):
            for name in found.names:
                block, local = divmod(int(name), stride_of(self.buffer))
                self.blocks[block // 2].add((block % 2, local % self.words))

    def grid_words(self) -> list[set[int]]:
        found: list[set[int]] = [set() for _ in self.sequences]
        for word in self.grid.conflicting():
            found[word // self.words].add(int(word) % self.words)
        return found


def _batches(words: int, length: int) -> Iterator[list[Sequence]]:
    every = product(oracle.events(words), repeat=length)
    while batch := list(islice(every, BATCH)):
        yield batch


def _check(words: int, length: int, space: str, *, folding: bool = False) -> int:
    checked = 0
    for batch in _batches(words, length):
        bench = Bench(batch, words, space, folding=folding)
        bench.run()
        for sequence, found, between in zip(batch, bench.blocks, bench.grid_words(), strict=True):
            assert found == oracle.block_races(sequence), sequence
            if space == "global":
                assert between == oracle.grid_races(sequence), sequence
        checked += len(batch)
    return checked


@pytest.mark.parametrize(
    ("words", "length", "space", "expected"),
    [
        (1, 1, "shared", 11),
        (1, 2, "shared", 121),
        (1, 3, "global", 1_331),
        (1, 4, "shared", 14_641),
        (1, 4, "global", 14_641),
        (2, 3, "shared", 8_000),
        (2, 3, "global", 8_000),
    ],
)
def test_no_conflict_is_missed_and_none_invented(words: int, length: int, space: str, expected: int) -> None:
    assert _check(words, length, space) == expected


@pytest.mark.parametrize(("words", "length", "space"), [(1, 3, "shared"), (1, 4, "global"), (2, 3, "shared")])
def test_a_folded_log_gives_the_same(words: int, length: int, space: str) -> None:
    assert _check(words, length, space, folding=True) == len(oracle.events(words)) ** length


@pytest.mark.slow
@pytest.mark.parametrize(("words", "length", "space"), [(1, 5, "shared"), (1, 5, "global"), (2, 4, "global")])
def test_longer_sequences(words: int, length: int, space: str) -> None:
    assert _check(words, length, space) == len(oracle.events(words)) ** length


# -- through a kernel ------------------------------------------------------------------------------

SCRIPT = """
from numba import cuda, int32

@cuda.jit
def script(thread, kind, word, G, out):
    S = cuda.shared.array(2, int32)
    me = cuda.blockIdx.x * 2 + cuda.threadIdx.x
    if cuda.threadIdx.x == 0:
        S[0] = 0
        S[1] = 0
    cuda.syncthreads()
    got = 0
    for step in range(thread.shape[0]):
        if kind[step] == 3:
            if thread[step] == cuda.blockIdx.x:
                cuda.syncthreads()
        elif me == thread[step]:
            if kind[step] == 0:
                got += SPACE[word[step]]
            elif kind[step] == 1:
                SPACE[word[step]] = step
            else:
                cuda.atomic.add(SPACE, word[step], 1)
    out[me] = got
"""
CODES = {"read": 0, "write": 1, "atomic": 2}
RACES = {
    "S": {"shared-write-conflict", "shared-read-before-barrier", "shared-overwrite-before-barrier"},
    "G": {"global-write-conflict", "global-read-write-race"},
}


def _by_kernel(sequence: Sequence, space: str) -> set[str]:
    """Scopes ("block", "grid") in which the machine reports a race of the scripted kernel."""
    columns = [
        (event[1], 3, 0) if event[0] == "barrier" else (event[0], CODES[event[1]], event[2])
        for event in sequence
    ]
    thread, kind, word = (np.array(column, np.int32) for column in zip(*columns, strict=True))
    args = (thread, kind, word, np.zeros(2, np.int32), np.zeros(4, np.int32))
    run = launch(SCRIPT.replace("SPACE", space), "script", grid=2, block=2, args=args)
    assert run.completed
    assert {f.name for f in run.findings if f.severity == "error"} <= RACES[space]
    scopes = {f.facts["scope"] for f in run.findings if f.name in RACES[space]}
    return {"block" if scope == "warp" else str(scope) for scope in scopes}


@pytest.mark.parametrize("space", ["S", "G"])
def test_a_scripted_kernel_agrees(space: str) -> None:
    every = list(product(oracle.events(2), repeat=3))
    for sequence in every[:: len(every) // 400]:
        wanted = {"block"} if oracle.block_races(sequence) else set()
        if space == "G" and oracle.grid_races(sequence):
            wanted.add("grid")
        assert _by_kernel(sequence, space) == wanted, sequence
