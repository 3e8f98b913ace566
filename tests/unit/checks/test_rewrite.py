from __future__ import annotations

import ast

from grader.checks.rewrite import Edit
from grader.records import Span
from grader.simt import Program, parse

KERNEL = """\
@cuda.jit
def product(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    if row >= M or col >= N:
        return
    for t in range(K // TILE):
        if row < M and a_col < K:
            As[ty, tx] = A[row, a_col]
        for k in range(TILE):
            acc += As[ty, k] * B[k, tx]
    C[row, col] = acc
"""


def span(line: int, text: str) -> Span:
    column = KERNEL.splitlines()[line - 1].index(text) + 1
    return Span(line, column, line, column + len(text))


def edit() -> Edit:
    return Edit(parse(KERNEL), "product")


def lines(changed: Edit) -> list[str]:
    return ast.unparse(changed.program().tree).splitlines()


def unchanged(program: Program) -> bool:
    return program.text == KERNEL and ast.unparse(program.tree) == ast.unparse(ast.parse(KERNEL))


def test_a_barrier_goes_between_two_accesses_and_at_the_end_of_their_loop() -> None:
    change = edit()
    write, read = span(8, "As[ty, tx]"), span(10, "As[ty, k]")
    places = [(len(block), place) for block, place in change.barrier_places(write, read)]
    assert places[:3] == [(2, 1), (2, 2), (2, 2)]
    block, place = next(change.barrier_places(write, read))
    block.insert(place, change.barrier())
    text = lines(change)
    at = text.index("        cuda.syncthreads()")
    assert text[at + 1] == "        for k in range(TILE):"


def test_a_barrier_for_a_later_overwrite_ends_the_loop() -> None:
    change = edit()
    block, place = next(change.barrier_places(span(10, "As[ty, k]"), span(8, "As[ty, tx]")))
    block.insert(place, change.barrier())
    text = lines(change)
    assert text.index("        cuda.syncthreads()") == text.index("    C[row, col] = acc") - 1


def test_the_kernels_own_spelling_of_a_barrier_is_used() -> None:
    change = Edit(parse("def product():\n    nb.syncthreads()\n"), "product")
    assert ast.unparse(change.barrier()) == "nb.syncthreads()"


def test_a_guard_gets_a_zero() -> None:
    change = edit()
    assert change.fill_zero(span(7, "row < M and a_col < K"))
    text = lines(change)
    at = text.index("        else:")
    assert text[at + 1] == "            As[ty, tx] = 0"


def test_a_store_gets_a_guard() -> None:
    change = edit()
    assert change.guard_store(span(11, "C[row, col]"))
    assert lines(change)[-2:] == [
        "    if row >= 0 and row < C.shape[0] and (col >= 0) and (col < C.shape[1]):",
        "        C[row, col] = acc",
    ]


def test_a_load_gets_a_guard() -> None:
    change = edit()
    assert change.guard_load(span(8, "A[row, a_col]"))
    wanted = "As[ty, tx] = A[row, a_col] if row >= 0 and row < A.shape[0] and (a_col >= 0)"
    assert any(wanted in line for line in lines(change))


def test_threads_that_return_are_kept_and_still_load() -> None:
    change = edit()
    assert change.keep_threads(span(5, "return"))
    text = lines(change)
    assert "    _inside_ = not (row >= M or col >= N)" in text
    assert text[-2:] == ["    if _inside_:", "        C[row, col] = acc"]
    assert "            As[ty, tx] = A[row, a_col]" in text


def test_threads_that_return_may_put_zeros_into_shared_memory() -> None:
    change = edit()
    assert change.keep_threads(span(5, "return"), loads=True)
    text = lines(change)
    assert "    _inside_ = not (row >= M or col >= N)" in text
    assert text[-2:] == ["    if _inside_:", "        C[row, col] = acc"]
    at = text.index("            if _inside_:")
    assert text[at + 1 : at + 4] == [
        "                As[ty, tx] = A[row, a_col]",
        "            else:",
        "                As[ty, tx] = 0",
    ]


def test_a_barrier_leaves_its_branch() -> None:
    text = "def product(n):\n    if n > 1:\n        a = 1\n        cuda.syncthreads()\n        b = 2\n"
    change = Edit(parse(text), "product")
    assert change.lift_barrier(Span(4, 9, 4, 27))
    assert lines(change) == [
        "def product(n):",
        "    if n > 1:",
        "        a = 1",
        "    cuda.syncthreads()",
        "    if n > 1:",
        "        b = 2",
    ]


def test_an_edit_leaves_the_program_as_it_was() -> None:
    program = parse(KERNEL)
    change = Edit(program, "product")
    assert change.guard_store(span(11, "C[row, col]"))
    assert unchanged(program)
    assert unchanged(parse(KERNEL))


def test_a_place_that_is_not_there_changes_nothing() -> None:
    change = edit()
    nowhere = Span(40, 1, 40, 5)
    assert not change.guard_store(nowhere)
    assert not change.guard_load(nowhere)
    assert not change.fill_zero(nowhere)
    assert not change.keep_threads(nowhere)
    assert not change.lift_barrier(nowhere)
    assert list(change.barrier_places(nowhere, None)) == []
    assert lines(change) == ast.unparse(ast.parse(KERNEL)).splitlines()


CALLS = """\
@cuda.jit
def fill(tile, source, k0):
    tile[ty, tx] = source[ty, k0 + tx]

@cuda.jit
def multiply(left, right, acc):
    for k in range(TILE):
        acc += left[ty, k] * right[k, tx]
    return acc

@cuda.jit
def product(A, B, C):
    for k0 in range(0, K, TILE):
        fill(As, A, k0)
        fill(Bs, B, k0)
        acc = multiply(As, Bs, acc)
    C[row, col] = acc
"""


def in_calls(line: int, code: str) -> Span:
    column = CALLS.splitlines()[line - 1].index(code) + 1
    return Span(line, column, line, column + len(code))


def test_an_access_in_a_device_function_is_where_the_kernel_calls_it() -> None:
    write, read = in_calls(3, "tile[ty, tx]"), in_calls(8, "left[ty, k]")
    change = Edit(parse(CALLS), "product")
    before_reads = [(len(block), place) for block, place in change.barrier_places(write, read)]
    assert before_reads[0] == (3, 2)
    after_reads = [(len(block), place) for block, place in change.barrier_places(read, write)]
    assert after_reads[0] == (3, 3)
    block, place = next(change.barrier_places(read, write))
    block.insert(place, change.barrier())
    text = lines(change)
    assert text.index("        cuda.syncthreads()") == text.index("    C[row, col] = acc") - 1


def test_two_accesses_of_one_device_function_are_parted_inside_it_first() -> None:
    write, read = in_calls(3, "tile[ty, tx]"), in_calls(3, "source[ty, k0 + tx]")
    change = Edit(parse(CALLS), "product")
    places = list(change.barrier_places(read, write))
    assert [len(block) for block, _ in places[:2]] == [1, 1]
    assert any(len(block) == 3 for block, _ in places[2:])
