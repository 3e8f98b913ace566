"""Dynamic shared arrays of several types are the same bytes: values, races, undefined bytes, counters."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from grader.simt import Run, launch
from grader.simt.memory import code_of

NAMES = "boolean, int8, int16, uint16, float16, int32, float32, int64, float64, complex64"
HEAD = f"from numba import cuda, {NAMES}\n"
TYPES = ("int8", "int16", "float16", "int32", "float32", "int64", "float64", "complex64")
MODES: tuple[dict[str, Any], ...] = ({}, {"detect": False}, {"schedule": "descending"})


def run(body: str, args: tuple[Any, ...], *, block: int, shared_bytes: int, **more: Any) -> Run:
    """Launch ``kernel(x, out)`` with the lines of ``body`` after ``t = cuda.threadIdx.x``."""
    lines = ["@cuda.jit", "def kernel(x, out):", "t = cuda.threadIdx.x", *body.strip().splitlines()]
    source = HEAD + lines[0] + "\n" + lines[1] + "\n    " + "\n    ".join(lines[2:]) + "\n"
    more = {"grid": 1, **more}
    return launch(source, "kernel", block=block, args=args, shared_bytes=shared_bytes, **more)


def errors(result: Run) -> set[tuple[str, str]]:
    return {(f.name, f.severity) for f in result.findings if f.severity == "error"}


# -- values -------------------------------------------------------------------------------------------

CAST = """
s = cuda.shared.array(0, {one})
r = cuda.shared.array(0, {two})
b = cuda.blockIdx.x
for i in range(t, s.size, cuda.blockDim.x):
    s[i] = x[b, i]
cuda.syncthreads()
for i in range(t, r.size, cuda.blockDim.x):
    out[b, i] = r[i]
"""


def _bytes(blocks: int, size: int) -> Any:
    """Random bytes that are a finite number of any type."""
    found = np.random.default_rng(3).integers(0, 256, (blocks, size)).astype(np.uint8)
    found[:, 1::2] &= 0x3B
    return found


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(("one", "two"), list(product(TYPES, TYPES)))
def test_bytes_written_as_one_type_are_read_as_another(one: str, two: str, mode: dict[str, Any]) -> None:
    raw = _bytes(3, 128)
    x, want = raw.view(one), raw.view(two)
    out = np.zeros_like(want)
    result = run(CAST.format(one=one, two=two), (x, out), grid=3, block=8, shared_bytes=128, **mode)
    assert result.completed
    assert errors(result) == set()
    assert np.array_equal(out.view(np.uint8), want.view(np.uint8))


def test_sizes_follow_from_the_bytes_and_the_blocks_stay_apart() -> None:
    body = """
q = cuda.shared.array(0, int64)
b = cuda.shared.array(0, int8)
if t < b.size:
    b[t] = cuda.blockIdx.x + 1
cuda.syncthreads()
out[cuda.blockIdx.x, 0] = q.size
out[cuda.blockIdx.x, 1] = b.size
out[cuda.blockIdx.x, 2] = q[0]
out[cuda.blockIdx.x, 3] = b[12]
"""
    out = np.zeros((3, 4), np.int64)
    result = run(body, (out, out), grid=3, block=1, shared_bytes=13)
    assert ("uninitialised-shared-read", "error") in errors(result)
    result = run(body, (out, out), grid=3, block=16, shared_bytes=13)
    # Every thread of a block stores the same values, which is worth a note and no more.
    assert errors(result) == set()
    assert out.tolist() == [[1, 13, int.from_bytes(bytes([n] * 8), "little"), n] for n in (1, 2, 3)]


@pytest.mark.parametrize(("array", "index"), [("q", 1), ("b", 13), ("q", -2), ("b", -14)])
def test_an_index_past_the_bytes_is_out_of_bounds_for_every_type(array: str, index: int) -> None:
    body = f"""
q = cuda.shared.array(0, int64)
b = cuda.shared.array(0, int8)
{array}[{index}] = 1
"""
    result = run(body, (np.zeros(1), np.zeros(1)), grid=2, block=1, shared_bytes=13)
    (found,) = [f for f in result.findings if f.name == "out-of-bounds-write"]
    assert found.facts["inside_allocation"] is False


def test_slices_have_offsets_of_their_own_type() -> None:
    """The layout that numba's manual shows: one stretch after the other, each a slice of its type's array."""
    body = """
f = cuda.shared.array(0, float32)[:16]
h = cuda.shared.array(0, float16)[32:48]
q = cuda.shared.array(0, int64)[12:28]
f[t] = x[t]
h[t] = x[t] + 1
q[t] = int64(x[t]) + 2
out[t] = f[15 - t] + h[15 - t] + q[15 - t]
"""
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    result = run(body.replace("out", "cuda.syncthreads()\nout"), (x, out), block=16, shared_bytes=224)
    assert errors(result) == set()
    assert np.array_equal(out, 3 * x[::-1] + 3)
    result = run(body, (x, out), block=16, shared_bytes=224)
    assert sum(f.name == "shared-read-before-barrier" for f in result.findings) == 3


COPIED = """
from grader.gpu import ptx
h = cuda.shared.array(0, uint16)
f = cuda.shared.array(0, float32)
ptx.cp_async_16_bytes(h[256:], 8 * t, x, 8 * t, 8)
ptx.cp_async_commit()
ptx.cp_async_wait(0)
cuda.syncthreads()
out[t] = f[128 + t] + f[255 - t]
"""


def test_what_is_copied_as_one_type_is_read_as_another() -> None:
    """Wide requests count as such, whatever the unit: 16 bytes of each of 32 lanes."""
    words = np.arange(128, dtype=np.float32)
    out = np.zeros(32, np.float32)
    head, _, body = COPIED.strip().partition("\n")
    source = f"{HEAD}{head}\n\n@cuda.jit\ndef kernel(x, out):\n    t = cuda.threadIdx.x\n    "
    args = (words.view(np.uint16), out)
    text = source + body.replace("\n", "\n    ")
    result = launch(text, "kernel", grid=1, block=32, args=args, shared_bytes=1024)
    assert errors(result) == set()
    assert np.array_equal(out, words[:32] + words[:-33:-1])
    assert result.counters.shared_store_requests == 1
    assert result.counters.shared_store_bytes == 512
    for missing, name in (("cp_async_wait(0)", "uninitialised-shared-read"), ("syncthreads", "shared-read")):
        line = next(line for line in text.splitlines(keepends=True) if missing in line)
        broken = text.replace(line, "")
        result = launch(broken, "kernel", grid=1, block=32, args=args, shared_bytes=1024)
        assert any(each.startswith(name) for each, _ in errors(result)), missing


def test_a_byte_that_is_not_zero_is_true() -> None:
    """numba loads a bool as ``setp.ne.s16 %p, %rs, 0`` (numba-cuda 0.30, sm_90)."""
    body = """
b = cuda.shared.array(0, int8)
p = cuda.shared.array(0, boolean)
b[t] = x[t]
out[t] = (2 if p[t] else 1) + (not p[t]) * 4 + int32(p[t]) * 8
p[t] = x[t] == 2
out[t] += b[t] * 16
"""
    x, out = np.array([0, 1, 2, -128], np.int8), np.zeros(4, np.int32)
    result = run(body, (x, out), block=4, shared_bytes=4)
    assert errors(result) == set()
    assert out.tolist() == [5, 10, 26, 10]


SIMULATED = """
import numpy as np
from numba import cuda, float32, int64, int16

@cuda.jit
def kernel(x, out):
    q = cuda.shared.array(0, int64)
    f = cuda.shared.array(0, float32)
    h = cuda.shared.array(0, int16)[3:]
    t = cuda.threadIdx.x
    q[t] = x[t]
    cuda.syncthreads()
    out[t, 0] = f[2 * t]
    out[t, 1] = f[t]
    out[t, 2] = h[t]
    out[t, 3] = f.size + h.size
"""


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_values_are_those_of_the_simulator() -> None:
    harness = """
x = np.arange(8, dtype=np.int64) * 0x0300_0000_0410_0007
out = np.zeros((8, 4))
kernel[1, 8, 0, 64](x, out)
print(out.tolist())
"""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-W", "ignore", "-c", SIMULATED + harness]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    x, out = np.arange(8, dtype=np.int64) * 0x0300_0000_0410_0007, np.zeros((8, 4))
    result = launch(SIMULATED, "kernel", grid=1, block=8, args=(x, out), shared_bytes=64)
    assert errors(result) == set()
    assert np.array_equal(out, np.array(eval(done.stdout)))


# -- races and undefined bytes, against an oracle -----------------------------------------------------

SIZES = {"int8": 1, "float16": 2, "float32": 4, "int64": 8, "float64": 8}
BYTES, THREADS = 16, 4


class Random:
    """Random reads and writes of 16 bytes by four threads, and what they do byte by byte."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.types = list(rng.permutation(list(SIZES))[: rng.integers(2, 4)])
        self.steps = []
        for _ in range(rng.integers(2, 7)):
            kind = rng.choice(["read", "write", "barrier"], p=[0.4, 0.4, 0.2])
            code = str(rng.choice(self.types))
            index = rng.integers(0, BYTES // SIZES[code], THREADS)
            if rng.random() < 0.5:
                index = np.arange(THREADS) % (BYTES // SIZES[code])
            self.steps.append((str(kind), code, index, rng.random(THREADS) < 0.7))
        self.values = rng.integers(1, 100, (len(self.steps), THREADS))

    def launch(self) -> tuple[Run, Any]:
        lines = [f"s_{code} = cuda.shared.array(0, {code})" for code in self.types]
        for number, (kind, code, index, active) in enumerate(self.steps):
            linear = np.array_equal(index, np.arange(THREADS))
            place = f"s_{code}[{'t' if linear else f'x[{number}, 0, t]'}]"
            if kind == "barrier":
                lines.append("cuda.syncthreads()")
                continue
            store = f"out[{number}, t] = {place}" if kind == "read" else f"{place} = x[{number}, 2, t]"
            lines.append(store if active.all() else f"if x[{number}, 1, t]: {store}")
        x = np.zeros((len(self.steps), 3, THREADS), np.int64)
        for number, (_, _, index, active) in enumerate(self.steps):
            x[number] = index, active, self.values[number]
        out = np.zeros((len(self.steps), THREADS))
        return run("\n".join(lines), (x, out), block=THREADS, shared_bytes=BYTES), out

    def oracle(self) -> tuple[set[tuple[int, int]], set[int], Any]:
        """Pairs of steps that race, steps that read undefined bytes, and what is read.

        Nothing is said of values once there is a race.
        """
        memory, written = np.zeros(BYTES, np.uint8), np.zeros(BYTES, bool)
        races, undefined, out = set(), set(), np.zeros((len(self.steps), THREADS))
        since: list[tuple[int, int, str, int]] = []
        for number, (kind, code, index, active) in enumerate(self.steps):
            if kind == "barrier":
                since = []
                continue
            for thread in np.flatnonzero(active):
                low = int(index[thread]) * SIZES[code]
                there = slice(low, low + SIZES[code])
                for byte in range(low, low + SIZES[code]):
                    races |= {
                        (step, number)
                        for step, other, what, at in since
                        if at == byte and other != thread and "write" in (what, kind)
                    }
                    since.append((number, int(thread), kind, byte))
                if kind == "write":
                    memory[there] = np.array([self.values[number, thread]], code).view(np.uint8)
                    written[there] = True
                elif written[there].all():
                    out[number, thread] = memory[there].view(code)[0]
                else:
                    undefined.add(number)
        return races, undefined, out


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_random_accesses_race_and_are_undefined_byte_by_byte(first: int) -> None:
    seen = [0, 0, 0]
    for seed in range(first, first + 100):
        case = Random(seed)
        result, out = case.launch()
        races, undefined, want = case.oracle()
        assert result.completed, (seed, result.findings)
        lines = {number: 5 + len(case.types) + number for number in range(len(case.steps))}
        found = {
            (f.secondary.line, f.primary.line)
            for f in result.findings
            if f.name.startswith("shared-") and f.primary and f.secondary
        }
        assert found <= {(lines[one], lines[two]) for one, two in races}, seed
        assert bool(found) == bool(races), seed
        rubbish = {
            f.primary.line for f in result.findings if f.name == "uninitialised-shared-read" and f.primary
        }
        if not races:
            assert rubbish == {lines[number] for number in undefined}, seed
        if not races and not undefined:
            assert np.array_equal(out, want, equal_nan=True), seed
        seen[0 if races else 1 if undefined else 2] += 1
    assert min(seen) >= 3, seen


def test_a_race_is_told_in_the_elements_of_the_later_statement() -> None:
    body = """
q = cuda.shared.array(0, int64)
f = cuda.shared.array(0, float32)
q[t] = x[t]
out[t] = f[t + 2]
"""
    x, out = np.arange(32), np.zeros(32)
    result = run(body, (x, out), block=32, shared_bytes=272)
    (found,) = [f for f in result.findings if f.severity == "error" and f.name.startswith("shared")]
    assert found.name == "shared-read-before-barrier"
    # f[2] to f[33] are read, and written as parts of q by threads 1 to 16: those that thread 1 reads
    # as f[3] and thread 2 as f[4] they wrote themselves.
    assert found.slot is not None
    assert (found.slot.array, found.slot.index) == ("f", (2,))
    assert found.counts["words"] == 30
    assert found.facts["other_slot"] == "q[1]"
    body = body.replace("f[t + 2]", "q[31 - t]")
    result = run(body, (x, out), block=32, shared_bytes=272)
    (found,) = [f for f in result.findings if f.severity == "error"]
    assert found.counts["words"] == 32


@pytest.mark.parametrize(
    ("one", "two", "severity"),
    [
        ("q[0] = 0", "f[1] = 0.0", "note"),
        ("q[0] = 1", "f[1] = 0.0", "note"),
        ("q[0] = 1", "f[0] = 0.0", "error"),
        ("q[0] = 0", "f[1] = -0.0", "error"),
        ("q[0] = 0x3F8000003F800000", "f[0] = 1.0", "note"),
    ],
)
def test_the_same_bytes_written_twice_are_the_same_value(one: str, two: str, severity: str) -> None:
    body = f"""
q = cuda.shared.array(0, int64)
f = cuda.shared.array(0, float32)
if t == 0: {one}
if t == 1: {two}
"""
    result = run(body, (np.zeros(1), np.zeros(1)), block=2, shared_bytes=16)
    (found,) = [f for f in result.findings if f.name == "shared-write-conflict"]
    assert found.severity == severity


def test_an_undefined_value_is_found_through_every_alias() -> None:
    """What is stored through one array after all bytes were sound is undefined to the others too."""
    for other in ("int32", "int16", "int64"):
        body = f"""
f = cuda.shared.array(0, float32)
i = cuda.shared.array(0, {other})
rubbish = cuda.local.array(2, {other})
f[t] = 1.0
cuda.syncthreads()
out[t] = f[t]
cuda.syncthreads()
if t < i.size:
    i[t] = rubbish[1]
cuda.syncthreads()
out[t] = f[t]
"""
        result = run(body, (np.zeros(1), np.zeros(32)), block=32, shared_bytes=128)
        assert ("uninitialised-shared-read", "error") in errors(result), other


def test_a_skipped_store_leaves_stale_bytes_to_every_alias() -> None:
    body = """
f = cuda.shared.array(0, float32)
h = cuda.shared.array(0, int16)
for n in range(2):
    if t + 8 * n < 32:
        f[t] = x[t]
    cuda.syncthreads()
    out[t] += h[2 * t] + h[2 * t + 1]
    cuda.syncthreads()
"""
    result = run(body, (np.ones(32, np.float32), np.zeros(32)), block=32, shared_bytes=128)
    stale = [f for f in result.findings if f.name == "stale-shared-read"]
    assert [(f.slot.array, f.slot.index, f.counts["words"]) for f in stale if f.slot] == [
        ("h", (48,), 8),
        ("h", (49,), 8),
    ]


# -- atomics ------------------------------------------------------------------------------------------


def test_atomics_of_one_width_race_with_reads_of_another() -> None:
    body = """
q = cuda.shared.array(0, int64)
i = cuda.shared.array(0, int32)
q[t] = 0
cuda.syncthreads()
cuda.atomic.add(q, 0, 1 << 32)
{barrier}
out[t] = i[1] + i[2]
"""
    out = np.zeros(8, np.int64)
    result = run(body.format(barrier="cuda.syncthreads()"), (out, out), block=8, shared_bytes=64)
    assert errors(result) == set()
    assert out.tolist() == [8] * 8
    result = run(body.format(barrier="pass"), (out, out), block=8, shared_bytes=64)
    assert [f.slot.index for f in result.errors if f.slot] == [(1,)]


def test_atomics_of_two_widths_on_the_same_bytes_are_not_followed() -> None:
    body = """
q = cuda.shared.array(0, int64)
i = cuda.shared.array(0, int32)
q[t] = 0
cuda.syncthreads()
cuda.atomic.add(q, 0, 1)
cuda.atomic.add(i, {at}, 1)
cuda.syncthreads()
out[t] = q[0] + (q[1] >> 32)
"""
    out = np.zeros(8, np.int64)
    result = run(body.format(at=3), (out, out), block=8, shared_bytes=64)
    assert errors(result) == set()
    assert out.tolist() == [16] * 8
    result = run(body.format(at=1), (out, out), block=8, shared_bytes=64)
    assert [f.facts["construct"] for f in result.errors] == ["atomics-of-mixed-sizes"]


# -- counters -----------------------------------------------------------------------------------------


def _conflicts(addresses: Any, size: int) -> int:
    """Extra passes of one warp's access: the greatest number of 4-byte words on one of 32 banks, less one.

    Accesses of 8 bytes go by half warps.
    """
    total, lanes = 0, 32 * 4 // max(4, size)
    for start in range(0, 32, lanes):
        words = {int(at + part) // 4 for at in addresses[start : start + lanes] for part in range(0, size, 4)}
        loads = [sum(word % 32 == bank for word in words) for bank in range(32)]
        total += max(loads) - 1
    return total


@pytest.mark.parametrize("stride", [1, 2, 3, 16, 33])
@pytest.mark.parametrize("offset", [0, 1, 5])
@pytest.mark.parametrize("code", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("other", ["int8", "float16", "int64", ""])
def test_bank_conflicts_are_counted_by_byte(code: str, other: str, stride: int, offset: int) -> None:
    size, blocks = np.dtype(code).itemsize, 3
    second = f"r = cuda.shared.array(0, {other})\n" if other else ""
    body = f"{second}s = cuda.shared.array(0, {code})\ns[t * {stride} + {offset}] = 1"
    bytes_ = (32 * stride + offset) * size + 1
    result = run(body, (np.zeros(1), np.zeros(1)), grid=blocks, block=32, shared_bytes=bytes_)
    assert result.errors == ()
    wanted = _conflicts((np.arange(32) * stride + offset) * size, size)
    assert result.counters.shared_store_bank_conflicts == blocks * wanted
    assert result.counters.shared_store_bytes == blocks * 32 * size
    assert result.counters.shared_store_requests == blocks


TILED = """
f = cuda.shared.array(0, float32)
r = cuda.shared.array(0, {other})
a = f[:256]
b = f[256:512]
ty, tx = t // 16, t % 16
acc = float32(0)
for n in range(4):
    a[t] = x[ty, n * 16 + tx]
    b[t] = x[n * 16 + ty, tx]
    cuda.syncthreads()
    for k in range(16):
        acc += a[ty * 16 + k] * b[k * 16 + tx]
    {barrier}
out[ty, tx] = acc
"""


@pytest.mark.parametrize("other", ["int8", "float16", "int64"])
@pytest.mark.parametrize("barrier", ["cuda.syncthreads()", "pass"])
def test_loops_taken_together_find_and_count_the_same(other: str, barrier: str) -> None:
    """An array of another width that is never touched changes nothing: no finding, no counter."""
    x = np.random.default_rng(1).random((64, 64), dtype=np.float32)
    seen = []
    for kind in ("float32", other):
        out = np.zeros((16, 16), np.float32)
        result = run(TILED.format(other=kind, barrier=barrier), (x, out), block=256, shared_bytes=2048)
        seen.append((result.findings, result.counters, out.tobytes()))
    assert seen[0] == seen[1]
    assert (barrier == "pass") == any(f.severity == "error" for f in seen[0][0])


def test_codes_are_those_of_numpy() -> None:
    assert [code_of(np.dtype(name)) for name in TYPES] == ["b", "h", "e", "i", "f", "q", "d", "F"]
