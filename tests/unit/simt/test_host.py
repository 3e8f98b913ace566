from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np
import pytest

from grader.simt import launch, parse


def evaluate(body: str, *arguments: Any, above: str = "") -> tuple[Any, dict[str, Any]]:
    text = f"import math, random\nimport numpy as np\nTILE = 16\n{above}\ndef f(M, N):\n"
    value, findings = parse(text + textwrap.indent(body, "    ") + "\n").evaluate("f", arguments or (50, 37))
    return value, dict(findings[0].facts) if findings else {}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return tuple([-(-d // TILE) for d in (N, M)])", (3, 4)),
        ("return tuple(-(-d // TILE) for d in (N, M) if d)", (3, 4)),
        ("return sum(x * y for x in range(3) for y in range(x))", 2),
        ("return {k: v + 1 for k, v in {'x': N, 'y': M}.items()}['y']", 51),
        ("return sorted({d % 2 for d in (1, 2, 3)})", [0, 1]),
        ("return tuple(map(lambda d: -(-d // TILE), (N, M)))", (3, 4)),
        ("return list(filter(None, [0, N, M]))", [37, 50]),
        ("*grid, = N, M\nreturn grid", [37, 50]),
        ("a, *b, c = range(5)\nreturn a, b, c", (0, [1, 2, 3], 4)),
        ("grid = [N, M]\ngrid[0] //= TILE\ngrid.append(1)\ngrid += [2]\nreturn grid", [2, 50, 1, 2]),
        ("d = {'x': N}\nd['y'] = M\ndel d['x']\nreturn len(d), d.get('x', 5)", (1, 5)),
        ("x = N\ny = M\ndel x\nreturn y", 50),
        ("return f'{N}x{M:>4}|{TILE!r}'", "37x  50|16"),
        ("return max((N, M), key=lambda d: -d), max([], default=3)", (37, 3)),
        ("return sorted([1, 3, 2], reverse=True)", [3, 2, 1]),
        ("return tuple(int(x) for x in np.ceil(np.array([N, M]) / TILE))", (3, 4)),
        ("return np.ceil(N / TILE)", 3.0),
        ("def g(*sizes, tile=TILE, **more):\n    return len(sizes), tile, more\nreturn g(1, 2, tile=4, k=3)",
         (2, 4, {"k": 3})),
        ("def g(a, b):\n    return a - b\nreturn g(b=1, **{'a': 5})", 4),
        ("return [last := d for d in (1, 2)] + [last]", [1, 2, 2]),
        ("g = (d for d in (1, 2))\nreturn next(g), list(g), list(g)", (1, [2], [])),
        ("try:\n    x = N\nfinally:\n    y = 1\nreturn x + y", 38),
        ("assert isinstance(M, int) and isinstance(N, (int, float))\nreturn any([M > N, False])", True),
    ],
)  # fmt: skip
def test_ordinary_python_is_followed(body: str, expected: object) -> None:
    assert evaluate(body) == (expected, {})


@pytest.mark.parametrize(
    "statement",
    [
        "print('grid', M, f'{N=}', sep=' ')",
        "print(open)",
        "random.seed(0)",
        "when = random.random()",
        "logger.info('grid %s', grid)",
        "np.set_printoptions(precision=3)",
    ],
)
def test_a_value_that_nobody_uses_is_passed_over(statement: str) -> None:
    above = "import logging\nlogger = logging.getLogger(__name__)"
    assert evaluate(f"grid = [N, M]\n{statement}\nreturn grid", above=above) == ([37, 50], {})


@pytest.mark.parametrize(
    ("body", "construct"),
    [
        ("global TILE\nTILE = 4\nreturn TILE", "global TILE"),
        ("grid = [N, M]\nrandom.shuffle(grid)\nreturn grid", "random.shuffle(grid)"),
        ("exec('TILE = 4')\nreturn TILE", "exec('TILE = 4')"),
        ("x = random.random()\nreturn x", "random.random()"),
        ("with open('x') as f:\n    return f", "with open('x') as f:"),
        ("return f'{M:>99999}'", "M"),
        ("return '%d' % M", "'%d' % M"),
        ("try:\n    return 1 // 0\nexcept ZeroDivisionError:\n    return 2", "try:"),
        ("grid = [N]\ngrid.sort(key=len)\nreturn grid", "grid.sort(key=len)"),
        ("yield N", "yield N"),
    ],
)
def test_what_cannot_be_followed_is_named(body: str, construct: str) -> None:
    value, facts = evaluate(body)
    assert (value, facts.get("construct")) == (None, construct)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ("return M // 0", "ZeroDivisionError: integer division or modulo by zero"),
        ("print(M // 0)\nreturn M", "ZeroDivisionError: integer division or modulo by zero"),
        ("return M + None", "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'"),
        ("return M.shape", "AttributeError: 'int' object has no attribute 'shape'"),
        ("return M[0]", "TypeError: 'int' object is not subscriptable"),
        ("return M(0)", "TypeError: 'int' object is not callable"),
        ("return {}['x']", "KeyError: 'x'"),
        ("a, b = 1, 2, 3\nreturn a", "ValueError: 3 values to unpack into 2 names"),
        ("a, b = M\nreturn a", "TypeError: 'int' object is not iterable"),
        ("assert M < 0, 'size'\nreturn M", "AssertionError: 'size'"),
        ("raise ValueError('no')", "ValueError('no')"),
        ("def g(a):\n    return a\nreturn g()", "TypeError: g() missing 1 required argument: 'a'"),
        (
            "def g(a):\n    return a\nreturn g(1, b=2)",
            "TypeError: g() got an unexpected keyword argument 'b'",
        ),
    ],
)
def test_an_error_of_python_is_told_in_its_words(body: str, detail: str) -> None:
    value, facts = evaluate(body)
    assert (value, facts["detail"], "construct" in facts) == (None, detail, False)


def test_a_wrong_number_of_arguments() -> None:
    _, facts = evaluate("return M", 1, 2, 3)
    assert facts["detail"] == "TypeError: f() takes 2 positional arguments but 3 were given"


@pytest.mark.parametrize(
    "body",
    [
        "x = [1]\nfor i in range(60):\n    x.extend(x)\nreturn 1",
        "x = [1]\nfor i in range(60):\n    x += x\nreturn 1",
        "return ','.join(['x' * 90000] * 90000)",
        "return np.zeros((50000, 1)) * np.zeros((1, 50000))",
        "return [0 for i in range(300) for j in range(300) for k in range(300)]",
        "def g(n):\n    return [g(n - 1) for _ in (1,)]\nreturn g(10**6)",
    ],
)
def test_every_evaluation_is_bounded(body: str) -> None:
    value, facts = evaluate(body)
    assert value is None
    assert facts["rule"] in ("too-large", "did-not-finish")


def test_a_lambda_is_a_function_of_the_module() -> None:
    program = parse("f = lambda M, N=2, *rest: (M, N, rest)\n")
    assert program.evaluate("f", (1,)) == ((1, 2, ()), ())
    assert program.functions == ("f",)


@pytest.mark.parametrize(
    "expression",
    [
        "int(np.sqrt(256))", "np.sqrt(256)", "int(np.ceil(15.5))", "np.floor(16.5)", "np.rint(15.7)",
        "int(np.round(15.7))", "np.prod((4, 4))", "int(np.prod([4, 4]))", "np.prod([4, 4]).item()",
        "np.maximum(4, 16)", "np.max([4, 16])", "np.sum([8, 8])", "np.abs(-16)", "np.power(2, 4)",
        "np.floor_divide(33, 2)", "np.clip(100, 0, 16)", "np.log2(65536)", "np.gcd(16, 32)",
        "np.mean([8, 24])",
        "np.argmax([1, 2])", "np.cumsum([1, 2])[1]", "np.left_shift(1, 4)", "np.isfinite(1.0)",
        "np.sqrt(256).astype(np.int32)", "np.intp(16)", "np.bool_(True)", "np.array([4, 16]).max()",
        "np.dtype(np.float32).itemsize * 4", "np.float32(0).nbytes * 4", "np.iinfo(np.int8).max",
        "np.finfo(np.float32).eps", "math.isqrt(256)", "int(math.log2(65536))", "math.pow(4, 2)",
        "math.lcm(8, 16)", "math.comb(16, 1)", "math.factorial(4)", "math.hypot(3, 4)",
        "math.dist((0, 0), (3, 4))",
        "math.frexp(16.0)[1]", "math.fsum((1.0, 2.0))", "pow(2, 4)", "pow(3, 4, 65)", "divmod(33, 2)[0]",
        "round(15.7)", "min([16, 32])", "sum((8, 8))", "len(range(16))", "abs(-16)", "ord('a')",
        "complex(1, 2)",
    ],
)  # fmt: skip
def test_functions_of_math_and_numpy_give_what_they_give_in_python(expression: str) -> None:
    expected = eval(expression, {"np": np, "math": math})
    value, facts = evaluate(f"return {expression}")
    assert (value, type(value), facts) == (expected, type(expected), {})


@pytest.mark.parametrize(
    ("tile", "names"),
    [
        ("int(np.sqrt(256))", []),
        ("math.isqrt(256)", []),
        ("np.prod((4, 4)).item()", []),
        # What numba-cuda 0.30 refuses as a shape: every number but Python's own whole ones.
        ("np.prod((4, 4))", ["non-constant-shared-shape"]),
        ("np.int32(16)", ["non-constant-shared-shape"]),
        ("np.sqrt(256)", ["non-constant-shared-shape"]),
    ],
)
def test_a_shared_shape_takes_whole_numbers_of_python_alone(tile: str, names: list[str]) -> None:
    source = (
        "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
        f"TILE = {tile}\n@cuda.jit\ndef kernel(A):\n    tile = cuda.shared.array(TILE, float32)\n"
        "    x = cuda.threadIdx.x\n    tile[x] = A[x]\n    A[x] = tile[x] + 1\n"
    )
    values = np.arange(16, dtype=np.float32)
    run = launch(source, "kernel", grid=1, block=16, args=(values,))
    assert [finding.name for finding in run.errors] == names
    assert values.tolist() == [x + (not names) for x in range(16)]


@pytest.mark.parametrize(
    "expression",
    [
        "math.factorial(10**6)",
        "math.comb(10**7, 5 * 10**6)",
        "math.prod(range(1, 50000))",
        "pow(7, 10**9)",
        "np.power(2**100, 2**40)",
        "np.add(np.zeros((400, 1)), np.zeros((1, 400)))",
        "np.dot(np.zeros((9999, 1)), np.zeros((1, 9999)))",
    ],
)
def test_a_function_computes_within_bounds(expression: str) -> None:
    value, facts = evaluate(f"return {expression}")
    assert (value, facts["rule"]) == (None, "too-large")
