"""Random kernels that are right by construction: no race, no undefined value, no index out of range.

Left out by name, because numba's simulator has them otherwise than the device (or not at all):
narrow integers and float32 (it computes with NumPy's and Python's own types), integer overflow,
division by zero, variables that only some paths set, barriers that not all threads reach, negative
indices, and everything whose order between threads shows (floating-point atomics, old values).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

BLOCKS = [(5, 1, 1), (8, 1, 1), (3, 2, 1), (2, 2, 2), (4, 3, 1)]
GRIDS = [(1, 1, 1), (2, 1, 1), (2, 2, 1)]
COMPARE = ("<", "<=", ">", ">=", "==", "!=")


@dataclass
class Kernel:
    """One generated kernel with its launch; ``data`` fills the arrays."""

    source: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    data: dict[str, list[Any]]


@dataclass
class Writer:
    """Writes one kernel, statement by statement."""

    random: random.Random
    threads: int
    lines: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=lambda: ["t", "i"])
    real: list[str] = field(default_factory=lambda: ["fx"])
    depth: int = 1
    names: int = 0
    uniform: bool = True
    loops: int = 0

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # -- expressions ---------------------------------------------------------------------------

    def int_(self, depth: int = 3) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice([*self.whole, *self.whole, str(r.randint(0, 9)), "A[i]", "A[(3 * t) % 9]"])
        a, b = self.int_(depth - 1), self.int_(depth - 1)
        c = r.randint(1, 7)
        return r.choice(
            [
                f"({a} + {b})",
                f"({a} - {b})",
                f"(({a} * {b}) % {r.choice([97, 101, -89])})",
                f"({a} // {c})",
                f"({a} % {r.choice([c, -c])})",
                f"({a} & {b})",
                f"({a} | {c})",
                f"({a} ^ {b})",
                f"({a} >> {r.randint(0, 3)})",
                f"(({a} % 50) << {r.randint(0, 3)})",
                f"min({a}, {b})",
                f"max({a}, {b}, {c})",
                f"abs({a})",
                f"(-{a})",
                f"(~{a})",
                f"(({a} % 30) ** 2)",
                f"({a} if {self.test(depth - 1)} else {b})",
                f"int({self.float_(depth - 1)} % 50.0)",
                f"twist({a}, {b})",
            ]
        )

    def index(self, depth: int = 1) -> str:
        return f"({self.int_(depth)}) % {self.random.choice(['A.shape[0]', 'A.size', 'len(A)', '9'])}"

    def float_(self, depth: int = 2) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.2:
            return r.choice([*self.real, "0.5", "1.25", "F[i]", "F[(t + 2) % 9]"])
        a, b = self.float_(depth - 1), self.float_(depth - 1)
        return r.choice(
            [
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * 0.5 * {b} % 64.0)",
                f"({a} / ({r.randint(1, 9)} + abs({b})))",
                f"({a} * {self.int_(0)} % 32.0)",
                f"math.sqrt(abs({a}))",
                f"math.floor({a})",
                f"math.cos({a})",
                f"min({a}, {b})",
                f"({self.int_(depth - 1)} / {r.randint(1, 9)})",
                f"float({self.int_(depth - 1)})",
                f"({a} if {self.test(depth - 1)} else {b})",
                f"({a} // 1.5)",
                f"mix({a}, {b})",
            ]
        )

    def test(self, depth: int = 1) -> str:
        r = self.random
        a, b, c = (self.int_(max(0, depth)) for _ in range(3))
        plain = f"{a} {r.choice(COMPARE)} {b}"
        return r.choice(
            [
                plain,
                f"{a} % {r.randint(2, 4)} == {r.randint(0, 1)}",
                f"{r.randint(-3, 3)} < {a} <= {c}",
                f"({plain} and {self.float_(0)} < {self.float_(0)})",
                f"({plain} or {b} > {c})",
                f"not ({plain})",
            ]
        )

    # -- statements ----------------------------------------------------------------------------

    def block(self, budget: int, *, barriers: bool) -> None:
        for _ in range(self.random.randint(1, budget)):
            self.statement(barriers=barriers)

    def statement(self, *, barriers: bool) -> None:
        r = self.random
        kinds = ["assign", "assign", "augment", "local", "swap"]
        if self.depth < 4:
            kinds += ["if", "if", "for", "while", "ragged"]
        if barriers:
            kinds += ["exchange", "exchange", "reduce", "vote"]
        kinds.append("atomic")
        getattr(self, f"_{r.choice(kinds)}")()

    def _assign(self) -> None:
        pool = self.random.choice([("whole", self.int_), ("real", self.float_)])
        names = getattr(self, pool[0])
        target = self.random.choice(
            [name for name in names if name not in ("t", "i")] or ["v" if pool[0] == "whole" else "fx"]
        )
        self.put(f"{target} = {pool[1]()}")

    def _augment(self) -> None:
        op = self.random.choice(["+", "-", "^", "|"])
        self.put(f"v {op}= {self.int_(2)} % 1000")

    def _swap(self) -> None:
        self.put(f"v, w = w + {self.int_(1)} % 7, v")

    def _local(self) -> None:
        self.put(f"L[({self.int_(1)}) % 4] = {self.int_(2)}")
        self.put(f"v = L[({self.int_(1)}) % 4] - L[{self.random.randint(0, 3)}]")

    def _if(self) -> None:
        self.put(f"if {self.test()}:")
        self._inner(2)
        if self.random.random() < 0.3:
            self.put(f"elif {self.test()}:")
            self._inner(2)
        if self.random.random() < 0.6:
            self.put("else:")
            self._inner(2)

    def _inner(self, budget: int, *, barriers: bool = False) -> None:
        self.depth += 1
        self.block(budget, barriers=barriers)
        self.depth -= 1

    def _for(self) -> None:
        r = self.random
        name = self.fresh("k")
        start, stop, step = r.randint(-2, 2), r.randint(0, 5), r.choice([1, 1, 2, -1])
        self.put(f"for {name} in range({start}, {stop}, {step}):")
        self.whole.append(name)
        self._inner(2, barriers=self.depth == 1)
        self.whole.remove(name)
        if r.random() < 0.2:
            self.put("else:")
            self._inner(1)

    def _ragged(self) -> None:
        """A loop whose trip count, and where it is left, differs between threads."""
        name = self.fresh("k")
        self.put(f"for {name} in range(({self.int_(1)}) % 3, ({self.int_(1)}) % 6):")
        self.whole.append(name)
        self.depth += 1
        self.put(f"if {self.test()}:")
        self.put(f"    {self.random.choice(['break', 'continue'])}")
        self.block(2, barriers=False)
        self.depth -= 1
        self.whole.remove(name)
        if self.random.random() < 0.4:
            self.put("else:")
            self._inner(1)

    def _while(self) -> None:
        name = self.fresh("n")
        self.put(f"{name} = ({self.int_(1)}) % 6")
        self.put(f"while {name} > 0:")
        self.depth += 1
        self.put(f"{name} -= 1")
        if self.random.random() < 0.5:
            self.put(f"if {self.test()}:")
            self.put(f"    {self.random.choice(['break', 'continue'])}")
        self.block(1, barriers=False)
        self.depth -= 1

    def _exchange(self) -> None:
        n = self.threads
        other = self.random.choice(
            [f"(t + {self.random.randint(1, n)}) % {n}", f"{n - 1} - t", "0", f"({self.int_(1)}) % {n}"]
        )
        self.put(f"S[t] = {self.int_(2)}")
        self.put("cuda.syncthreads()")
        self.put(f"v = S[{other}] + S[t]")
        self.put("cuda.syncthreads()")

    def _reduce(self) -> None:
        self.put(f"T[t] = {self.float_(1)}")
        self.put("cuda.syncthreads()")
        self.put("if t == 0:")
        self.put(f"    for q in range(1, {self.threads}):")
        self.put("        T[0] += T[q]")
        self.put("cuda.syncthreads()")
        self.put("fx = T[0] % 100.0")
        self.put("cuda.syncthreads()")

    def _vote(self) -> None:
        kind = self.random.choice(["count", "and", "or"])
        self.put(f"w = cuda.syncthreads_{kind}(int({self.test()}))")

    def _atomic(self) -> None:
        name = self.random.choice(["add", "max", "min"])
        self.put(f"cuda.atomic.{name}({name.upper()}, ({self.int_(1)}) % 5, {self.int_(1)})")


HEAD = """import math
from numba import cuda, int64, float64

@cuda.jit(device=True)
def twist(a, b):
    if a > b:
        return a - b
    c = 0
    for q in range(3):
        if (a + q) % 2 == 0:
            continue
        c += q
    return c + b % 5

@cuda.jit(device=True)
def mix(x, y):
    return x * 0.25 if x < y else y + 1.0

@cuda.jit
def kernel(A, F, ADD, MAX, MIN, out, fout):
    S = cuda.shared.array({threads}, int64)
    T = cuda.shared.array({threads}, float64)
    L = cuda.local.array(4, int64)
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    i = t + {threads} * (cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y)
    for q in range(4):
        L[q] = q
    v = 1
    w = 2
    fx = F[i]
"""
TAIL = ["if i % 7 == 6:", "    return", "out[i] = v + 3 * w", "fout[i] = fx"]


def generate(seed: int) -> Kernel:
    """The kernel of a seed."""
    source = random.Random(seed)
    block, grid = source.choice(BLOCKS), source.choice(GRIDS)
    threads = block[0] * block[1] * block[2]
    total = threads * grid[0] * grid[1]
    writer = Writer(source, threads)
    writer.whole += ["v", "w"]
    for _ in range(source.randint(3, 7)):
        writer.statement(barriers=True)
    body = [*writer.lines, *("    " + line for line in TAIL)]
    data: dict[str, list[Any]] = {
        "A": [source.randint(-20, 20) for _ in range(max(total, 9))],
        "F": [source.randint(-40, 40) / 8 for _ in range(max(total, 9))],
        "ADD": [0] * 5,
        "MAX": [-1000] * 5,
        "MIN": [1000] * 5,
        "out": [-1] * total,
        "fout": [-1.0] * total,
    }
    return Kernel(HEAD.format(threads=threads) + "\n".join(body) + "\n", grid, block, data)
