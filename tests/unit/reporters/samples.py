"""Reports as a grading would make them, for the tests of every writer."""

from __future__ import annotations

from grader.records import (
    CheckResult,
    Diagnostic,
    FamilyResult,
    Fault,
    Frame,
    Label,
    Outcome,
    QuestionResult,
    Report,
    ShapeResult,
    Span,
)

PATH = "exercises/02_ragged_dims.py"

STALE = Diagnostic(
    name="stale-shared-read",
    severity="error",
    headline="`As[0, 8]` still holds the previous k-tile when it is multiplied",
    frame=Frame(
        path=PATH,
        primary=Label(
            Span(41, 20, 41, 29), "thread (0, 0) of block (0, 0) reads what k-tile 1 left: A[0, 24]"
        ),
        secondary=Label(Span(33, 12, 33, 33), "false for 128 of 256 threads in the last k-tile"),
        lines=(
            (33, "        if row < M and a_col < K:"),
            (41, "            acc += As[ty, k] * Bs[k, tx]"),
        ),
    ),
    seen=(
        "M, N, K = 50, 37, 40: 1,850 of 1,850 elements are wrong",
        "C[0, 0] adds A[0, 24..31] × B[24..31, 0] twice",
    ),
    because="a skipped store leaves the old value in shared memory; every thread of the row reads it",
    passed="all 10 shapes with K a multiple of 16; there the guard is false only where none stores",
    checked="confirmed by experiment",
    hints=(
        "What should a thread put in its slot when its element of A does not exist?",
        "Look at the `if` in line 33: which threads skip it?",
        "Add `else: As[ty, tx] = 0.0`.",
    ),
)

FLOAT64 = Diagnostic(
    name="float64-arithmetic",
    severity="note",
    headline="`acc` is a float64, so each multiply-add runs at 1/64 of the float32 rate",
    frame=Frame(PATH, Label(Span(28, 5, 28, 14), "a float64 literal"), None, ((28, "    acc = 0.0"),)),
)

UNCOALESCED = Diagnostic(
    name="uncoalesced-access",
    severity="warning",
    headline="neighbouring threads read A[row, k] 160 bytes apart",
    frame=Frame(
        PATH, Label(Span(34, 26, 34, 39), ""), None, ((34, "            As[ty, tx] = A[row, a_col]"),)
    ),
)


def shape(family: str, m: int, n: int, k: int, *, shown: bool = False, wrong: int = 0) -> ShapeResult:
    return ShapeResult(family, {"M": m, "N": n, "K": k}, shown, passed=not wrong, wrong=wrong, elements=m * n)


def families(*, broken: bool) -> tuple[FamilyResult, ...]:
    shown = (
        shape("shown", 64, 64, 64, shown=True),
        shape("shown", 50, 37, 64, shown=True),
        shape("shown", 50, 37, 40, shown=True, wrong=1850 if broken else 0),
    )
    out = [FamilyResult("shown", 2 if broken else 3, 3, shown)]
    for name in ("aligned", "ragged_m", "ragged_n", "ragged_k", "all_ragged", "k_below_tile", "one_row"):
        bad = broken and name in {"ragged_k", "all_ragged", "k_below_tile"}
        shapes = tuple(shape(name, 48 + i, 32 + i, 10 + i, wrong=1 if bad else 0) for i in range(2))
        out.append(FamilyResult(name, 0 if bad else 2, 2, shapes))
    return tuple(out)


FAIL = Report(
    exercise="02_ragged_dims",
    title="Ragged dimensions",
    kind="kernel",
    path=PATH,
    outcome=Outcome.FAIL,
    points=35,
    possible=100,
    reason="stale-shared-read in line 41",
    settings={"TILE": 16},
    families=families(broken=True),
    checks=(
        CheckResult("result", 20, 40, passed=False, detail="10 of 17 shapes are right"),
        CheckResult("hazards", 15, 30, passed=False, detail="stale words reach the output on 7 shapes"),
        CheckResult("bounds", 0, 20, passed=True, detail=""),
    ),
    questions=(
        QuestionResult(
            "q1", "Why did the M, N-ragged shape pass?", "missing", 0, 10, message="no answer", line=60
        ),
    ),
    diagnostics=(STALE, UNCOALESCED, FLOAT64),
    seconds=0.25,
)

PASS = Report(
    exercise="02_ragged_dims",
    title="Ragged dimensions",
    kind="kernel",
    path=PATH,
    outcome=Outcome.PASS,
    points=92.5,
    possible=100,
    pending=7.5,
    settings={"TILE": 16},
    families=families(broken=False),
    checks=(
        CheckResult("result", 40, 40, passed=True, detail="17 of 17 shapes are right"),
        CheckResult("hazards", 30, 30, passed=True, detail="no race, no divergent barrier"),
    ),
    questions=(
        QuestionResult("q1", "Why did the M, N-ragged shape pass?", "right", 22.5, 22.5),
        QuestionResult("q2", "What does an unguarded store do?", "needs review", 0, 7.5, pending=7.5),
    ),
    diagnostics=(FLOAT64,),
    notes=("the import of matplotlib is ignored",),
    seconds=0.5,
)

NOT_STARTED = Report(
    exercise="01_tiled_matmul",
    title="Tiled matrix multiply",
    kind="kernel",
    path="exercises/01_tiled_matmul.py",
    outcome=Outcome.FAIL,
    possible=100,
    status="not started",
    reason="Nothing between the markers has been written yet.",
)

CANNOT_JUDGE = Report(
    exercise="02_ragged_dims",
    title="Ragged dimensions",
    kind="kernel",
    path=PATH,
    outcome=Outcome.CANNOT_JUDGE,
    possible=100,
    reason="the machine does not run `cuda.shfl_sync` (line 30)",
    diagnostics=(
        Diagnostic(
            "unsupported-construct",
            "error",
            "`cuda.shfl_sync` is not a construct that the grader can judge",
            Frame(
                PATH, Label(Span(30, 9, 30, 34), "here"), None, ((30, "    v = cuda.shfl_sync(mask, v, 0)"),)
            ),
        ),
    ),
)

HARNESS_FAULT = Report(
    exercise="02_ragged_dims",
    title="Ragged dimensions",
    kind="kernel",
    path=PATH,
    outcome=Outcome.HARNESS_FAULT,
    possible=100,
    reason="the grader failed",
    fault=Fault("IndexError: list index out of range", "Traceback (most recent call last):\n  ..."),
)

ALL = {
    "fail": FAIL,
    "pass": PASS,
    "not_started": NOT_STARTED,
    "cannot_judge": CANNOT_JUDGE,
    "harness_fault": HARNESS_FAULT,
}
