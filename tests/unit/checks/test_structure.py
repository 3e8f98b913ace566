from __future__ import annotations

import ast

import pytest

from grader.checks.launch_config import Config, returned_grid, student_config
from grader.checks.places import function_node, header_span, k_loop, loads_of, stores_to
from grader.checks.structure import constants_of, kernel_findings, placeholders, same_code
from grader.records import Span
from grader.rubric.model import ArgSpec, KernelSpec, LaunchSpec
from grader.simt import parse

KERNEL = """\
from numba import cuda, float32

TILE = 16

@cuda.jit
def product(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    for t in range((K + TILE - 1) // TILE):
        As[0, 0] = A[0, t]
        for k in range(TILE):
            acc = As[0, k]
    C[0, 0] = acc

def launch_config(M, N):
    grid = ((N + TILE - 1) // TILE, (M + TILE - 1) // TILE)
    return grid, (TILE, TILE)
"""
SPEC = KernelSpec(
    name="product",
    args={
        **{name: ArgSpec.parse("float32[M, N]") for name in "AB"},
        "C": ArgSpec.parse("out float32[M, N]"),
        **{name: ArgSpec.parse("int") for name in "MNK"},
    },
    launch=LaunchSpec(),
    reference="A @ B",
)


def findings(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(one.name, dict(one.facts)) for one in kernel_findings(parse(text), SPEC)]


def test_a_kernel_with_the_rubrics_parameters_is_taken() -> None:
    assert findings(KERNEL) == []


def test_renamed_parameters_are_taken() -> None:
    assert findings(KERNEL.replace("(A, B, C, M, N, K)", "(left, right, out, m, n, k)")) == []


@pytest.mark.parametrize(
    "got",
    [
        ("A", "B", "C"),
        ("B", "A", "C", "M", "N", "K"),
        ("A", "B", "C", "M", "K", "N"),
        ("A", "B", "C", "M", "N", "K", "tile"),
    ],
)
def test_other_parameters_are_a_changed_signature(got: tuple[str, ...]) -> None:
    text = KERNEL.replace("(A, B, C, M, N, K)", f"({', '.join(got)})")
    assert findings(text) == [("changed-signature", {"wanted": ("A", "B", "C", "M", "N", "K"), "got": got})]


def test_a_missing_kernel_lists_what_is_there() -> None:
    text = KERNEL.replace("def product", "def produkt")
    assert findings(text) == [
        ("missing-kernel", {"kernel": "product", "candidates": ("produkt", "launch_config")})
    ]


def test_a_plain_function_is_no_kernel() -> None:
    (one,) = kernel_findings(parse(KERNEL.replace("@cuda.jit\n", "\n")), SPEC)
    assert (one.name, one.primary is not None) == ("missing-kernel", True)
    assert one.facts["candidates"] == ("product", "launch_config")


def test_a_decorator_that_is_not_imported_is_shown() -> None:
    (one,) = kernel_findings(parse(KERNEL.replace("from numba import cuda, float32\n", "")), SPEC)
    assert (one.name, one.facts["unbound"]) == ("missing-kernel", "cuda.jit")
    assert one.primary is not None
    assert KERNEL.splitlines()[one.primary.line].startswith("@cuda.jit")


def test_constants_are_read_from_the_text() -> None:
    assert constants_of(parse(KERNEL), {"TILE": (8, 16)}) == ({"TILE": 16}, ())


@pytest.mark.parametrize(
    ("text", "near"),
    [("TPB = 16", ("TPB",)), ("TPB = 16\nBLOCK = 8\nWIDTH = 64", ("TPB", "BLOCK")), ("FLAG = True", ())],
)
def test_where_a_constant_is_missing_those_that_could_be_it_are_named(
    text: str, near: tuple[str, ...]
) -> None:
    _, (finding,) = constants_of(parse(KERNEL.replace("TILE = 16", text)), {"TILE": (8, 16)})
    assert (finding.facts["rule"], finding.facts["near"]) == ("constant", near)


@pytest.mark.parametrize(
    ("text", "got"), [("TILE = 5", "5"), ("TILE = 16.0", "16.0"), ("TILE = True", "True"), ("", None)]
)
def test_a_constant_that_is_not_allowed_is_named(text: str, got: str | None) -> None:
    values, (finding,) = constants_of(parse(KERNEL.replace("TILE = 16", text)), {"TILE": (8, 16)})
    assert values == {}
    assert (finding.name, finding.severity) == ("bad-launch-config", "error")
    assert finding.facts.get("got") == got
    assert finding.facts["allowed"] == (8, 16)
    assert finding.primary == (Span(3, 1, 3, 1 + len(text)) if got else None)


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("As[0, 0] = A[0, t]", "a_col = ...", 1),
        ("As[0, 0] = A[0, t]", "a_col: int = ...", 1),
        ("    C[0, 0] = acc", "    raise NotImplementedError('later')", 1),
        ("return grid, (TILE, TILE)", "return ...", 1),
        ("As[0, 0] = A[0, t]", "a_col = ...\n        ...", 2),
    ],
)
def test_placeholders_mean_not_started(old: str, new: str, count: int) -> None:
    (finding,) = placeholders(parse(KERNEL.replace(old, new)), ("product", "launch_config"))
    assert (finding.name, finding.counts["placeholders"]) == ("not-started", count)


def test_finished_code_has_no_placeholders_whatever_its_comments_say() -> None:
    text = KERNEL.replace("acc = As[0, k]", "acc = As[0, k]  # TODO: ...")
    assert placeholders(parse(text), ("product", "launch_config")) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("acc = As[0, k]", "acc = As[0, k]\n            ..."),
        ("acc = As[0, k]", "..."),
        ("    C[0, 0] = acc", "    if M < 0:\n        raise NotImplementedError\n    C[0, 0] = acc"),
    ],
)
def test_a_statement_that_does_nothing_is_no_unfinished_work(old: str, new: str) -> None:
    assert placeholders(parse(KERNEL.replace(old, new)), ("product", "launch_config")) == ()


def test_a_kernel_may_be_made_by_a_call_or_a_factory() -> None:
    text = KERNEL.replace("@cuda.jit\n", "").replace("def product", "def _product")
    assert findings(text + "product = cuda.jit(_product)\n") == []
    assert findings(text + "product = cuda.jit(fastmath=True)(_product)\n") == []
    assert findings(text + "compiled = cuda.jit(fastmath=True)\n@compiled\n" + _kernel_alone()) == []
    factory = "".join(f"    {line}\n" for line in _kernel_alone().replace("product", "inner").splitlines())
    made = f"{text}def make():\n    @cuda.jit\n{factory}    return inner\nproduct = make()\n"
    assert findings(made) == []


def _kernel_alone() -> str:
    return KERNEL[KERNEL.index("def product") : KERNEL.index("def launch_config")]


@pytest.mark.parametrize(
    ("decorator", "shown"),
    [
        ("@cuda.jit(device=True)", "@cuda.jit(device=True)"),
        ("@numba.njit", "@numba.njit"),
        ("@numba.jit(nopython=True)", "@numba.jit(nopython=True)"),
    ],
)
def test_a_function_that_cannot_be_launched_is_no_kernel(decorator: str, shown: str) -> None:
    (one,) = kernel_findings(parse("import numba\n" + KERNEL.replace("@cuda.jit", decorator)), SPEC)
    assert (one.name, one.facts["decorator"]) == ("missing-kernel", shown)
    assert one.primary is not None
    assert one.primary.line == 7


@pytest.mark.parametrize(
    "last", ["del product", "product = None", "product = launch_config", "import product"]
)
def test_what_a_name_holds_last_counts(last: str) -> None:
    (one,) = kernel_findings(parse(f"{KERNEL}{last}\n"), SPEC)
    assert one.name == "missing-kernel"
    assert one.facts.get("rebound", last) == last
    assert one.primary is not None


def test_a_deleted_kernel_is_not_sought_in_other_functions() -> None:
    nested = "def decoy():\n    @cuda.jit\n    def product(A, B, C, M, N, K):\n        C[0, 0] = 1\n"
    assert [name for name, _ in findings(f"{KERNEL}{nested}del product\n")] == ["missing-kernel"]


def test_a_kernel_from_a_call_that_cannot_be_followed_is_not_judged() -> None:
    (one,) = kernel_findings(parse(f"{KERNEL}product = wrap(product)\n"), SPEC)
    assert (one.name, one.facts["construct"]) == ("unsupported-construct", "wrap(product)")
    assert one.primary == Span(17, 11, 17, 24)


@pytest.mark.parametrize(
    ("text", "name", "facts", "line"),
    [
        ("TILE = 16\ndel TILE", "bad-launch-config", {"rule": "constant", "got": None}, 4),
        ("TILE = open('t').read()", "unsupported-construct", {"construct": "open('t').read()"}, 3),
        ("TILE = 16\nTILE += 1", "bad-launch-config", {"rule": "constant", "got": "17"}, 4),
    ],
)
def test_a_constant_that_is_taken_away_or_cannot_be_read(
    text: str, name: str, facts: dict[str, object], line: int
) -> None:
    _, (finding,) = constants_of(parse(KERNEL.replace("TILE = 16", text)), {"TILE": (8, 16)})
    assert finding.name == name
    assert {key: finding.facts.get(key) for key in facts} == facts
    assert finding.primary is not None
    assert finding.primary.line == line


def test_comments_layout_and_docstrings_do_not_make_code_differ() -> None:
    other = KERNEL.replace("    As = cuda", '    """What it does."""\n\n    # a tile\n    As = cuda')
    assert same_code(parse(KERNEL), parse(other), ("product",))
    assert not same_code(parse(KERNEL), parse(KERNEL.replace("[0, t]", "[0, 0]")), ("product",))


def test_places_of_a_kernel() -> None:
    program = parse(KERNEL)
    kernel = function_node(program, "product")
    assert kernel is not None
    assert [node.lineno for node in stores_to(kernel, "C")] == [12]
    assert [ast.unparse(node) for node in loads_of(kernel, "A")] == ["A[0, t]"]
    loop = k_loop(kernel, ("A", "B"))
    assert loop is not None
    assert header_span(program, loop) == Span(8, 5, 8, 43)


def test_a_launch_configuration_is_read_without_running_it() -> None:
    assert student_config(parse(KERNEL), "launch_config", (50, 37)) == (Config((3, 4), (16, 16)), ())
    assert returned_grid(parse(KERNEL), "launch_config") == Span(15, 12, 15, 60)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("5", "not-a-pair"),
        ("None", "not-a-pair"),
        ("(1, 2, 3)", "not-a-pair"),
        ("(1.0, 2), 3", "not-integers"),
        ("(N / TILE, M / TILE), (TILE, TILE)", "not-integers"),
        ("(True, 1), 3", "not-integers"),
        ("(0, 1), (16, 16)", "not-positive"),
        ("(1, 1, 1, 1), 16", "axis-count"),
        ("(2**40, 1), 16", "too-many-blocks"),
        ("(M // 0, 1), 16", "host-error"),
        ("(M.size, 1), 16", "host-error"),
        ("(absent, 1), 16", "host-error"),
    ],
)
def test_a_bad_launch_configuration_says_which_rule_it_breaks(value: str, rule: str) -> None:
    program = parse(KERNEL.replace("return grid, (TILE, TILE)", f"return {value}"))
    config, (finding,) = student_config(program, "launch_config", (50, 37))
    assert config is None
    assert (finding.name, finding.facts["rule"]) == ("bad-launch-config", rule)
    assert finding.primary is not None
    assert finding.primary.line == 16


@pytest.mark.parametrize(
    ("value", "construct"),
    [
        ("open('x'), 16", "open('x')"),
        ("(input(N), 1), 16", "input(N)"),
        ("(await N, 1), 16", "await N"),
    ],
)
def test_a_launch_configuration_that_cannot_be_followed_is_not_judged(value: str, construct: str) -> None:
    program = parse("import math\n" + KERNEL.replace("return grid, (TILE, TILE)", f"return {value}"))
    config, (finding,) = student_config(program, "launch_config", (50, 37))
    assert config is None
    assert (finding.name, finding.facts["construct"]) == ("unsupported-construct", construct)
    assert finding.primary is not None
    assert finding.primary.line == 17


def test_one_number_is_one_axis() -> None:
    program = parse(KERNEL.replace("return grid, (TILE, TILE)", "return N, 128"))
    assert student_config(program, "launch_config", (50, 37)) == (Config((37,), (128,)), ())


def test_a_missing_launch_configuration() -> None:
    config, (finding,) = student_config(parse("x = 1"), "launch_config", (1, 1))
    assert (config, finding.facts["rule"]) == (None, "missing")
