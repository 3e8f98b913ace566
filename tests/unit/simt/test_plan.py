"""Plans: what each free name of a kernel holds, and what no plan can hold."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from grader.simt import parse
from grader.simt.free_names import free_names
from grader.simt.plan import MODULES, Plan, plan

HEAD = """import math
import numpy as np
import numba as nb
from numba import cuda, float32, njit
from math import ceil
TILE = 16
"""


def planned(text: str, **constants: Any) -> Plan:
    found = plan(parse(HEAD + text), "kernel", constants)
    assert isinstance(found, Plan), found
    assert json.loads(json.dumps(found.request()))["functions"] == list(found.functions)
    return found


def held(text: str) -> dict[str, Any]:
    return dict(planned(text).functions[-1]["globals"])


def refused(text: str) -> list[tuple[str, dict[str, Any], int]]:
    found = plan(parse(HEAD + text), "kernel")
    assert not isinstance(found, Plan)
    return [(one.name, dict(one.facts), one.primary.line if one.primary else 0) for one in found]


def kernel(*body: str, head: str = "@cuda.jit", parameters: str = "x") -> str:
    return "\n".join([head, f"def kernel({parameters}):", *(f"    {line}" for line in body), ""])


def test_names_of_a_plain_kernel() -> None:
    found = planned(kernel("s = cuda.shared.array((TILE, TILE), float32)", "x[0] = s[0, 0] + ceil(x[1])"))
    (function,) = found.functions
    assert function["name"] == "kernel"
    assert function["kind"] == "kernel"
    assert function["line"] == 8
    assert function["globals"] == {
        "cuda": {"module": "numba.cuda"},
        "TILE": {"value": 16},
        "float32": {"attribute": "numba.float32"},
        "ceil": {"attribute": "math.ceil"},
    }


@pytest.mark.parametrize(
    ("statement", "descriptor"),
    [
        ("V = 3 * TILE + 1", {"value": 49}),
        ("V = True", {"value": True}),
        ("V = 0.5", {"value": 0.5}),
        ("V = 'float32'", {"value": "float32"}),
        ("V = None", {"value": None}),
        ("V = float('inf')", {"float": "inf"}),
        ("V = -math.inf", {"float": "-inf"}),
        ("V = 2j", {"complex": ["0.0", "2.0"]}),
        ("V = (TILE, (2, 3.5))", {"tuple": [{"value": 16}, {"tuple": [{"value": 2}, {"value": 3.5}]}]}),
        ("V = [1, 2]", {"list": [{"value": 1}, {"value": 2}]}),
        ("V = nb", {"module": "numba"}),
        ("V = nb.cuda.shared", {"attribute": "numba.cuda.shared"}),
        ("V = int", {"attribute": "builtins.int"}),
        ("V = np.float32", {"attribute": "numpy.float32"}),
        ("V = math.pi", {"value": 3.141592653589793}),
        ("from numba.types import int32 as V", {"attribute": "numba.int32"}),
    ],
)
def test_values(statement: str, descriptor: dict[str, Any]) -> None:
    assert held(f"{statement}\n" + kernel("x[0] = V")) == {"V": descriptor}


def test_arrays_and_numpy_numbers_keep_their_type() -> None:
    found = held(
        "V = np.array([[1, 2], [3, 4]], np.int16)\nW = np.float32(0.1)\n" + kernel("x[0] = V[0, 0] * W")
    )
    assert base64.b64decode(found["V"]["array"]) == np.array([1, 2, 3, 4], np.int16).tobytes()
    assert (found["V"]["dtype"], found["V"]["shape"]) == ("int16", [2, 2])
    assert base64.b64decode(found["W"]["scalar"]) == np.float32(0.1).tobytes()


def test_device_functions_come_before_those_that_reach_them() -> None:
    found = planned(
        "@cuda.jit(device=True)\ndef inner(a):\n    return a * TILE\n"
        "@cuda.jit\ndef outer(a):\n    return inner(a)\n" + kernel("x[0] = outer(x[1]) + inner(x[2])")
    )
    assert [(one["name"], one["kind"]) for one in found.functions] == [
        ("inner", "device"),
        ("outer", "device"),
        ("kernel", "kernel"),
    ]
    assert found.functions[1]["globals"] == {"inner": {"function": 0}}
    assert found.functions[2]["globals"] == {"outer": {"function": 1}, "inner": {"function": 0}}


def test_one_def_of_a_factory_is_as_many_functions_as_it_made() -> None:
    found = planned(
        "def make(n):\n    @cuda.jit(device=True)\n    def f(a):\n        return a * n\n    return f\n"
        "double, triple = make(2), make(3)\n" + kernel("x[0] = double(x[1]) + triple(x[2])")
    )
    assert [one["globals"] for one in found.functions[:2]] == [{"n": {"value": 2}}, {"n": {"value": 3}}]
    assert [one["line"] for one in found.functions[:2]] == [9, 9]


def test_closure_values_and_overridden_constants() -> None:
    factory = "def build(width):\n    " + kernel("x[0] = width * TILE").replace("\n", "\n    ").rstrip()
    found = planned(f"{factory}\n    return kernel\nkernel = build(TILE)\n")
    assert found.functions[0]["globals"] == {"width": {"value": 16}, "TILE": {"value": 16}}
    assert planned(kernel("x[0] = TILE"), TILE=8).functions[0]["globals"] == {"TILE": {"value": 8}}


def test_defaults_of_device_functions_are_kept_and_those_of_kernels_dropped() -> None:
    found = planned(
        "@njit\ndef f(a, b=TILE + 1, c: float = 0.5) -> float:\n    return a * b * c\n"
        + kernel("x[0] = f(x[1])", parameters="x: 'an array', n=unknown()")
    )
    assert found.functions[0]["defaults"] == [{"value": 17}, {"value": 0.5}]
    assert found.functions[1]["defaults"] == []


def test_options_that_shape_the_code() -> None:
    head = "@cuda.jit(fastmath=True, max_registers=2 * TILE, lineinfo=True, launch_bounds=(256, 2))"
    assert planned(kernel("x[0] = 1", head=head)).functions[0]["options"] == {
        "fastmath": True,
        "max_registers": 32,
        "launch_bounds": [256, 2],
    }
    fast = "fast = cuda.jit(fastmath=True, opt=False)\n"
    assert planned(fast + kernel("x[0] = 1", head="@fast")).functions[0]["options"] == {
        "fastmath": True,
        "opt": False,
    }


@pytest.mark.parametrize(
    ("head", "parameters"),
    [
        ('@cuda.jit("void(float32[:, :], int32)")', [("float32", "A"), ("int32", "")]),
        ("@cuda.jit((float32[:, ::1], nb.int32))", [("float32", "C"), ("int32", "")]),
        ("@cuda.jit([(nb.float32[::1, :], 'int32')])", None),
    ],
)
def test_signatures(head: str, parameters: list[tuple[str, str]] | None) -> None:
    signature = planned(kernel("x[0, 0] = n", head=head, parameters="x, n")).functions[0]["signature"]
    if parameters is None:
        assert signature is None
    else:
        types = [(one["dtype"], one.get("layout", "")) for one in signature["parameters"]]
        assert types == parameters


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (kernel("x[0] = SCALE"), ("type-error", {"rule": "unknown-name", "name": "SCALE"}, 9)),
        (
            "V = open('f').read()\n" + kernel("x[0] = V"),
            ("unsupported-construct", {"construct": "unknown-value", "name": "V"}, 10),
        ),
        (
            "def f(a):\n    return a\n" + kernel("x[0] = f(x[1])"),
            ("type-error", {"rule": "plain-function", "name": "f"}, 11),
        ),
        ("import torch\n" + kernel("x[0] = torch.pi"), ("unsupported-construct", {"construct": "torch"}, 10)),
        (
            "from numba.cuda import _api as V\n" + kernel("x[0] = V"),
            ("unsupported-construct", {"construct": "numba.cuda._api"}, 10),
        ),
        ("V = {1: 2}\n" + kernel("x[0] = V[1]"), ("unsupported-construct", {"construct": "dict"}, 10)),
        (
            "@cuda.jit(device=True)\ndef f(n):\n    return f(n - 1)\n" + kernel("x[0] = f(3)"),
            ("unsupported-construct", {"construct": "recursion"}, 9),
        ),
        (
            kernel("x[0] = 1", head="@cuda.jit(max_registers=int(input()))"),
            ("unsupported-construct", {"construct": "unsupported-call"}, 7),
        ),
        (kernel("x[0] = 1", parameters="*x"), ("unsupported-construct", {"construct": "parameters"}, 8)),
    ],
)
def test_what_cannot_be_planned_is_a_finding(text: str, wanted: tuple[str, dict[str, Any], int]) -> None:
    assert wanted in refused(text)


def test_all_that_is_missing_is_told_at_once() -> None:
    assert [facts["name"] for _, facts, _ in refused(kernel("x[0] = P", "x[1] = Q + P"))] == ["P", "Q"]


def test_no_kernel_and_no_python() -> None:
    found = plan(parse(HEAD), "kernel")
    assert not isinstance(found, Plan)
    assert [one.name for one in found] == ["missing-kernel"]
    broken = plan(parse("def kernel(:"), "kernel")
    assert not isinstance(broken, Plan)
    assert [one.name for one in broken] == ["syntax-error"]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("y = a + x", ["a"]),
        ("for i in range(n): x[i] = i", ["range", "n"]),
        ("y: T = 1", []),
        ("f = lambda q, r=d: q + r + x + g", ["d", "g"]),
        ("y = [i for i in i if i < m]", ["i", "m"]),
        ("y = (z := 2) + z", []),
        ("def f(p: T = d): return p + q", ["d", "q"]),
        ("import math as m, numpy.linalg; y = m.pi + numpy.e", []),
        ("global G; G = 1; y = G", ["G"]),
        ("try: pass\n    except E as e: y = e", ["E"]),
        ("match x:\n        case [p, *q]: y = p + q + r", ["r"]),
    ],
)
def test_free_names(body: str, names: list[str]) -> None:
    node = parse(f"def f(x):\n    {body}\n").tree.body[0]
    assert [name.id for name in free_names(node)] == names  # type: ignore[arg-type]


def test_both_sides_know_the_same_modules() -> None:
    from grader.gpu import rebuild

    assert set(rebuild._MODULES) == {*MODULES, "builtins"}
