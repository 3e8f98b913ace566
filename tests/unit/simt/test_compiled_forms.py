"""Names, ``:=``, NumPy's functions, loops, slices and stars, as numba-cuda 0.30 compiles them for sm_90.

The compiler itself is the oracle for what is refused, numba's simulator and Python for the values: the
tables were made with them, and where the compiler is installed a part of each is compared with it again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.gpu.compile import compile_check, compile_reason
from grader.simt import launch, parse
from grader.simt.plan import Plan, plan

HEAD = "import math\nimport numba\nimport numpy as np\nfrom numba import cuda, float32, int16, int32\n"
DEVICE = "@cuda.jit(device=True)\ndef f(x, y, z=2):\n    return 100 * x + 10 * y + z\n"
SIZE = 16
N = 4


def text(body: str, before: str = "") -> str:
    lines = ["t = cuda.threadIdx.x", *body.splitlines()]
    inner = "".join(f"    {line}\n" for line in lines)
    return f"{HEAD}{DEVICE}{before}\n@cuda.jit\ndef kernel(out, n):\n{inner}"


def result(body: str, before: str = "", block: int = 1) -> tuple[list[float] | None, str]:
    """``out`` after the launch, or None, and the rule that is broken or what is not followed."""
    out = np.zeros(SIZE)
    run = launch(text(body, before), "kernel", grid=1, block=block, args=(out, N))
    facts = run.errors[0].facts if run.errors else {}
    return (None if run.errors else out.tolist()), str(facts.get("rule", facts.get("construct", "")))


#: What stands in a kernel after ``from numba.cuda import NAME``, and whether it compiles.
IMPORTED = {
    "threadIdx": ("out[0] = threadIdx.x", False),
    "blockDim": ("out[0] = blockDim.x", False),
    "laneid": ("out[0] = laneid", False),
    "warpsize": ("out[0] = warpsize", False),
    "shared": ("s = shared.array(4, int32)", False),
    "local": ("s = local.array(4, int32)", False),
    "atomic": ("atomic.add(out, 0, 1)", False),
    "syncwarp": ("syncwarp()", False),
    "threadfence": ("threadfence()", False),
    "fma": ("out[0] = fma(1.0, 2.0, 3.0)", False),
    "selp": ("out[0] = selp(n > 1, 1, 2)", False),
    "popc": ("out[0] = popc(n)", False),
    "activemask": ("out[0] = activemask()", False),
    "match_any_sync": ("out[0] = match_any_sync(-1, n)", False),
    "nanosleep": ("nanosleep(32)", False),
    "synchronize": ("synchronize()", False),
    "syncthreads": ("syncthreads()", True),
    "syncthreads_count": ("out[0] = syncthreads_count(1)", True),
    "grid": ("out[0] = grid(1)", True),
    "gridsize": ("out[0] = gridsize(1)", True),
    "shfl_sync": ("out[0] = shfl_sync(1, n, 0)", True),
    "ballot_sync": ("out[0] = ballot_sync(1, True)", True),
    "ldcg": ("out[0] = ldcg(out, 1)", True),
    "int64": ("out[0] = int64(1.5)", True),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_a_name_of_numba_cuda_on_its_own(name: str) -> None:
    body, compiles = IMPORTED[name]
    values, rule = result(body, f"from numba.cuda import {name}\n")
    assert (values is not None, rule) == (compiles, "" if compiles else "untyped-global")


@pytest.mark.parametrize(
    ("before", "body", "rule"),
    [
        ("s = cuda.shared", "a = s.array(4, int32)", "untyped-global"),
        ("add = cuda.atomic.add", "add(out, 0, 1)", "untyped-global"),
        ("T = (math.sqrt, 1)", "out[0] = T[1]", "untyped-global"),
        ("from math import gcd", "out[0] = gcd(n, 2)", "untyped-global"),
        ("", "for i in reversed(range(3)):\n    out[i] = i", "untyped-global"),
        ("", "cuda.synchronize()", "unknown-attribute"),
        ("", "for i in numba.prange(3):\n    out[i] = i", "unknown-attribute"),
        ("T = (int32, float32)", "out[0] = T[0](1.5)", ""),
        ("from math import sqrt", "out[0] = sqrt(4.0)", ""),
        ("", "s = cuda.threadIdx\nout[0] = s.x", ""),
        ("import numba.cuda as q", "out[0] = q.threadIdx.x", ""),
        ("from numba.cuda import types", "out[0] = types.int32(1.5)", ""),
    ],
)
def test_what_else_a_name_holds(before: str, body: str, rule: str) -> None:
    assert result(body, before + "\n")[1] == rule


def test_the_advice_names_the_way_that_compiles() -> None:
    source = text("s = shared.array(4, int32)", "from numba.cuda import shared\n")
    (finding,) = launch(source, "kernel", grid=1, block=1, args=(np.zeros(SIZE), N)).errors
    assert (finding.facts["name"], finding.facts["wanted"]) == ("shared", "cuda.shared")


#: ``:=`` in a kernel; None where numba refuses it, else what ``out`` begins with. The same on 3.11 and 3.13.
WALRUS: dict[str, list[float] | None] = {
    "if (a := 3 * t) < n:\n    out[a] = 1": None,
    "if (a := t) < n:\n    out[a] = 1": [1],
    "if t < n and (a := t + 1) < n:\n    out[a] = 1": None,
    "if t < n and (a := n) > 0:\n    out[a] = 1": [0, 0, 0, 0, 1],
    "if (a := 3) < n:\n    out[a] = 1": None,
    "if (a := cuda.threadIdx.x) < n:\n    out[a] = 1": None,
    "if (a := out[0]) < n:\n    out[0] = 1": None,
    "i = 0\nwhile (i := i + 1) < n:\n    out[i] = i": None,
    "i = 0\nwhile (a := i) < n:\n    out[a] = i\n    i += 1": [0, 1, 2, 3],
    "if (a := t < n):\n    out[0] = a": None,
    "if (a := 0 < n < 9):\n    out[0] = a": [1],
    "if (a := (t < n and n > 1)):\n    out[0] = a": [1],
    "if (a := (5 if n > 1 else 6)) > n:\n    out[0] = a": [5],
    "(a := 3 * n)\nout[0] = a": [12],
    "b = (a := 3 * n)\nout[0] = a + b": [24],
    "b = (a := (c := 3 * n))\nout[0] = a + b + c": [36],
    "if (a := (c := 3 * n)) > 1:\n    out[0] = a + c": None,
    "if (a := (c := n)) > 1:\n    out[0] = a + c": [8],
    "out[0] = (a := 3 * n)\nout[1] = a": [12, 12],
    "b, c = (a := 3 * n), 1\nout[0] = a + b + c": [25],
    "b, c, d, e = (a := 3 * n), 1, 2, 3\nout[0] = a": None,
    "p = ((a := 3 * n), 1)\nout[0] = a": None,
    "out[0] += (a := 3 * n)": None,
    "for i in range((a := 3 * n)):\n    out[0] = a": None,
    "g = lambda z: (a := 2 * z)\nout[0] = g(n)": None,
    "g = lambda z: (a := z) + 1\nout[0] = g(n)": [5],
}


@pytest.mark.parametrize("body", WALRUS)
def test_an_assignment_inside_an_expression(body: str) -> None:
    values, rule = result(body)
    wanted = WALRUS[body]
    assert rule == ("walrus" if wanted is None else "")
    if wanted is not None:
        assert values is not None
        assert values[: len(wanted)] == wanted


ONE = "sqrt ceil floor trunc exp exp2 expm1 log1p cbrt fabs abs isinf isfinite rint sign square negative"
TWO = "add subtract multiply floor_divide mod remainder power fmod copysign nextafter"


@pytest.mark.parametrize("name", ONE.split())
def test_a_function_of_numpy_that_kernels_do_not_have(name: str) -> None:
    assert result(f"out[0] = np.{name}(n / 3)") == (None, "numpy-function")


@pytest.mark.parametrize("name", TWO.split())
def test_a_function_of_two_numbers_that_kernels_do_not_have(name: str) -> None:
    assert result(f"out[0] = np.{name}(n / 3, 2.0)") == (None, "numpy-function")


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("np.log(int16(3))", np.log(np.float32(3))),
        ("np.log(int32(3))", np.log(np.float64(3))),
        ("np.sin(True)", np.sin(np.float32(1))),
        ("np.arctan2(float32(1), n)", np.arctan2(np.float32(1), np.float32(4))),
        ("np.hypot(n, int32(3))", 5.0),
        ("np.divide(float32(1), 3)", np.float32(1) / np.float32(3)),
        ("np.divide(1, 0)", np.inf),
        ("np.true_divide(int16(1), int16(3))", np.float32(1) / np.float32(3)),
        # numba lets a whole number of any width into a float32.
        ("np.minimum(16777217, float32(2e9))", 16777216.0),
        ("np.maximum(n, 2.5)", 4.0),
        ("np.fmin(math.nan, 2.0)", 2.0),
        ("np.isnan(np.minimum(math.nan, 2.0))", 1.0),
        ("np.acos(1.0)", 0.0),
        ("np.deg2rad(180.0)", np.pi),
    ],
)
def test_a_function_of_numpy_has_the_type_that_numba_gives_it(call: str, wanted: float) -> None:
    values, rule = result(f"out[0] = {call}")
    assert rule == ""
    assert values is not None
    assert values[0] == wanted


def test_no_function_of_numpy_takes_a_float16() -> None:
    assert result("out[0] = np.sin(np.float16(1))")[1] == "argument-type"
    assert result("out[0] = np.minimum(np.float16(1), 2)")[1] == "argument-type"


def test_a_complex_argument_that_numba_takes_is_not_followed() -> None:
    assert result("c = np.sin(1j)\nout[0] = c.real") == (None, "complex-function")


LOOPS: dict[str, Any] = {
    "enumerate(range(0, 10, 4))": enumerate(range(0, 10, 4)),
    "enumerate(range(n, 0, -3))": enumerate(range(N, 0, -3)),
    "enumerate(range(n, 12, STEP), 2)": enumerate(range(N, 12, 3), 2),
    "enumerate(range(7, n, 2))": enumerate(range(7, N, 2)),
    "enumerate(range(0, 20, STEP * 2))": enumerate(range(0, 20, 6)),
    "zip(range(n), range(0, 100, 7))": zip(range(N), range(0, 100, 7), strict=False),
    "zip(range(9, 0, -4), (5, 6, 7))": zip(range(9, 0, -4), (5, 6, 7), strict=True),
    "enumerate((4, 5), n)": enumerate((4, 5), N),
}


@pytest.mark.parametrize(("walked", "items"), [(walked, list(items)) for walked, items in LOOPS.items()])
def test_ranges_with_a_step_inside_enumerate_and_zip(walked: str, items: list[tuple[int, int]]) -> None:
    values, rule = result(f"k = 0\nfor i, x in {walked}:\n    out[k] = 100 * i + x\n    k += 1", "STEP = 3\n")
    wanted = [100 * i + x for i, x in items]
    assert rule == ""
    assert values == wanted + [0.0] * (SIZE - len(wanted))


def test_what_a_loop_walks_over_is_evaluated_once() -> None:
    body = "a = 2\ns = n\nfor i, x in enumerate(range(a, 9, 2), s):\n    a += 5\n    s += 7\n    out[x] = i"
    values, rule = result(body)
    assert rule == ""
    assert values is not None
    assert values[:9] == [0, 0, 4, 0, 5, 0, 6, 0, 7]


@pytest.mark.parametrize(
    ("walked", "rule"),
    [
        ("enumerate(range(3), start=1)", "keyword-argument"),
        ("zip(range(3), range(3), strict=True)", "keyword-argument"),
        ("enumerate(range(3), 2.5)", "argument-type"),
        ("enumerate(range(3), 1, 2)", "argument-count"),
        ("enumerate()", "argument-count"),
        ("enumerate([1, 2])", "unsupported-python"),
        ("enumerate(range(0, 9, n))", "stepped-range-in-zip"),
    ],
)
def test_how_numba_does_not_take_a_loop(walked: str, rule: str) -> None:
    assert result(f"for i, x in {walked}:\n    out[i] = x") == (None, rule)


SLICES = [
    "t:t + 1", "t:", ":t", "t::2", "t:0:-1", "-t:", ":-t", "t - 4:t + 20", "t * 3:t * 3 + 2", "12:t", "t:t",
    "100:t:-2", "t:t + t % 3", "t - 100:t - 3", "t:-100:-3", "None:t",
]  # fmt: skip


@pytest.mark.parametrize("part", SLICES)
@pytest.mark.parametrize("memory", ["shared", "local"])
def test_a_slice_that_differs_between_threads_is_filled(part: str, memory: str) -> None:
    threads = 8
    body = (
        f"rows = cuda.{memory}.array(({threads}, {SIZE}), int32)\nrows[t, :] = 1\nrows[t, {part}] = t + 2\n"
        f"for j in range({SIZE}):\n    out[t, j] = rows[t, j]"
    )
    out = np.zeros((threads, SIZE))
    assert launch(text(body), "kernel", grid=1, block=threads, args=(out, N)).errors == ()
    wanted = np.ones((threads, SIZE))
    for t in range(threads):
        exec(f"rows[t, {part}] = t + 2", {"rows": wanted, "t": t})
    assert out.tolist() == wanted.tolist()


def test_filling_a_slice_of_a_neighbour_is_a_race() -> None:
    body = "s = cuda.shared.array(33, int32)\ns[t:t + 2] = t\ncuda.syncthreads()\nout[0] = s[0]"
    out = np.zeros(SIZE)
    found = launch(text(body), "kernel", grid=1, block=32, args=(out, N)).findings
    assert "shared-write-conflict" in {finding.name for finding in found}


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("f(*(1, 2, 3))", 123),
        ("f(1, *(2, 3))", 123),
        ("f(*(1, 2), 3)", 123),
        ("f(*(1, 2))", 122),
        ("f(*(1,), *(2, 3))", 123),
        ("f(*(1, 2), z=4)", 124),
        ("f(*p)", 123),
        ("f(*out.shape, 1)", 100 * SIZE + 12),
        ("max(*p)", 3),
        ("f(*(1, 2, 3, 4))", "argument-count"),
        ("f(*[1, 2, 3])", "unsupported-python"),
        ("f(*out)", "argument-type"),
        ("f(*f)", "starred-argument"),
    ],
)
def test_starred_arguments(call: str, wanted: float | str) -> None:
    values, rule = result(f"p = (1, 2, 3)\nout[0] = {call}")
    assert (values[0] if values else rule) == wanted


def test_each_item_of_a_starred_tuple_is_evaluated_once() -> None:
    out = np.zeros(SIZE)
    run = launch(text("out[5] = f(*(out[0], out[1], out[2]))"), "kernel", grid=1, block=32, args=(out, N))
    assert run.counters.global_load_requests == 3


def test_stars_before_the_parameters_of_other_calls() -> None:
    values, _ = result("for i in range(*(1, n, 2)):\n    cuda.atomic.add(*(out, i, 2))")
    assert values is not None
    assert values[:4] == [0, 2, 0, 2]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a = out.dtype.type(1)\nout[0] = a / 4", 0.25),
        ("k = out.dtype\nout[0] = k.type(3)", 3),
        ("s = cuda.local.array(2, out.dtype)\ns[0] = 1.5\nout[0] = s[0]", 1.5),
        ("s = cuda.local.array(2, out.dtype.type)\ns[0] = 1.5\nout[0] = s[0]", 1.5),
        ("out[0] = out.dtype.itemsize", "unknown-attribute"),
        ("out[0] = out.dtype(1)", "numpy.dtype.float64"),
    ],
)
def test_the_type_of_an_arrays_elements(body: str, wanted: float | str) -> None:
    values, rule = result(body)
    assert (values[0] if values else rule) == wanted


TAKEN = """
out[0] = t < n and out[t] or 0.5
if t < n and out[t]:
    out[1] = real(1)
print('row', t, out[0], (n, 1.5), '-' * 9, f'end')
x = None
x = cuda.syncthreads()
x = f4(1) + numba.types.np_float32(2)
s = cuda.shared.array(4, 'f4')
s[0] = x
out[2] = out.reshape(-1)[t] + out.T[t] + s[0]
"""

COMPILED = {
    text(IMPORTED[name][0], f"from numba.cuda import {name}\n"): IMPORTED[name][1]
    for name in ("shared", "fma", "grid")
} | {
    text("if (a := 3 * t) < n:\n    out[a] = 1"): False,
    text("if (a := t) < n:\n    out[a] = 1"): True,
    text("out[0] = np.ceil(n / 3)"): False,
    text("out[0] = np.hypot(n, 3)"): True,
    text("for i, x in enumerate(range(0, 10, 4)):\n    out[i] = x"): True,
    text("out[t:t + 1] = 0"): True,
    text("out[0] = f(*(1, 2, 3))"): True,
    text("out[0] = out.dtype.type(1)"): True,
    text(
        TAKEN, "from numba.types import *\nfrom math import *\nfrom numba.cuda import float32 as real\n"
    ): True,
    text("print(t, end='')"): False,
    text("print(out)"): False,
    text("s = cuda.shared.array(4, 'boolean')"): False,
    text("x = out.ravel()"): False,
}


@pytest.mark.skipif(bool(compile_reason()), reason="the extra `compile` is not installed")
@pytest.mark.parametrize("source", COMPILED)
def test_the_tables_are_what_the_compiler_says(source: str) -> None:
    found: Any = plan(parse(source), "kernel")
    kinds: list[dict[str, Any]] = [{"dtype": "float64", "ndim": 1, "layout": "C"}, {"dtype": "int64"}]
    assert isinstance(found, Plan), found
    assert bool(compile_check(found.request(), kinds, ["sm_90"], 32).results[0].error) is not COMPILED[source]


@pytest.mark.parametrize("source", COMPILED)
def test_the_machine_refuses_what_the_compiler_refuses(source: str) -> None:
    run = launch(source, "kernel", grid=1, block=1, args=(np.zeros(SIZE), N))
    assert any(one.name == "type-error" for one in run.errors) is not COMPILED[source]
