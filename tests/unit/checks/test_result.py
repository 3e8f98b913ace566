from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from grader.checks.inputs import Arguments, draw_arguments, is_exact, old_values
from grader.checks.result import tolerance, wrong_elements
from grader.rubric.model import ArgSpec, KernelSpec, LaunchSpec

Array = npt.NDArray[Any]
GEMM = KernelSpec(
    name="product",
    args={
        name: ArgSpec.parse(text)
        for name, text in {
            "A": "float32[M, K]",
            "B": "float32[K, N]",
            "C": "out float32[M, N]",
            "M": "int",
            "N": "int",
            "K": "int",
        }.items()
    },
    launch=LaunchSpec(),
    reference="A @ B",
)
SIZES = {"M": 50, "N": 37, "K": 40, "TILE": 16}


def drawn(*, exact: bool, sizes: dict[str, int] = SIZES, key: bytes = b"") -> Arguments:
    return draw_arguments(GEMM, sizes, "test", exact=exact, key=key)


def wrong(arguments: Arguments, out: Array) -> int:
    return int(wrong_elements(GEMM, arguments, {**arguments.values, "C": out})["C"].sum())


def test_arguments_come_in_the_kernels_order() -> None:
    values = drawn(exact=True).values
    assert list(values) == ["A", "B", "C", "M", "N", "K"]
    assert values["A"].shape == (50, 40)
    assert values["A"].dtype == np.float32
    assert (values["M"], values["N"], values["K"]) == (50, 37, 40)


def test_the_same_label_gives_the_same_numbers_and_a_key_others() -> None:
    first, again, keyed = drawn(exact=False), drawn(exact=False), drawn(exact=False, key=b"k")
    assert np.array_equal(first.values["A"], again.values["A"])
    assert not np.array_equal(first.values["A"], keyed.values["A"])


def test_whole_numbers_have_one_sign_in_each_sum() -> None:
    arguments = drawn(exact=True)
    a, b = arguments.values["A"], arguments.values["B"]
    assert a.min() >= 1
    assert all(len(set(np.sign(column))) == 1 for column in b.T)
    assert {-1, 1} == set(np.sign(b[0]))
    assert np.array_equal(arguments.expected["C"].magnitude, np.abs(arguments.expected["C"].value))


def test_the_exact_pass_is_exact_in_float32_for_every_suite_size() -> None:
    arguments = drawn(exact=True, sizes={"M": 3, "N": 2, "K": 200, "TILE": 32})
    assert is_exact(GEMM, arguments)
    assert arguments.expected["C"].magnitude.max() < 2**17
    assert not is_exact(GEMM, drawn(exact=False))


def test_the_old_output_equals_no_result_and_is_exact() -> None:
    old = old_values((50, 37), "float32")
    assert np.all(old != np.rint(old))
    assert np.all(old < -70_000)
    assert np.array_equal((old + np.float32(12345)) - np.float32(12345), old)


def test_the_approximate_pass_starts_with_nan() -> None:
    assert np.isnan(drawn(exact=False).values["C"]).all()


def float32_product(arguments: Arguments) -> Array:
    a, b = arguments.values["A"], arguments.values["B"]
    out = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        out += a[:, k : k + 1] * b[k : k + 1]
    return out


@pytest.mark.parametrize("depth", [1, 2, 7, 40, 191, 2000])
def test_a_float32_product_is_within_the_tolerance_in_any_order(depth: int) -> None:
    arguments = drawn(exact=False, sizes={"M": 40, "N": 30, "K": depth, "TILE": 16})
    a, b = arguments.values["A"], arguments.values["B"]
    assert wrong(arguments, float32_product(arguments)) == 0
    assert wrong(arguments, a @ b) == 0
    pairwise = (a[:, :, None] * b[None]).sum(axis=1, dtype=np.float32)
    assert wrong(arguments, pairwise) == 0


def test_rounding_uses_a_small_part_of_the_tolerance() -> None:
    arguments = drawn(exact=False, sizes={"M": 40, "N": 30, "K": 191, "TILE": 16})
    estimate = arguments.expected["C"]
    some = estimate.magnitude > 0
    used = np.abs(float32_product(arguments) - estimate.value)[some] / tolerance(estimate, 2.0**-23)[some]
    assert 0.001 < used.max() < 0.5


@pytest.mark.parametrize(
    "spoil",
    [
        np.zeros_like,
        lambda c: np.full_like(c, np.nan),
        lambda c: np.full_like(c, np.inf),
        lambda c: c * np.float32(1 + 1e-5),
        lambda c: c.astype(np.float16).astype(np.float32),
        lambda c: c[::-1].copy(),
        lambda c: -c,
    ],
)
def test_the_tolerance_rejects(spoil: Callable[[Array], Array]) -> None:
    arguments = drawn(exact=False)
    right = float32_product(arguments)
    assert wrong(arguments, right) == 0
    assert wrong(arguments, spoil(right)) > 0.9 * right.size


def test_the_tolerance_rejects_one_missing_product() -> None:
    arguments = drawn(exact=False)
    a, b = arguments.values["A"], arguments.values["B"]
    out = float32_product(arguments) - a[:, 39:] * b[39:]
    assert wrong(arguments, out) > 0.99 * np.count_nonzero(a[:, 39:] * b[39:])


def test_one_wrong_element_is_found_in_both_passes() -> None:
    for exact in (True, False):
        arguments = drawn(exact=exact)
        out = float32_product(arguments)
        out[3, 5] += np.float32(1 if exact else 1e-3)
        masks = wrong_elements(GEMM, arguments, {**arguments.values, "C": out})
        assert np.argwhere(masks["C"]).tolist() == [[3, 5]]
