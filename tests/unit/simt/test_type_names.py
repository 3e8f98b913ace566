"""The names of types, where they come from, and what a star brings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from grader.simt import launch, parse, type_names
from grader.simt.plan import Plan, plan

SOURCES = [
    ("from numba import f4", "f4"),
    ("import numba as nb", "nb.f4"),
    ("from numba import types", "types.f4"),
    ("from numba import types as t", "t.np_float32"),
    ("import numba.core.types as t", "t.float32"),
    ("from numba.core import types", "types.float32"),
    ("import numba", "numba.core.types.float32"),
    ("import numba", "numba.cuda.types.c_float32"),
    ("from numba.cuda import float32", "float32"),
    ("from numba.cuda import f4 as real", "real"),
    ("from numba.cuda import types", "types.float32"),
    ("import numba.cuda", "numba.cuda.float32"),
    ("", "cuda.float32"),
    ("", "cuda.f4"),
    ("", "cuda.np.float32"),
    ("import numpy as np", "np.single"),
    ("import numpy as np", "np.dtype('f4').type"),
    ("import cupy as cp", "cp.float32"),
    ("from cupy import float32", "float32"),
    ("from numba import *", "float32"),
    ("from numba.types import *", "f4"),
    ("from numba.core.types import *", "float32"),
    ("from numba.cuda import *", "float32"),
    ("from numba.cuda import *", "np.float32"),
    ("from numpy import *", "float32"),
    ("try:\n    import cupy as cp\nexcept ImportError:\n    cp = None", "cp.float32"),
    ("", "'f4'"),
    ("", "'<f4'"),
    ("", "'float32'"),
    ("", "'f'"),
    ("", "'single'"),
]


def text(before: str, dtype: str, value: str = "0.1") -> str:
    return (
        f"{before}\nfrom numba import cuda\n@cuda.jit\ndef kernel(out):\n"
        f"    s = cuda.shared.array(2, dtype={dtype})\n    s[0] = {value}\n    out[0] = s[0]\n"
    )


@pytest.mark.parametrize(("before", "dtype"), [one for one in SOURCES if "dtype(" not in one[1]])
def test_where_float32_comes_from(before: str, dtype: str) -> None:
    out = np.zeros(1)
    run = launch(text(before, dtype), "kernel", grid=1, block=1, args=(out,))
    assert (run.errors, out[0]) == ((), float(np.float32(0.1)))


@pytest.mark.parametrize(
    ("before", "name"), [one for one in SOURCES if one[1][0] != "'" and "dtype(" not in one[1]]
)
def test_a_cast_to_float32(before: str, name: str) -> None:
    source = f"{before}\nfrom numba import cuda\n@cuda.jit\ndef kernel(out):\n    out[0] = {name}(0.1)\n"
    run = launch(source, "kernel", grid=1, block=1, args=(out := np.zeros(1),))
    assert (run.errors, out[0]) == ((), float(np.float32(0.1)))


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("nb.byte", 255),  # numba's has no sign,
        ("np.byte", -1),  # NumPy's has one
        ("nb.char", -1),
        ("nb.i2", -1),
        ("nb.u2", 2**16 - 1),
        ("nb.uintc", 2**32 - 1),
        ("nb.size_t", 2**64 - 1),
        ("nb.ssize_t", -1),
        ("np.ubyte", 255),
        ("np.longlong", -1),
        ("'u1'", 255),
        ("'H'", 2**16 - 1),
        ("'int8'", -1),
        ("nb.b1", 1),
    ],
)
def test_short_names_of_whole_numbers(dtype: str, wanted: int) -> None:
    run = launch(
        text("import numba as nb, numpy as np", dtype, "-1"),
        "kernel",
        grid=1,
        block=1,
        args=(out := np.zeros(1),),
    )
    assert (run.errors, out[0]) == ((), float(wanted))


@pytest.mark.parametrize(
    "dtype", ["float", "int", "bool", "'boolean'", "'bfloat16'", "'f4,f4'", "'U4'", "np.str_"]
)
def test_what_is_no_type_of_elements(dtype: str) -> None:
    run = launch(text("import numpy as np", dtype), "kernel", grid=1, block=1, args=(np.zeros(1),))
    assert run.errors[0].facts["rule"] == "dtype"


@pytest.mark.parametrize(
    ("before", "dtype"),
    [
        ("import jax.numpy as jnp", "jnp.float32"),
        ("import torch", "torch.float32"),
        ("from course import *", "float32"),
        ("from numba.cuda.types import *", "dim3"),
        ("from .common import *", "float32"),
        ("", "cuda.bfloat16"),
        ("", "cuda.float32x4"),
    ],
)
def test_what_is_not_known_is_not_judged(before: str, dtype: str) -> None:
    source = text(before, dtype)
    (finding,) = launch(source, "kernel", grid=1, block=1, args=(np.zeros(1),)).errors
    assert finding.name == "unsupported-construct"


def test_a_star_of_an_unknown_module_may_bring_any_name_to_host_code_and_to_a_plan() -> None:
    program = parse(text("from course import *\nHALF = WIDTH // 2", "'f4'", "HALF"))
    (finding,) = launch(program, "kernel", grid=1, block=1, args=(np.zeros(1),)).errors
    assert (finding.name, finding.facts["name"]) == ("unsupported-construct", "HALF")
    found: Any = plan(parse(text("from course import *", "'f4'", "WIDTH")), "kernel")
    assert [one.name for one in found] == ["unsupported-construct"]
    found = plan(parse(text("", "'f4'", "WIDTH")), "kernel")
    assert [one.facts["rule"] for one in found] == ["unknown-name"]


def test_a_star_brings_what_the_module_lists_and_no_more() -> None:
    source = text("from numba import *", "float32").replace("from numba import cuda\n", "")
    assert launch(source, "kernel", grid=1, block=1, args=(np.zeros(1),)).errors
    out = np.zeros(3)
    body = "    out[0] = sqrt(out[1])\n    out[2] = pi\n"
    source = f"from math import *\nfrom numba import cuda\n@cuda.jit\ndef kernel(out):\n{body}"
    out[1] = 2
    assert launch(source, "kernel", grid=1, block=1, args=(out,)).errors == ()
    assert out.tolist() == [math.sqrt(2), 2, math.pi]


def test_a_plan_names_types_where_the_compiler_finds_them() -> None:
    head = "from numba.types import float16\nfrom numba.cuda import f4\nfrom cupy import float64"
    found = plan(parse(text(head, "f4", "float64(float16(1))")), "kernel")
    assert isinstance(found, Plan)
    assert found.functions[0]["globals"] == {
        "cuda": {"module": "numba.cuda"},
        "f4": {"attribute": "numba.f4"},
        "float16": {"attribute": "numba.types.float16"},
        "float64": {"attribute": "numpy.float64"},
    }


def test_the_tables_are_those_of_the_installed_numba() -> None:
    numba = pytest.importorskip("numba")
    assert type_names.STARS["numba"] == set(numba.__all__)
    assert type_names.STARS["numba.types"] == set(numba.types.__all__)
    for name, code in type_names.NUMBA_TYPES.items():
        assert str(getattr(numba.types, name)) == np.dtype(code).name, name
        assert hasattr(numba, name) == (name in type_names.NUMBA), name
