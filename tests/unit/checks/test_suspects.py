"""Single edits that mend: every way to write a kernel gets the diagnosis of the plain one."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.checks.definitions import definitions, names_in, renamed, thread_names
from grader.checks.launching import Launcher
from grader.checks.rewrite import Edit
from grader.checks.suspects import suspects
from grader.simt import parse
from tests.unit.checks.test_repair import KERNEL, RUBRIC, confirmed_text

NAMES = "    tx = cuda.threadIdx.x\n    ty = cuda.threadIdx.y\n"
X, Y = "cuda.threadIdx.x", "cuda.threadIdx.y"


def _named(text: str) -> Callable[[str], str]:
    return lambda kernel: kernel.replace(NAMES, text)


def _direct(kernel: str) -> str:
    tree = ast.parse(kernel.replace(NAMES, ""))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "product":
            body = [ast.parse(renamed_statement(one)).body[0] for one in node.body]
            node.body = body
    return ast.unparse(tree)


def renamed_statement(statement: ast.stmt) -> str:
    names = {"tx": X, "ty": Y}

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse(names[node.id], mode="eval").body if node.id in names else node

    return ast.unparse(Names().visit(ast.parse(ast.unparse(statement))))


def _cast(kernel: str) -> str:
    return "import numpy as np\n" + _named(f"    tx = int({X})\n    ty = np.int32({Y})\n")(kernel)


STYLES: dict[str, Callable[[str], str]] = {
    "plain": _named(NAMES),
    "tuple": _named(f"    tx, ty = {X}, {Y}\n"),
    "list": _named(f"    [ty, tx] = [{Y}, {X}]\n"),
    "nested": _named(f"    (tx, (ty, z)) = ({X}, ({Y}, cuda.threadIdx.z))\n"),
    "annotated": _named(f"    tx: int = {X}\n    ty: int = {Y}\n"),
    "cast": _cast,
    "walrus": _named(f"    first = (tx := {X})\n    second = (ty := {Y})\n"),
    "chained": _named(f"    tx = first = {X}\n    ty = second = {Y}\n"),
    "direct": _direct,
}


def in_style(style: str, *edits: tuple[str, str]) -> str:
    text = KERNEL
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return STYLES[style](text)


@pytest.mark.parametrize("style", STYLES)
def test_a_thread_s_names_are_known_in_every_style(style: str) -> None:
    tree = ast.parse(in_style(style))
    [kernel] = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "product"]
    expected = {"direct": (Y, X), "chained": ("second", "first")}
    assert thread_names([kernel]) in ((expected.get(style, ("ty", "tx"))), ("ty", "tx"))


def test_names_cut_from_one_index_are_a_thread_s_row_and_column() -> None:
    [kernel] = ast.parse("def f():\n    i = cuda.threadIdx.x\n    r, c = i // W, i % W\n").body
    assert isinstance(kernel, ast.FunctionDef)
    assert thread_names([kernel]) == ("r", "c")


def test_a_definition_has_the_value_within_its_cast() -> None:
    found = {
        one.name: ast.unparse(one.value)
        for one in definitions(ast.parse("a, (b, c) = int(x), (np.int64(y + 1), z)\nd: int = abs(w)"))
    }
    assert found == {"a": "x", "b": "y + 1", "c": "z", "d": "abs(w)"}


def test_what_is_unpacked_from_a_call_has_no_value_of_its_own() -> None:
    assert list(definitions(ast.parse("a, b = cuda.grid(2)\n*c, d = 1, 2"))) == []


def test_an_attribute_of_the_launch_is_renamed_as_one_name() -> None:
    assert names_in(ast.parse(f"{Y} * TILE + k", mode="eval")) == [Y, "k"]
    assert renamed(f"{Y} * TILE + k", {Y: X, "k": "j"}) == f"{X} * TILE + j"
    assert renamed("As[, k]", {"k": "j"}) == ""


ROW, PRODUCT = "cuda.blockIdx.y * TILE + ty", "As[ty, k] * Bs[k, tx]"
#: A fault, the text of its line, and what mends it.
FAULTS = {
    "square": ((PRODUCT, "As[ty, k] * As[k, tx]"), "acc +=", "suspect-sum"),
    "one tile": ((PRODUCT, "As[ty, k]"), "acc +=", "suspect-sum"),
    "exchanged tiles": ((PRODUCT, "Bs[ty, k] * As[k, tx]"), "acc +=", "suspect-sum"),
    "row of the tile": ((PRODUCT, "As[tx, k] * Bs[k, tx]"), "acc +=", "suspect-index"),
    "other k": ((PRODUCT, "As[ty, (k + 1) % TILE] * Bs[k, tx]"), "acc +=", "suspect-index"),
    "load and guard": (("t * TILE + tx", "t * TILE + ty"), "= A[", "suspect-index"),
    "load": (("= B[t * TILE + ty", "= B[ty"), "= B[", "suspect-index"),
    "transposed": ((PRODUCT, "As[k, ty] * Bs[k, tx]"), "acc +=", "swap-indices"),
    "transposed right": ((PRODUCT, "As[ty, k] * Bs[tx, k]"), "acc +=", "swap-indices"),
    "row": ((ROW, "cuda.blockIdx.y * TILE + tx"), "row =", "suspect-mirrored"),
}


@pytest.mark.parametrize("style", ["plain", "tuple", "annotated", "cast", "walrus", "direct"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_traced_to_its_line_in_every_style(fault: str, style: str) -> None:
    edit, there, code = FAULTS[fault]
    text = in_style(style, edit)
    found = confirmed_text(text)
    assert found is not None
    assert found.part is None
    [finding], [repair] = found.findings, found.repairs
    assert finding.primary is not None
    assert there in text.splitlines()[finding.primary.line - 1]
    assert repair.code == code


SHARED = "cuda.shared.array((TILE, TILE), float32)"
CLEARED = "    if row < M and col < N:\n        C[row, col] = 0\n"
START = "    acc = float32(0.0)"
BREAK = "            if t * TILE + k >= K - 1:\n                break\n"
UNROLLED = "            acc += As[ty, k] * Bs[k, tx]\n            acc += As[ty, k + 1] * Bs[k + 1, tx]\n"
LOOP = "for t in range((K + TILE - 1) // TILE):"
OWN = {
    "one array under two names": (
        [(f"Bs = {SHARED}", "Bs = As")],
        "Bs = As",
        ("suspect-alias", "cuda.shared.array((TILE, TILE), float32)"),
    ),
    "one part under two names": (
        [
            (
                "As = cuda.shared.array((TILE, TILE), float32)",
                "tiles = cuda.shared.array((2, TILE, TILE), float32)",
            ),
            (f"Bs = {SHARED}", "As, Bs = tiles[0], tiles[0]"),
        ],
        "As, Bs =",
        ("suspect-alias", "tiles[1]"),
    ),
    "a chain of names": (
        [
            ("    As = cuda.shared.array((TILE, TILE), float32)\n", ""),
            ("Bs = cuda", "As = Bs = cuda"),
        ],
        "As = Bs",
        (
            "suspect-alias",
            f"As, Bs = {SHARED}, {SHARED}",
        ),
    ),
    "a limit one short": (
        [
            (
                "            acc +=",
                "            if t * TILE + k >= K - 1:\n                break\n            acc +=",
            )
        ],
        "K - 1",
        ("suspect-test", "K"),
    ),
    "an extent cut": (
        [("    acc = float32(0.0)", "    if M > 5:\n        M = 5\n    acc = float32(0.0)")],
        "if M > 5",
        ("suspect-rebinding", "pass"),
    ),
    "both tiles of half precision": (
        [("float32)", "float16)"), ("import cuda, float32", "import cuda, float16, float32")],
        "As =",
        ("suspect-type", "float32"),
    ),
    "the maximum and not the sum": (
        [("C[row, col] = acc", "cuda.atomic.max(C, (row, col), acc)")],
        "atomic",
        ("suspect-output", "C[row, col] = acc"),
    ),
    "an atomic's indices": (
        [
            (
                "    acc = float32(0.0)",
                "    if row < M and col < N:\n        C[row, col] = 0\n    acc = float32(0.0)",
            ),
            ("C[row, col] = acc", "cuda.atomic.add(C, (col, row), acc)"),
        ],
        "atomic",
        ("swap-indices", ""),
    ),
    "grid and block exchanged": (
        [("return grid, (TILE, TILE)", "return (TILE, TILE), grid")],
        "return",
        ("swap-launch", ""),
    ),
    "threads of one row": (
        [
            ("tx = cuda.threadIdx.x", "tx = cuda.threadIdx.x % TILE"),
            ("ty = cuda.threadIdx.y", "ty = cuda.threadIdx.x // TILE"),
            ("return grid, (TILE, TILE)", "return grid, TILE"),
        ],
        "return",
        ("block-size", "TILE * TILE"),
    ),
    "a value made positive": (
        [("C[row, col] = acc", "C[row, col] = abs(acc)")],
        "abs(acc)",
        ("suspect-output", "acc"),
    ),
    "the axes of a named grid": (
        [("    grid = ((N", "    gx, gy = ((N"), ("return grid,", "return (gy, gx),")],
        "gy, gx",
        ("swap-grid", ""),
    ),
    "an index that stays": (
        [
            (LOOP, "left = K\n    ka, kb = tx, ty\n    while left > 0:"),
            ("t * TILE + tx < K", "tx < left"),
            ("t * TILE + ty < K", "ty < left"),
            ("t * TILE + tx", "ka"),
            ("t * TILE + ty", "kb"),
            (
                "Bs[k, tx]\n        cuda.syncthreads()\n",
                "Bs[k, tx]\n        cuda.syncthreads()\n        left -= TILE\n        kb += TILE\n",
            ),
        ],
        "kb += TILE",
        ("suspect-step", "kb += TILE; ka += TILE"),
    ),
    "clamped and not blanked": (
        [
            (
                "        if row < M and t * TILE + tx < K:\n            As",
                "        if row < M:\n            As",
            ),
            ("A[row, t * TILE + tx]", "A[row, min(t * TILE + tx, K - 1)]"),
            (
                "        if t * TILE + ty < K and col < N:\n            Bs",
                "        if col < N:\n            Bs",
            ),
            ("B[t * TILE + ty, col]", "B[min(t * TILE + ty, K - 1), col]"),
        ],
        "A[row, min",
        ("suspect-blank", "A[row, min(t * TILE + tx, K - 1)] if t * TILE + tx < K else 0"),
    ),
}


@pytest.mark.parametrize("fault", OWN)
def test_a_fault_of_its_own_kind_is_traced_to_its_line(fault: str) -> None:
    edits, there, repair = OWN[fault]
    text = in_style("plain", *edits)
    found = confirmed_text(text)
    assert found is not None
    assert found.part is None
    [finding] = found.findings
    assert finding.primary is not None
    assert there in text.splitlines()[finding.primary.line - 1]
    assert [(one.code, one.text) for one in found.repairs] == [repair]


SYMPTOMS = {
    "guard of another index": (
        [("        if row < M and t * TILE + tx < K:", "        if row < M and t * TILE + ty < K:")],
        ("out-of-bounds-read", "= A["),
        ("suspect-guard", "ty < K", ""),
    ),
    "further than the tile": (
        [
            ("range(TILE)", "range(0, TILE, 1)"),
            ("            acc += As[ty, k] * Bs[k, tx]\n", UNROLLED),
        ],
        ("out-of-bounds-read", "k + 1"),
        ("suspect-range", "range(0, TILE, 1)", "range(0, TILE, 2)"),
    ),
    "a buffer too many": (
        [
            (SHARED, "cuda.shared.array((2, TILE, TILE), float32)"),
            ("As[", "As[t % 3, "),
            ("Bs[", "Bs[t % 3, "),
            (LOOP + "\n", LOOP + "\n        s = t % 3\n"),
            ("[t % 3, ", "[s, "),
        ],
        ("out-of-bounds-write", "As[s"),
        ("suspect-buffers", "s = t % 3", "2"),
    ),
}


@pytest.mark.parametrize("fault", SYMPTOMS)
def test_a_fault_seen_at_an_access_is_mended_where_it_is_made(fault: str) -> None:
    edits, (name, there), (code, line, instead) = SYMPTOMS[fault]
    text = in_style("plain", *edits)
    found = confirmed_text(text)
    assert found is not None
    [finding], [repair] = found.findings, found.repairs
    lines = text.splitlines()
    assert finding.primary is not None
    assert (finding.name, there in lines[finding.primary.line - 1]) == (name, True)
    assert repair.line is not None
    assert (repair.code, repair.text, line in lines[repair.line - 1]) == (code, instead, True)


NAMED = ["wrong-result", "dropped-k-tail", "repeated-k-tail", "unwritten-output", "precision-loss", "symptom"]


def all_sound(text: str, *asked: tuple[str, bool]) -> None:
    """Every suspect of each (name, misplaced) gives Python. What several names suspect is tried once."""
    assert RUBRIC.kernel is not None
    program = parse(text)
    launcher = Launcher(program, RUBRIC.kernel, "test", {"TILE": 4})
    tried = set()
    for name, misplaced in asked:
        for one in suspects(launcher, name, misplaced=misplaced):
            mark = (one.kind, one.span, one.code)
            if mark in tried:
                continue
            tried.add(mark)
            edit = Edit(program, "product", "launch_config")
            if one.apply(edit):
                ast.parse(ast.unparse(edit.tree))


#: All pairs in CI. Elsewhere a third, in which every style meets some faults and every fault some styles.
MET = [
    pytest.param(style, fault, id=f"{style}-{fault}")
    for i, style in enumerate(STYLES)
    for j, fault in enumerate(FAULTS)
    if os.environ.get("CI") or (i + j) % 3 == 0
]


@pytest.mark.parametrize(("style", "fault"), MET)
def test_every_suspect_is_python_in_every_style(style: str, fault: str) -> None:
    edit, _, _ = FAULTS[fault]
    all_sound(in_style(style, edit), *((name, name == "wrong-result") for name in NAMED))


@settings(max_examples=60 if os.environ.get("CI") else 15, deadline=None)
@given(
    style=st.sampled_from(sorted(STYLES)),
    name=st.sampled_from(NAMED),
    gone=st.sets(st.sampled_from(range(len(KERNEL.splitlines()))), max_size=6),
    misplaced=st.booleans(),
)
def test_no_suspect_raises_whatever_is_left_of_a_kernel(
    style: str, name: str, gone: set[int], misplaced: bool
) -> None:
    lines = [line for number, line in enumerate(KERNEL.splitlines()) if number not in gone]
    text = "\n".join(lines) + "\n"
    try:
        ast.parse(text)
        text = STYLES[style](text)
    except SyntaxError:
        return
    if not parse(text).findings and "def product" in text:
        all_sound(text, (name, misplaced))
