"""Types against what the installed numba-cuda infers, and values against NumPy's in those types."""

# ruff: noqa: E501  (kernels and lists of cases, a line each)
from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grader.simt import launch
from grader.simt.context import Kernel
from grader.simt.kernel import body_of, context_for
from grader.simt.program import parse
from grader.simt.types import NAMES, Array, Scalar
from grader.simt.typing_table import TABLE

ROOT = Path(__file__).resolve().parents[3]
WITH_NUMBA = importlib.util.find_spec("numba_cuda") is not None
needs_numba = pytest.mark.skipif(not WITH_NUMBA, reason="numba-cuda is not installed")

SCALARS = {"p": "?", "b": "b", "h": "h", "i": "i", "q": "q", "B": "B", "H": "H", "I": "I", "Q": "Q"} | {
    "e": "e", "f": "f", "d": "d", "c": "F", "z": "D"
}  # fmt: skip
EXPRESSIONS = """
f * 2.0;f * 2;f ** 2;f ** 2.0;f / f;f / i;f / h;f + i;f + h;f + q;f + I;f + B;f * p;e * e;e * 2;e * 2.0;e + f;e + h;d + e
i + i;i + 1;h + h;b * b;I + I;I + i;B + B;Q + q;Q + 1;q - Q;H + h;i * i;i / i;q / 2;1 / 2;i // i;i // 2;I // I;f // 2;f % f;i % 3;f % 3
q ** 2;i ** 2;i ** i;f ** i;d ** f;2 ** i;2 ** 3;-i;-I;-f;-e;-h;-b;+i;~i;~I;~B;not i;not f;i & i;I | i;p & p;p + p;p * 2;i << 2;I >> 1;q << i;B ^ B
max(f, 0);max(f, 0.0);max(i, i);max(i, 0);max(f, d);max(i, f);min(h, i);min(I, i);min(b, b, i);max(f, f);max(e, f);abs(i);abs(f);abs(h);abs(I);abs(q);abs(-i)
int(f);int(i);int(h);int(d);float(i);float(f);float(d);float(h);bool(i);round(f);round(d);round(d, 2)
float32(i);float64(f);int32(f);int16(i);int8(q);uint8(i);uint32(i);uint64(q);int64(h);np.float16(f);float32(2.5);np.float32(2);np.int32(i)
math.sqrt(f);math.sqrt(d);math.sqrt(i);math.exp(f);math.pow(f, f);math.pow(f, d);math.ceil(f);math.floor(d);math.ceil(i / 2);math.fabs(f);math.fmod(f, f);math.atan2(f, d);math.isnan(f);math.trunc(f);math.copysign(f, f);math.hypot(f, f)
f if i > 0 else d;i if f > 0 else 1;f if i else 0;f if i else 0.0;h if i else i;i if p else I;b if p else h;True if i else i
i < f;0 < i < 3;i == 2 and f > 1;i or q;p and i > 2;f and d;i > 1 or p;i is None
c + f;c * c;c + z;c + d;abs(c);abs(z);c.real;z.imag;c * i;f.real
cuda.threadIdx.x;cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x;cuda.grid(1);cuda.gridsize(1);cuda.gridDim.x;cuda.threadIdx.x % 4;cuda.threadIdx.x // 2;-cuda.threadIdx.x;cuda.laneid
cuda.popc(i);cuda.clz(i);cuda.ffs(i);cuda.brev(I);cuda.fma(f, f, f);cuda.fma(d, d, d);cuda.popc(q);cuda.clz(q)
A.shape[0];A.size;A.ndim;len(A);A.shape[-1] - 1;A[0];A[i];A[0] * A[1];U[0] + U[1];U[0] * 2;U[0] - A[0];E[0] + E[1];E[0] * A[0]
"""
EACH = [part for line in EXPRESSIONS.splitlines() for part in line.split(";") if part]

FLOWS = {
    "int then float": "v = 0\n    for k in range(i):\n        v += f",
    "float32 then int": "v = float32(0)\n    for k in range(i):\n        v += 1",
    "float32 and product": "v = float32(0)\n    for k in range(i):\n        v += f * f",
    "branches": "if i > 0:\n        v = 1\n    else:\n        v = f",
    "branches of ints": "if i > 0:\n        v = i\n    else:\n        v = h",
    "branch without else": "v = f\n    if i > 0:\n        v = d",
    "loop variable": "v = 0\n    for v in range(i):\n        pass",
    "loop variable of int32 bounds": "v = i\n    for v in range(i, i):\n        pass",
    "while": "v = 1\n    while v < i:\n        v *= 2",
    "while with a cast": "v = int32(1)\n    while v < i:\n        v = v + v",
    "break": "v = 0\n    for k in range(5):\n        if k > i:\n            v = 2.5\n            break",
    "unpacking": "v, u = f, i",
    "swap": "v, u = 1, 2.5\n    v, u = u, v",
    "reassigned": "v = 1\n    v = 2.5\n    v = f",
    "unsigned and signed": "v = I\n    if i:\n        v = i",
    "bool and int": "v = True\n    if i:\n        v = 2",
    "half": "v = e\n    for k in range(2):\n        v = v + e",
    "augmented shift": "v = i\n    v <<= 2",
    "nested": "v = 0\n    for k in range(2):\n        for l in range(2):\n            v += A[l]",
}


def _source(body: str) -> str:
    head = "import math\nimport numpy as np\nfrom numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64\n"
    return f"{head}\n\n@cuda.jit\ndef kernel({', '.join(SCALARS)}, A, U, E):\n    {body}\n    result = v\n"


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_typing", ROOT / "tools" / "generate_typing.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _machine(body: str) -> str:
    """The machine's type of ``v`` at the end, or the rule by which it refuses."""
    from grader.simt.machine import Stop

    program = parse(_source(body))
    function = program.function("kernel", {})
    assert function is not None
    kinds: dict[str, Any] = {name: Scalar(code) for name, code in SCALARS.items()}
    kinds |= {
        name: Array(code, 1, "global", at)
        for at, (name, code) in enumerate({"A": "f", "U": "B", "E": "e"}.items())
    }
    context = context_for(Kernel(program), function, kinds)
    try:
        body_of(context)
    except Stop:
        return "refused"
    kind = context.kinds["result"]
    return NAMES[kind.code] if isinstance(kind, Scalar) else kind.name


def _numba(body: str) -> str:
    """Numba's type of ``v`` at the end, or "refused"."""
    from numba import types
    from numba.core.errors import NumbaError
    from numba.cuda.compiler import compile_cuda

    names: dict[str, Any] = {}
    plain = _source(body).replace("@cuda.jit\n", "")
    exec(compile(plain, "typing_case", "exec"), names)
    kinds = [getattr(types, {"bool": "boolean"}.get(NAMES[code], NAMES[code])) for code in SCALARS.values()]
    arrays = [types.float32[:], types.uint8[:], types.float16[:]]
    try:
        compiled = compile_cuda(names["kernel"], types.void, (*kinds, *arrays), cc=(9, 0))
    except (NumbaError, NotImplementedError):
        return "refused"
    kind = compiled.type_annotation.typemap["result"]
    return str(types.unliteral(kind))


@needs_numba
def test_the_table_is_what_numba_infers() -> None:
    found = _tool().tables()
    shipped = {
        name: {word.split(":")[0]: word.split(":")[1] for word in words.split()}
        for name, words in TABLE.items()
    }
    assert shipped == found


@needs_numba
@pytest.mark.parametrize("expression", EACH)
def test_type_of_an_expression(expression: str) -> None:
    assert _machine(f"v = {expression}") == _numba(f"v = {expression}")


@needs_numba
def test_an_integer_divided_in_place_is_refused() -> None:
    # Typed as an integer, which the float64 that is computed cannot be stored in: nothing is compiled.
    assert _numba("v = i\n    v /= 2") == "int64"
    assert _machine("v = i\n    v /= 2") == "refused"
    assert _machine("v = i\n    v /= 2.0") == _numba("v = i\n    v /= 2.0") == "float64"
    assert _machine("v = i\n    v = v / 2") == _numba("v = i\n    v = v / 2") == "float64"


@needs_numba
@pytest.mark.parametrize("name", FLOWS)
def test_type_of_a_variable(name: str) -> None:
    assert _machine(FLOWS[name]) == _numba(FLOWS[name])


# -- values ----------------------------------------------------------------------------------------


def _run(expression: str, dtype: str, *arrays: Any) -> Any:
    names = ", ".join("xyz"[: len(arrays)])
    head = "import math\nfrom numba import cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64\n"
    loads = "".join(f"    {name} = {name.upper()}[t]\n" for name in "xyz"[: len(arrays)])
    source = f"{head}\n@cuda.jit\ndef kernel({names.upper()}, out):\n    t = cuda.grid(1)\n{loads}    out[t] = {expression}\n"
    out = np.zeros(arrays[0].size, dtype)
    run = launch(source, "kernel", grid=1, block=arrays[0].size, args=(*arrays, out))
    assert run.completed, run.findings
    return out


SIGNED = np.array([-9, -7, -4, -1, 0, 1, 4, 7, 9], np.int32)
SMALL = np.array([0.1, 1 / 3, 2.5, -3.75, 1e-3, 7, 1e4, -0.7, 3], np.float32)


@pytest.mark.parametrize("divisor", [2, 3, -2, -3])
def test_division_and_remainder_round_down(divisor: int) -> None:
    assert _run(f"x // {divisor}", "q", SIGNED).tolist() == (SIGNED // divisor).tolist()
    assert _run(f"x % {divisor}", "q", SIGNED).tolist() == (SIGNED % divisor).tolist()
    other = np.full(9, divisor, np.int32)
    assert _run("x // y", "q", SIGNED, other).tolist() == (SIGNED // divisor).tolist()
    assert _run("x % y", "q", SIGNED, other).tolist() == (SIGNED % divisor).tolist()


def test_integers_wrap_at_their_width_when_stored() -> None:
    big = np.array([2**31 - 1, -(2**31), 300, -1], np.int32)
    assert _run("x + x", "q", big).tolist() == (2 * big.astype(np.int64)).tolist()
    assert _run("x + x", "i", big).tolist() == (2 * big.astype(np.int64)).astype(np.int32).tolist()
    assert _run("x", "B", big).tolist() == big.astype(np.uint8).tolist()
    huge = np.array([2**63 - 1, -(2**63)], np.int64)
    assert _run("x + 1", "q", huge).tolist() == [-(2**63), -(2**63) + 1]
    assert _run("x * 3", "q", huge).tolist() == [2**63 - 3, -(2**63)]
    assert _run("abs(x)", "q", huge).tolist() == [2**63 - 1, -(2**63)]


def test_index_arithmetic_wraps_too() -> None:
    out = np.zeros(4, np.int64)
    source = "from numba import cuda\n@cuda.jit\ndef kernel(out):\n    t = cuda.threadIdx.x\n    out[t] = (t << 62) + t\n"
    launch(source, "kernel", grid=1, block=4, args=(out,))
    assert out.tolist() == [0, 2**62 + 1, -(2**63) + 2, -(2**62) + 3]


def test_float32_stays_float32() -> None:
    assert _run("x * x", "f", SMALL).tolist() == (SMALL * SMALL).tolist()
    assert _run("x / 3", "d", SMALL).tolist() == (SMALL.astype(np.float64) / 3).tolist()
    assert _run("x / float32(3)", "d", SMALL).tolist() == (SMALL / np.float32(3)).astype(np.float64).tolist()
    assert _run("x ** 2", "d", SMALL).tolist() == (SMALL * SMALL).astype(np.float64).tolist()
    assert _run("x * 2.1", "d", SMALL).tolist() == (SMALL.astype(np.float64) * 2.1).tolist()


def test_float16_rounds_after_each_operation() -> None:
    half = np.clip(SMALL, -8, 8).astype(np.float16)
    assert _run("x * x + x", "d", half).tolist() == (half * half + half).astype(np.float64).tolist()


def test_casts_truncate_towards_zero() -> None:
    assert _run("int(x)", "q", SMALL).tolist() == [int(value) for value in SMALL]
    assert _run("x", "i", SMALL).tolist() == [int(value) for value in SMALL]
    assert _run("uint8(x)", "q", np.array([300, -1, 7], np.int32)).tolist() == [44, 255, 7]


def test_float_remainder_has_the_sign_of_the_divisor() -> None:
    assert _run("x % 2.0", "d", SMALL).tolist() == np.remainder(SMALL.astype(np.float64), 2.0).tolist()
    assert _run("x // 2.0", "d", SMALL).tolist() == np.floor_divide(SMALL.astype(np.float64), 2.0).tolist()


def test_unsigned_arithmetic() -> None:
    words = np.array([0, 1, 2**32 - 1, 5], np.uint32)
    assert _run("x - 1", "Q", words).tolist() == [2**64 - 1, 0, 2**32 - 2, 4]
    assert _run("x >> 1", "Q", words).tolist() == [0, 0, 2**31 - 1, 2]
    assert _run("~x", "I", words).tolist() == [2**32 - 1, 2**32 - 2, 0, 2**32 - 6]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_are_negated_and_inverted_before_they_are_widened(dtype: str) -> None:
    """As NumPy does, which keeps the type; numba's type of the result is of 64 bits.

    numba-cuda 0.30 for sm_90, of a uint8: ``neg.s16; and.b64 255``, and for ``~``: ``xor.b64 255``.
    """
    limits = np.iinfo(dtype)
    words = np.array([limits.min, limits.max, 2, 0], dtype)
    wide = "Q" if limits.min == 0 else "q"
    assert _run("-x", wide, words).tolist() == np.negative(words).tolist()
    assert _run("~x", wide, words).tolist() == np.invert(words).tolist()
    assert _run("-x > 2", "?", words).tolist() == (np.negative(words) > 2).tolist()


def test_minimum_and_maximum() -> None:
    assert _run("max(x, 0)", "d", SMALL).tolist() == np.maximum(SMALL, 0).astype(np.float64).tolist()
    assert (
        _run("min(x, y)", "q", SIGNED, SIGNED[::-1].copy()).tolist()
        == np.minimum(SIGNED, SIGNED[::-1]).tolist()
    )


def test_bit_intrinsics() -> None:
    words = np.array([0, 1, 6, 2**31 - 1], np.int32)
    assert _run("cuda.popc(x)", "q", words).tolist() == [0, 1, 2, 31]
    assert _run("cuda.clz(x)", "q", words).tolist() == [32, 31, 29, 1]
    assert _run("cuda.ffs(x)", "q", words).tolist() == [0, 1, 2, 1]


def test_math_functions() -> None:
    for name in ("sqrt", "exp", "sin", "cos", "tanh", "floor", "ceil", "fabs"):
        values = np.clip(SMALL, -8, 8).astype(np.float64)
        got = _run(f"math.{name}(abs(x))", "d", values)
        assert got == pytest.approx([getattr(math, name)(abs(value)) for value in values.tolist()], rel=1e-14)
