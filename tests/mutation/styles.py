"""The correct submissions that the operators mutate: both solutions and eight other ways to write them.

``tests/kernels/styles/`` holds the others. ``orders`` tells, for each barrier, what it orders: the
findings that must follow where it is missing, written down here and not taken from the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.content.variants import ROOT, plain_solution
from tests.mutation.text import Text

FOLDER = ROOT / "tests" / "kernels" / "styles"

RAW = ("shared-read-before-barrier", ("dot",))
WAR = ("shared-overwrite-before-barrier", ("load_a", "zero_a", "load_b", "zero_b"))
WAR_A = ("shared-overwrite-before-barrier", ("load_a", "zero_a"))

Place = tuple[str, tuple[str, ...]]
TWO_BARRIERS: Mapping[str, tuple[Place, ...]] = {"filled": (RAW,), "consumed": (WAR,)}
#: With two buffers one barrier a tile does both: the tile is complete, and nobody reads the old one.
ONE_BARRIER: Mapping[str, tuple[Place, ...]] = {"prologue": (RAW,), "turn": (RAW, WAR)}

#: Code lines of the solutions with their roles; the barriers come in the order filled, consumed.
_ROLES = {
    "def tiled_matmul(A, B, C, M, N, K):": "def",
    "As = cuda.shared.array((TILE, TILE), dtype=float32)": "shared_a",
    "Bs = cuda.shared.array((TILE, TILE), dtype=float32)": "shared_b",
    "row = cuda.blockIdx.y * TILE + ty": "row",
    "col = cuda.blockIdx.x * TILE + tx": "col",
    "acc = float32(0.0)": "init",
    "for t in range((K + TILE - 1) // TILE):": "k_loop",
    "a_col = t * TILE + tx": "a_col",
    "b_row = t * TILE + ty": "b_row",
    "if row < M and a_col < K:": "begin_a guard_a",
    "As[ty, tx] = A[row, a_col]": "load_a",
    "As[ty, tx] = float32(0.0)": "zero_a",
    "if b_row < K and col < N:": "begin_b guard_b",
    "Bs[ty, tx] = B[b_row, col]": "load_b",
    "Bs[ty, tx] = float32(0.0)": "zero_b",
    "for k in range(TILE):": "begin_dot dot_loop",
    "acc += As[ty, k] * Bs[k, tx]": "dot",
    "if row < M and col < N:": "end guard_c",
    "C[row, col] = acc": "store",
    "block = (TILE, TILE)": "block",
    "grid = ((N + TILE - 1) // TILE, (M + TILE - 1) // TILE)": "launch",
}


@dataclass(frozen=True)
class Style:
    """One correct submission with its roles; ``rubric`` is the file that grades it."""

    name: str
    text: Text
    rubric: Path
    exercise: str
    orders: Mapping[str, tuple[Place, ...]]


@cache
def styles() -> tuple[Style, ...]:
    solutions = [
        _style("solution_01", _solution("01_tiled_matmul"), "01_tiled_matmul"),
        _style("solution_02", _solution("02_ragged_dims"), "02_ragged_dims"),
    ]
    others = []
    for path in sorted(FOLDER.glob("*.py")):
        own = path.with_suffix(".yaml")
        style = _style(path.stem, Text.of(path.read_text(encoding="utf-8")), "02_ragged_dims")
        others.append(style if not own.exists() else Style(**{**style.__dict__, "rubric": own}))
    return (*solutions, *others)


def style(name: str) -> Style:
    return next(one for one in styles() if one.name == name)


def _style(name: str, text: Text, exercise: str) -> Style:
    orders = ONE_BARRIER if text.has("turn") else TWO_BARRIERS
    return Style(name, text, ROOT / "rubrics" / f"{exercise}.yaml", exercise, orders)


def _solution(exercise: str) -> Text:
    lines = plain_solution(exercise).rstrip("\n").split("\n")
    start = lines.index("def tiled_matmul(A, B, C, M, N, K):")
    barriers = iter(("filled", "consumed"))
    end = next(n for n in range(start + 1, len(lines)) if not lines[n].startswith(" "))
    marked = []
    for number, line in enumerate(lines):
        code = line.strip()
        role = next(barriers) if code == "cuda.syncthreads()" else _ROLES.get(code, "")
        # naive_matmul has lines of the same text, before the kernel or, in exercise 02, after it.
        inside = start <= number < end or role in ("block", "launch")
        marked.append(f"{line}  #@ {role}" if role and inside else line)
    return Text(tuple(marked))
