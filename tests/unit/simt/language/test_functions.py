"""Device functions, functions inside kernels, signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

DEVICE = "@cuda.jit(device=True)\n"


def test_keywords_and_defaults(run: Any) -> None:
    out = np.zeros(2)
    before = DEVICE + "def f(x, y=2, z=3):\n    return x + 10 * y + 100 * z\n"
    run("a[0] = f(1)\na[1] = f(1, z=5)", out, before=before)
    assert out.tolist() == [321.0, 521.0]


def test_a_function_inside_a_kernel_sees_its_variables(run: Any) -> None:
    out = np.zeros(4)
    body = """
    t = cuda.threadIdx.x
    scale = 2
    def shifted(x):
        return x * scale + t
    twice = lambda x: shifted(x) * 2
    scale = 3
    a[t] = twice(5)
    """
    assert run(body, out, block=4).errors == ()
    assert out.tolist() == [30.0, 32.0, 34.0, 36.0]


def test_a_literal_argument_may_be_a_shared_shape(run: Any) -> None:
    out = np.zeros(4)
    before = DEVICE + (
        "def reverse(x, n, shape, dtype):\n    s = cuda.shared.array(n, dtype)\n"
        "    u = cuda.shared.array(shape, dtype)\n    t = cuda.threadIdx.x\n"
        "    s[t] = x[t]\n    u[t, 0] = 1\n"
        "    cuda.syncthreads()\n    x[t] = s[n - 1 - t] + u[t, 0]\n"
    )
    out[:] = [1, 2, 3, 4]
    assert run("reverse(a, 4, (4, 2), float32)", out, block=4, before=before).errors == ()
    assert out.tolist() == [5.0, 4.0, 3.0, 2.0]


def test_an_operation_may_be_passed(run: Any) -> None:
    out = np.array([5, 0])
    before = DEVICE + "def apply(f, x, i, v):\n    return f(x, i, v)\n"
    run("a[1] = apply(cuda.atomic.add, a, 0, 3)", out, before=before)
    assert out.tolist() == [8, 5]


def test_a_signature_converts_arguments_and_result(run: Any) -> None:
    out = np.zeros(1)
    before = '@cuda.jit("int32(int32, int32)", device=True)\ndef f(x, y):\n    return (x << 8) | y\n'
    assert run("a[0] = f(b[0], b[1])", out, np.array([2.75, 3.9]), before=before).errors == ()
    assert out[0] == 2 * 256 + 3


def test_recursion_is_not_followed(run: Any) -> None:
    before = DEVICE + "def f(n):\n    if n < 2:\n        return n\n    return f(n - 1) + f(n - 2)\n"
    (finding,) = run("a[0] = f(5)", np.zeros(1), before=before).errors
    assert (finding.name, finding.facts["construct"]) == ("unsupported-construct", "recursion")


def test_a_result_that_may_be_none_is_not_followed(run: Any) -> None:
    before = DEVICE + "def f(n):\n    if n < 2:\n        return None\n    return n\n"
    (finding,) = run("a[0] = f(5)", np.zeros(1), before=before).errors
    assert finding.facts["construct"] == "optional-result"


def test_a_plain_function_is_refused(run: Any) -> None:
    (finding,) = run("a[0] = f(5)", np.zeros(1), before="def f(n):\n    return n\n").errors
    assert finding.facts["rule"] == "plain-function"


def test_a_constant_decides_which_branch_is_compiled(run: Any) -> None:
    out = np.zeros(1)
    before = "FAST = False\n"
    assert (
        run(
            "if FAST:\n    a.nonsense()\nelse:\n    a[0] = 1\nif not FAST:\n    a[0] += 2", out, before=before
        ).errors
        == ()
    )
    assert out[0] == 3


def test_a_kernels_signature_reads_bytes_as_its_own_type(run: Any) -> None:
    data = np.array([-1, 3], np.int32)
    out = np.zeros(2, np.int64)
    run("b[0] = a[0]\na[1] = 2**32 - 2", data, out, jit='@cuda.jit("void(uint32[:], int64[:])")')
    assert out[0] == 2**32 - 1
    assert data[1] == -2


@pytest.mark.parametrize("wanted", ["int64[:]", "int32[:, :]", "int32"])
def test_a_kernels_signature_refuses_another_layout(run: Any, wanted: str) -> None:
    (finding,) = run("pass", np.zeros(2, np.int32), jit=f'@cuda.jit("void({wanted})")').errors
    assert (finding.name, finding.facts["rule"]) == ("type-error", "argument-type")


@pytest.mark.parametrize(
    ("wanted", "order", "taken"),
    [
        ("float64[:, ::1]", "C", True),
        ("float64[:, :]", "C", True),
        ("float64[::1, :]", "C", False),
        ("float64[::1, :]", "F", True),
        ("float64[:, :]", "F", True),
        ("float64[:, ::1]", "F", False),
    ],
)
@pytest.mark.parametrize("written", ['@cuda.jit("void({})")', "@cuda.jit([({},)])", "@cuda.jit(({},))"])
def test_a_kernels_signature_says_in_which_order_elements_lie(
    run: Any, wanted: str, order: str, taken: bool, written: str
) -> None:
    out = np.zeros((2, 3), order=order)  # type: ignore[call-overload]
    errors = run("a[1, 2] = 5", out, jit=written.format(wanted)).errors
    assert [(one.name, one.facts["rule"]) for one in errors] == (
        [] if taken else [("type-error", "argument-type")]
    )
    assert out[1, 2] == (5 if taken else 0)
    if not taken:
        other = "F" if order == "C" else "C"
        facts = errors[0].facts
        assert (facts["got"], facts["wanted"]) == (
            f"array(float64, 2d, {order})",
            f"array(float64, 2d, {other})",
        )


@pytest.mark.parametrize("given", ["a", "b"])
def test_a_device_functions_signature_names_its_arrays(run: Any, given: str) -> None:
    before = '@cuda.jit("float64(float64[:])", device=True)\ndef f(x):\n    return x[0]\n'
    errors = run(f"a[1] = f({given})", np.full(2, 3.0), np.zeros(2, np.float32), before=before).errors
    assert [one.facts["rule"] for one in errors] == ([] if given == "a" else ["argument-type"])


def test_a_kernels_signature_converts_numbers(run: Any) -> None:
    out = np.zeros(3)
    jit = '@cuda.jit("void(float64[:], int32, bool, complex128)")'
    run("a[0] = b / 2\na[1] = c + 1\na[2] = d.real", out, 7.9, True, 4.5, jit=jit)
    assert out.tolist() == [3.5, 2.0, 4.5]
