from __future__ import annotations

from dataclasses import replace

import pytest

from grader.diagnosis import rounding
from grader.diagnosis.explain import explain
from tests.unit.diagnosis.examples import EXAMPLES, TILED, edited, place

LOOP = "for t in range((K + TILE - 1) // TILE):"


def loop(text: str, head: str) -> str:
    return rounding.of_loop(tuple(text.splitlines()), place(text, head))


def head(new: str, before: str = "") -> tuple[str, str]:
    source = edited(LOOP, new + ":")
    return (edited("    acc = float32(0.0)\n", f"    acc = float32(0.0)\n{before}", source), new)


@pytest.mark.parametrize(
    ("new", "before", "how"),
    [
        ("for t in range(K // TILE)", "", "down"),
        ("for t in range(int(K / TILE))", "", "down"),
        ("for t in range(K >> 4)", "", "down"),
        ("for t in range(tiles)", "    tiles = K // TILE\n", "down"),
        ("for t in range(tiles)", "    tiles = K // TILE\n    tiles += 1\n", ""),
        ("for t in range(round(K / TILE))", "", "nearest"),
        ("for t in range((K + TILE - 1) // TILE)", "", ""),
        ("for t in range(-(-K // TILE))", "", ""),
        ("for t in range(0, K, TILE)", "", ""),
        ("for t in range(full)", "    full, rest = divmod(K, TILE)\n", ""),
    ],
)
def test_how_the_number_of_rounds_is_rounded(new: str, before: str, how: str) -> None:
    text, code = head(new, before)
    assert loop(text, code) == how


def test_where_more_is_added_after_the_loop_nothing_is_said() -> None:
    text, code = head("for t in range(K // TILE)")
    rest = "    for k in range(K // TILE * TILE, K):\n        acc += A[row, k] * B[k, col]\n"
    assert (
        loop(edited("    if row < M and col < N:\n", rest + "    if row < M and col < N:\n", text), code)
        == ""
    )


@pytest.mark.parametrize(
    ("new", "because", "action"),
    [
        ("for t in range(K // TILE)", "rounded down", "rounded up"),
        ("for t in range(round(K / TILE))", "nearest whole number", "rounded up"),
        ("for t in range(count(K))", "on this shape the last tile of k", "come into the sum too"),
    ],
)
def test_why_only_full_tiles_are_summed_is_said_where_the_loop_shows_it(
    new: str, because: str, action: str
) -> None:
    text, code = head(new)
    example = EXAMPLES["dropped-k-tail"]
    finding = replace(example.finding, primary=place(text, code))
    context = replace(
        example.context, source_lines=tuple(text.splitlines()), confirmed=None, repair=None, mended=None
    )
    message = explain(finding, context)
    assert because in message.because
    assert action in message.hints[2]


@pytest.mark.parametrize(
    ("returned", "how"),
    [
        ("(N // TILE, M // TILE), (TILE, TILE)", "down"),
        ("(round(N / TILE), round(M / TILE)), (TILE, TILE)", "nearest"),
        ("(-(-N // TILE), -(-M // TILE)), (TILE, TILE)", ""),
        ("(gx, gy), (TILE, TILE)", "down"),
        ("grid, (TILE, TILE)", ""),
    ],
)
def test_how_the_blocks_of_a_grid_are_rounded(returned: str, how: str) -> None:
    blocks = "    gx = (N + TILE - 1) // TILE\n    gy = M // TILE\n"
    text = f"def launch_config(M, N):\n{blocks}    return {returned}\n"
    assert rounding.of_grid(tuple(text.splitlines()), place(text, f"return {returned}"), 1) == how


def test_the_store_is_no_loop() -> None:
    assert loop(TILED, "C[row, col]") == ""
