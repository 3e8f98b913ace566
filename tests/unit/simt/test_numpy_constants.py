"""NumPy scalars of the module, and what constants decide, as numba-cuda 0.30 compiles them for sm_90.

The compiler itself is the oracle: where it is installed, the table is compared with what it says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.gpu.compile import compile_check, compile_reason
from grader.simt import launch, parse
from grader.simt.plan import Plan, plan

HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float64, types\n"
KERNEL = "@cuda.jit\ndef kernel(out):\n    "
DEVICE = "@cuda.jit(device=True)\ndef f(x, y=C):\n    return x + y\n"
FACTORY = "def make(K):\n    @cuda.jit\n    def kernel(out):\n        out[0] = K\n    return kernel\n"
USES = {
    "stored": KERNEL + "out[0] = C",
    "added": KERNEL + "out[0] = C + 1",
    "branch": KERNEL + "if C: out[0] = 2",
    "index": KERNEL + "out[C] = 1",
    "range": KERNEL + "for i in range(C): out[0] += 1",
    "closure": FACTORY + "kernel = make(C)",
    "tuple": "T = (C, 1)\n" + KERNEL + "out[0] = T[0]",
    "tuple, other item": "T = (C, 1)\n" + KERNEL + "out[0] = T[1]",
    "list": "L = [C, C]\n" + KERNEL + "out[0] = L[0]",
    "default": DEVICE + KERNEL + "out[0] = f(out[1])",
    "half": KERNEL + "h = cuda.local.array(1, types.float16)\n    h[0] = C\n    out[0] = h[0]",
    "shape": KERNEL + "h = cuda.local.array(C, float64)\n    h[0] = 1\n    out[0] = h[0]",
    "abs": KERNEL + "out[0] = abs(C)",
    "max": KERNEL + "out[0] = max(C, 1)",
    "sqrt": KERNEL + "out[0] = math.sqrt(C)",
    "cast": KERNEL + "out[0] = float64(C)",
    "real": KERNEL + "out[0] = C.real",
    "minus": KERNEL + "out[0] = -C",
    "shift": KERNEL + "out[0] = 1 << C",
    "array": "A = np.array([C, C])\n" + KERNEL + "out[0] = A[1]",
    "compared": KERNEL + "if C == 2: out[0] = 2",
    "chosen": KERNEL + "out[0] = 2 if C > 1 else 0",
    "fp16": KERNEL + "out[0] = cuda.fp16.hadd(C, C)",
    "atomic": KERNEL + "cuda.atomic.add(out, 0, C)",
}
#: What numba refuses of each use.
REFUSED: dict[str, set[str]] = {
    "bool_": {"index", "list", "shape", "max", "real"},
    "int8": {"list", "shape"},
    "uint64": {"list", "shape"},
    "float16": set(USES) - {"array", "compared", "chosen"},
    "float32": {"index", "list", "shape", "shift"},
    "complex64": set(USES) - {"branch", "abs", "real", "tuple, other item", "compared", "chosen"},
}
CASES = [(name, use) for name in REFUSED for use in USES]


def text(name: str, use: str) -> str:
    return f"{HEAD}C = np.{name}(2)\n{USES[use]}\n"


def result(source: str) -> tuple[float | None, set[str]]:
    """What the kernel stores in ``out[0]``, or None, and the rules that are broken."""
    out = np.zeros(4)
    run = launch(source, "kernel", grid=1, block=1, args=(out,))
    return (None if run.errors else float(out[0])), {str(f.facts.get("rule", f.name)) for f in run.errors}


@pytest.mark.parametrize(("name", "use"), CASES)
def test_a_scalar_of_numpy_is_taken_where_numba_takes_it(name: str, use: str) -> None:
    value, rules = result(text(name, use))
    assert (value is None) == (use in REFUSED[name]), rules
    if name == "float16" and use not in ("index", "list", "shape", "shift", "array", "compared", "chosen"):
        assert rules == {"half-precision-constant"}


@pytest.mark.parametrize(
    ("name", "expression", "wanted"),
    [
        ("int8", "C + np.int8(127)", 129.0),  # int64: numba widens what it adds
        ("uint8", "-C", 254.0),  # negated as it is, then widened
        ("uint64", "C + 1", 3.0),
        ("uint64", "(C - 3) > 0", 0.0),  # with an int64 literal the difference is signed
        ("float32", "C / 3", np.float32(2) / np.float64(3)),
        ("int32", "C / 4", 0.5),
        ("bool_", "C + C", 2.0),
        ("complex64", "abs(C * 1.5)", 3.0),
    ],
)
def test_a_scalar_of_numpy_has_its_own_type(name: str, expression: str, wanted: float) -> None:
    assert result(f"{HEAD}C = np.{name}(2)\n{KERNEL}out[0] = {expression}\n") == (wanted, set())


DECIDED = {
    "if False": ("", True),
    "if 0": ("", True),
    "if 2 > 3": ("", True),
    "if FLAG": ("FLAG = False", True),
    "if FLAG ": ("FLAG = np.bool_(False)", True),
    "if FLAG  ": ("FLAG = np.int32(0)", True),
    "if not FLAG": ("FLAG = True", True),
    "if FLAG == 2": ("FLAG = 1", True),
    "if FLAG == 2 ": ("FLAG = np.float16(1)", True),
    "if not FLAG == 1": ("FLAG = 1", True),
    "if 0 < FLAG < 1": ("FLAG = 1", True),
    "if FLAG is not None": ("FLAG = None", True),
    "if FLAG and out[0] > 1": ("FLAG = False", True),
    "if FLAG == 'b'": ("FLAG = 'a'", True),
    "while False": ("", True),
    "while FLAG == 1": ("FLAG = 0", True),
    "if FLAG % 2 == 1": ("FLAG = 4", False),
    "if FLAG in (2, 3)": ("FLAG = 1", False),
    "if FLAG[0] == 2": ("FLAG = (1, 2)", False),
    "if math.pi > 4": ("", False),
}


def ruled_out(test: str) -> str:
    """A kernel whose condition never holds, with a type error under it."""
    return f"{HEAD}{DECIDED[test][0]}\n{KERNEL}{test.strip()}:\n        out[0] = 1j\n    out[0] = 1\n"


@pytest.mark.parametrize("test", DECIDED)
def test_what_a_constant_rules_out_is_not_compiled(test: str) -> None:
    value, rules = result(ruled_out(test))
    assert (value, rules) == ((1.0, set()) if DECIDED[test][1] else (None, {"element-type"}))


def test_the_other_side_of_a_decided_condition_is_taken() -> None:
    assert result(f"{HEAD}N = 3\n{KERNEL}out[0] = 1j if N != 3 else 7\n") == (7.0, set())
    assert result(f"{HEAD}{KERNEL}while 0:\n        out[0] = 1j\n    else:\n        out[0] = 5\n") == (
        5.0,
        set(),
    )
    body = "if N < 3: out[0] = 1j\n    elif N == 3 or N.foo: out[0] = 9\n    else: out[0] = 1j"
    assert result(f"{HEAD}N = 3\n{KERNEL}{body}\n") == (9.0, set())


@pytest.mark.skipif(bool(compile_reason()), reason="the extra `compile` is not installed")
@pytest.mark.parametrize("name", ["float16", "bool_", "complex64"])
def test_the_table_is_what_the_compiler_says(name: str) -> None:
    texts = {use: text(name, use) for use in USES}
    if name == "bool_":
        texts = {use: texts[use] for use in ("stored", "index", "max", "real")}
        texts |= {test: ruled_out(test) for test in ("if 0", "if FLAG == 2 ", "if FLAG % 2 == 1")}
    if name == "complex64":
        texts = {use: texts[use] for use in ("branch", "compared", "fp16", "atomic", "list")}
    refused = {use for use, source in texts.items() if _compiler_refuses(source)}
    assert refused == {
        use for use in texts if use in REFUSED[name] or DECIDED.get(use, ("", True))[1] is False
    }


def _compiler_refuses(source: str) -> bool:
    found: Any = plan(parse(source), "kernel")
    assert isinstance(found, Plan), found
    answer = compile_check(found.request(), [{"dtype": "float64", "ndim": 1, "layout": "C"}], ["sm_90"], 32)
    return bool(answer.results[0].error)
