from __future__ import annotations

import pytest

from grader.diagnosis import guards
from grader.diagnosis.source import definition
from tests.unit.diagnosis.examples import place


def kernel(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"from numba import cuda\n\n\n@cuda.jit\ndef f(a, b, n, m):\n    i = cuda.grid(1)\n{lines}"


def around(body: str, code: str = "a[i]") -> tuple[str, ...]:
    text = kernel(body)
    return guards.around(tuple(text.splitlines()), place(text, code))


@pytest.mark.parametrize(
    ("body", "tests"),
    [
        ("b[0] = a[i]", ()),
        ("if i < n:\n    b[0] = a[i]", ("i < n",)),
        ("if i < n:\n    b[0] = 0\nelse:\n    b[0] = a[i]", ("not (i < n)",)),
        ("b[0] = a[i] if i < n and m > 0 else 0", ("i < n and m > 0",)),
        ("b[0] = 0 if i >= n else a[i]", ("not (i >= n)",)),
        ("if i < n and m > 0 and a[i] > 0:\n    b[0] = 1", ("i < n", "m > 0")),
        ("if i >= n or a[i] > 0:\n    b[0] = 1", ("not (i >= n)",)),
        ("if i < n:\n    if m > 0:\n        b[0] = a[i]", ("i < n", "m > 0")),
        ("while i < n:\n    b[0] = a[i]\n    i += 1", ("i < n",)),
        ("while i < n:\n    if m > 0:\n        b[0] = a[i]\n    i += 1", ("m > 0",)),
        ("while True:\n    b[0] = a[i]\n    break", ()),
        ("if a[i] > 0:\n    b[0] = 1", ()),
    ],
)
def test_what_has_to_be_true_for_a_read(body: str, tests: tuple[str, ...]) -> None:
    assert around(body) == tests


@pytest.mark.parametrize(
    ("body", "nothing"),
    [
        ("b[0] = a[i]", True),
        ("b[0] = a[i] if i < n else 0", False),
        # Who comes past this line is not said, but some threads do not.
        ("if i >= n:\n    return\nb[0] = a[i]", False),
        ("b[0] = a[i]\nif i >= n:\n    return\nb[1] = 0", True),
    ],
)
def test_a_read_is_unguarded_only_where_nothing_keeps_a_thread_from_it(body: str, nothing: bool) -> None:
    text = kernel(body)
    assert guards.none_at_all(tuple(text.splitlines()), place(text, "a[i]"), "f") is nothing


def test_a_called_function_may_be_guarded_by_its_caller() -> None:
    text = "def f(a, i):\n    return a[i]\n\n\ndef g(a, i, n):\n    if i < n:\n        return f(a, i)\n"
    assert not guards.none_at_all(tuple(text.splitlines()), place(text, "a[i]"), "")


def test_a_store_under_an_index_does_not_define_the_index() -> None:
    text = kernel("b[i] = a[i]")
    assert definition(tuple(text.splitlines()), place(text, "a[i]"), "i") == (6, "i = cuda.grid(1)")


def test_a_statement_does_not_define_what_it_reads() -> None:
    text = kernel("i = a[i]")
    assert definition(tuple(text.splitlines()), place(text, "a[i]"), "i") == (6, "i = cuda.grid(1)")
