from __future__ import annotations

from grader.diagnosis.barrier_place import Place, between
from tests.unit.diagnosis.examples import TILED, edited, place

LINES = tuple(TILED.splitlines())


def test_between_store_and_loop_that_reads() -> None:
    text = edited("        cuda.syncthreads()\n        for k", "        for k")
    found = between(tuple(text.splitlines()), place(text, "As[ty, tx]"), place(text, "As[ty, k]"))
    assert found == Place(after=25)


def test_store_that_follows_in_the_next_round_needs_it_at_the_loops_end() -> None:
    text = edited("Bs[k, tx]\n        cuda.syncthreads()\n", "Bs[k, tx]\n")
    found = between(tuple(text.splitlines()), place(text, "As[ty, k]"), place(text, "As[ty, tx]"))
    assert found == Place(after=28, loop="for t in range((K + TILE - 1) // TILE):")


def test_place_under_an_if_names_its_test() -> None:
    text = "def f(s, i):\n    if i < 4:\n        s[i] = 1\n        x = s[i + 1]\n"
    found = between(tuple(text.splitlines()), place(text, "s[i]"), place(text, "s[i + 1]"))
    assert found == Place(after=3, test="i < 4")


def test_one_statement_cannot_be_split() -> None:
    text = "def f(s, i):\n    s[i] = s[i + 1]\n"
    found = between(tuple(text.splitlines()), place(text, "s[i + 1]"), place(text, "s[i]"))
    assert found == Place(after=2, same_statement=True)


def test_two_branches_of_an_if_have_no_place_between_them() -> None:
    text = "def f(s, i):\n    if i < 4:\n        s[i] = 1\n    else:\n        x = s[0]\n"
    found = between(tuple(text.splitlines()), place(text, "s[i]"), place(text, "s[0]"))
    assert found is None


def test_missing_span_or_text_gives_none() -> None:
    assert between(LINES, None, place(TILED, "As[ty, k]")) is None
    assert between((), place(TILED, "As[ty, k]"), place(TILED, "As[ty, tx]")) is None


DEVICE = """\
@cuda.jit(device=True)
def mult(P, k, acc):
    for k in range(16):
        acc += P[k]
    return acc


@cuda.jit
def f(a, n):
    s = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    for r in range(n):
        s[t] = a[r, t]
        cuda.syncthreads()
        acc = mult(s, r, acc)
    a[0, t] = acc
"""


def test_an_access_in_a_device_function_is_placed_at_its_call() -> None:
    found = between(tuple(DEVICE.splitlines()), place(DEVICE, "P[k]"), place(DEVICE, "s[t]"))
    assert found == Place(after=15, loop="for r in range(n):")


def test_nothing_is_placed_after_a_return() -> None:
    text = "def f(s, i):\n    for k in range(4):\n        s[i] = 1\n        return s[i + 1]\n"
    assert between(tuple(text.splitlines()), place(text, "s[i + 1]"), place(text, "s[i]")) is None


TREE = """\
def total(sh, out):
    t = cuda.threadIdx.x
    step = 128
    while step > 0:
        if t < step:
            sh[t] += sh[t + step]
        step //= 2
    out[0] = sh[0]
"""


def test_one_statement_in_two_rounds_needs_a_barrier_at_the_loops_end() -> None:
    read, write = place(TREE, "sh[t + step]"), place(TREE, "sh[t]")
    found = between(tuple(TREE.splitlines()), write, read, rounds_apart=1)
    assert found == Place(after=7, loop="while step > 0:")


def test_no_barrier_is_put_into_an_if_that_part_of_a_block_takes() -> None:
    read, write = place(TREE, "sh[t + step]"), place(TREE, "sh[t]")
    found = between(tuple(TREE.splitlines()), read, write)
    assert found == Place(after=6, same_statement=True, split=5)


def test_a_test_on_the_sizes_is_the_same_for_all_threads() -> None:
    text = TREE.replace("if t < step:", "if step < 9:")
    found = between(tuple(text.splitlines()), place(text, "sh[t + step]"), place(text, "sh[t]"))
    assert found == Place(after=6, same_statement=True)
