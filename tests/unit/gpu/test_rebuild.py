"""Rebuilding a planned kernel: its functions alone, with the values that the plan says."""

from __future__ import annotations

import json
import math
from typing import Any

import numba
import numpy as np
import pytest
from numba import cuda

from grader.gpu.rebuild import RebuildError, numba_type, python_functions, rebuild
from grader.simt import parse
from grader.simt.plan import Plan, plan


def request(text: str) -> dict[str, Any]:
    found = plan(parse(text), "kernel", file="mine.py")
    assert isinstance(found, Plan), found
    read: dict[str, Any] = json.loads(json.dumps(found.request()))
    return read


def test_values_arrive_as_they_were() -> None:
    text = """
import math, numpy as np
from numba import cuda, float32
N, F, INF, Z, S, T = 3, 0.5, float("-inf"), 1 + 2j, "float32", (1, (2.5, True))
L, A, W, P = [1, 2], np.array([[1, 2]], np.int16), np.float32(0.1), math.pi
@cuda.jit
def kernel(x):
    x[0] = (N, F, INF, Z, S, T, L, A, W, P, math, cuda, float32)
"""
    (function,) = python_functions(request(text))
    names = function.__globals__
    assert (names["N"], names["F"], names["INF"], names["Z"]) == (3, 0.5, -math.inf, 1 + 2j)
    assert (names["S"], names["T"], names["L"]) == ("float32", (1, (2.5, True)), [1, 2])
    assert type(names["W"]) is np.float32
    assert names["W"] == np.float32(0.1)
    assert names["A"].dtype == np.int16
    assert names["A"].tolist() == [[1, 2]]
    assert names["math"] is math
    assert names["cuda"] is cuda
    assert names["float32"] is numba.float32
    assert names["P"] == math.pi


def test_only_the_defs_are_compiled() -> None:
    text = """
from numba import cuda
raise SystemExit("the module was run")
def loud(f):
    raise SystemExit("a decorator was run")
@cuda.jit(device=True)
def scaled(a, b=2): return a * b
@loud
@cuda.jit
def kernel(x: print("an annotation was evaluated"), n=print("a default was evaluated")) -> print("run"):
    x[0] = scaled(x[1])
"""
    helper, function = python_functions(request(text))
    assert function.__code__.co_firstlineno == 10
    assert function.__code__.co_filename == "mine.py"
    assert function.__defaults__ is None
    assert function.__annotations__ == {}
    assert "kernel" not in function.__globals__
    assert helper(4) == 8


def test_functions_are_linked_to_each_other() -> None:
    text = """
from numba import cuda
def make(n):
    @cuda.jit(device=True, inline="always")
    def f(a):
        return a * n
    return f
two, three = make(2), make(3)
@cuda.jit(fastmath=True, max_registers=64)
def kernel(x):
    x[0] = two(x[1]) + three(x[2])
"""
    kernel = rebuild(request(text))
    names = kernel.py_func.__globals__
    assert (names["two"].py_func(5), names["three"].py_func(5)) == (10, 15)
    assert names["two"].targetoptions["device"] is True
    assert names["two"].targetoptions["inline"] == "always"
    assert kernel.targetoptions["fastmath"] is True
    assert kernel.targetoptions["max_registers"] == 64
    assert kernel.targetoptions["device"] is False


def test_a_name_that_no_module_holds() -> None:
    text = "from numba import cuda, nothing\n\n@cuda.jit\ndef kernel(x):\n    x[0] = nothing\n"
    with pytest.raises(RebuildError) as caught:
        rebuild(request(text))
    assert (caught.value.name, caught.value.line) == ("numba.nothing", 4)


@pytest.mark.parametrize("path", ["os.system", "numba.cuda._api", "numpy.__loader__", "subprocess"])
def test_a_forged_plan_reaches_no_other_module(path: str) -> None:
    forged = request("from numba import cuda\n@cuda.jit\ndef kernel(x):\n    x[0] = 1\n")
    forged["functions"][0]["globals"]["V"] = {"attribute": path}
    with pytest.raises(RebuildError):
        python_functions(forged)


def test_types() -> None:
    assert numba_type({"dtype": "bool"}) is numba.types.boolean
    assert numba_type({"dtype": "int64"}) is numba.types.int64
    described = {"dtype": "float32", "ndim": 2, "layout": "C"}
    assert numba_type(described) == numba.types.Array(numba.types.float32, 2, "C")
