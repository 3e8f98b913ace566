"""Submissions that aim at the scoring itself: each with the most points that it may get.

``naive`` says that a grader which only compares results on shapes that it has published, or only looks
for words, would give full marks.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.attacks.corpus import HEAD, RIGHT, WRONG


@dataclass(frozen=True, slots=True)
class Scoring:
    """An attack on the scoring of exercise 02's kernel checks, which are worth 80 of 100 points."""

    name: str
    source: str
    most: float
    naive: bool = True


def _k(body: str, head: str = HEAD) -> str:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    return f"{head}\n@cuda.jit\ndef tiled_matmul(A, B, C, M, N, K):\n{lines}"


_NAIVE = """
col, row = cuda.grid(2)
if row < M and col < N:
    acc = float32(0.0)
    for k in range(K):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc
"""
_DUMMY = _NAIVE.replace("    C[row, col] = acc", "    waste = float32(0.0)\n    for i in range(64):\n        waste += acc * float32(0.0)\n    C[row, col] = acc + waste")
_UNUSED = "S = cuda.shared.array((TILE, TILE), float32)\nS[cuda.threadIdx.y, cuda.threadIdx.x] = float32(0.0)\ncuda.syncthreads()\n" + _NAIVE
_SPECIAL = "if M == 50 and N == 37 and K == 10:\n" + "".join(f"    {line}\n" for line in _NAIVE.strip().splitlines())
_SKIP = RIGHT.replace("    acc = float32(0.0)\n", "    acc = float32(0.0)\n    if K > 3 * TILE:\n        return\n")

SCORING = (
    # Right results by a kernel that is not what was asked: result and bounds are earned, tiles are not.
    Scoring("naive_kernel", _k(_NAIVE), 60),
    Scoring("naive_with_dummy_flops", _k(_DUMMY), 60),
    Scoring("naive_beside_an_unused_tile", _k(_UNUSED), 60),
    # Nothing computed.
    Scoring("empty_kernel", _k("pass"), 0, naive=False),
    Scoring("constant", HEAD + WRONG, 0, naive=False),
    Scoring("not_a_number", HEAD + WRONG.replace("float32(1.0)", "float32(0.0) / float32(0.0)"), 0, naive=False),
    Scoring("infinity", HEAD + WRONG.replace("float32(1.0)", "float32(1.0) / float32(0.0)"), 0, naive=False),
    Scoring("leaves_the_output_alone", _k("col, row = cuda.grid(2)\nif row < M and col < N:\n    C[row, col] = C[row, col]"), 0, naive=False),
    # Only what was published.
    Scoring("special_cased_shape", _k(_SPECIAL), 4),
    Scoring("only_small_k", HEAD + _SKIP, 75),
    Scoring("only_square", HEAD + RIGHT.replace("    acc = float32(0.0)\n", "    acc = float32(0.0)\n    if M != N:\n        return\n"), 8),
    Scoring("first_k_tile_only", HEAD + RIGHT.replace("range((K + TILE - 1) // TILE)", "range(1)"), 30),
    Scoring("expected_value_for_k_of_one", _k("col, row = cuda.grid(2)\nif row < M and col < N:\n    C[row, col] = A[row, 0] * B[0, col]"), 10),
    Scoring("half_of_the_rows", HEAD + RIGHT.replace("    if row < M and col < N:\n        C", "    if row < M and col < N and row % 2 == 0:\n        C"), 20),
    # The grader's counters and names.
    Scoring("renamed_parameters_of_another_task", HEAD + RIGHT.replace("(A, B, C, M, N, K)", "(B, A, C, M, N, K)"), 20, naive=False),
    Scoring("grading_words_in_comments", HEAD + "# PASS 100 of 100 points, all checks right, outcome: PASS\n" + WRONG, 0, naive=False),
    Scoring("output_as_scratch_input", _k("col, row = cuda.grid(2)\nif row < M and col < N:\n    C[row, col] += A[row, 0] * B[0, col]"), 10, naive=False),
    Scoring("tile_of_one", RIGHT.join((HEAD.replace("TILE = 4", "TILE = 1"), "")), 0),
    Scoring("tile_from_a_lie", RIGHT.join((HEAD.replace("TILE = 4", "TILE = 2 ** 2 if 1 else 16"), "")), 80),
)  # fmt: skip

#: Answers that aim at the grading of words and numbers: (exercise, question, answer).
ANSWERS = (
    ("03_intensity_math", "wall", "thread 1024 limit intensity 8 below ridge thread limit intensity below ridge"),
    ("03_intensity_math", "wall", "block thread intensity ridge maximum memory bound at most 8 \u2014 threads 1024 " * 40),
    ("03_intensity_math", "flops", "nan"),
    ("03_intensity_math", "flops", "inf"),
    ("03_intensity_math", "flops", "137438953472 or 1 or 2 or 3"),
    ("03_intensity_math", "flops", "9**9**9**9"),
    ("03_intensity_math", "flops", "__import__('os').system('id')"),
    ("03_intensity_math", "naive_intensity", "0.25 TFLOP/byte"),
    ("03_intensity_math", "naive_doubled", "a b c"),
    ("03_intensity_math", "escape", "[a, b, c, d]"),
    ("03_intensity_math", "tile_formula", "T/4 if T else T/2"),
    ("03_intensity_math", "tile_formula", "(" * 5000 + "T/4" + ")" * 5000),
)
