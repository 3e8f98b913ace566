from __future__ import annotations

import pytest

from grader.records import Span
from grader.simt import NotConstant, parse

DEF = "from numba import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\n"


def test_a_deleted_name_has_no_value() -> None:
    program = parse("TILE = 16\ndel TILE\n")
    with pytest.raises(NotConstant):
        program.constant("TILE")
    binding = program.binding("TILE")
    assert binding is not None
    assert binding.lineno == 2


@pytest.mark.parametrize("last", ["del k", "k = None", "k = 3", "for k in (1, 2): pass", "import k"])
def test_a_name_that_holds_no_function_any_more(last: str) -> None:
    program = parse(f"{DEF}def outer():\n    def k(a):\n        pass\n{last}\n")
    assert program.function("k", {}) is None


def test_a_function_of_a_factory_is_found_where_nothing_else_has_the_name() -> None:
    program = parse("from numba import cuda\ndef make():\n    @cuda.jit\n    def k(a):\n        a[0] = 1\n")
    function = program.function("k", {})
    assert function is not None
    assert (function.jit, function.node.lineno) == ("numba.cuda.jit", 4)


def test_a_definition_on_a_branch_that_cannot_be_decided_counts() -> None:
    program = parse(
        "from numba import cuda\nif cuda.is_available():\n    @cuda.jit\n    def k(a):\n        pass\n"
    )
    function = program.function("k", {})
    assert function is not None
    assert function.jit == "numba.cuda.jit"


def test_options_of_a_decorator_are_kept_until_it_is_used() -> None:
    made = "g = cuda.jit(device=True)(f)\nh = cuda.jit('void(i4[:])')(f)\n"
    program = parse(f"from numba import cuda\ndef f(a):\n    pass\n{made}")
    g, h = program.function("g", {}), program.function("h", {})
    assert g is not None
    assert h is not None
    assert (g.device, h.device, h.signature is not None) == (True, False, True)
    assert program.kernels == ("h",)


@pytest.mark.parametrize(
    "deep",
    [
        "-" * 400 + "1",
        "not " * 400 + "a",
        "a" + ".x" * 400,
        "1" + " + 1" * 400,
        "-" * 5000 + "1",
        "a" + ".x" * 5000,
    ],
)
def test_deep_nesting_is_reported_where_it_is(deep: str) -> None:
    program = parse(f"import math\n\n\ndef f(a):\n    b = {deep}\n    return b\n")
    (finding,) = program.findings
    assert (finding.name, finding.facts["message"]) == ("syntax-error", "nested too deeply")
    assert finding.primary == Span(5, 5, 5, 9 + len(deep))


def test_deep_nesting_in_the_test_of_a_branch() -> None:
    (finding,) = parse(f"x = 1\nif {'not ' * 5000}x:\n    pass\nelif x:\n    pass\n").findings
    assert finding.primary is not None
    assert finding.primary.line == 2
