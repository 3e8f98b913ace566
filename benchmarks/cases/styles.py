"""Other styles of the product against the two-dimensional tiled kernel: flat thread ids, register blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from measure import HERE, Figure, Result, Skipped, machine_product, median_seconds

TARGET = 2.0


def run(small: bool) -> Result:
    n = 64 if small else 512
    times = 1 if small else 3
    tiled = median_seconds(machine_product(n, n, n, 16), times)
    flat = median_seconds(_product("flat_ids", n, (n // 16, n // 16), (256,)), times)
    blocked = median_seconds(_product("register_blocked", n, (n // 64, n // 64), (16, 16)), times)

    def figure(name: str, seconds: float) -> Figure:
        ratio = seconds / tiled
        return Figure(
            f"{name} over tiled", ratio, "times", f"at most {TARGET}", None if small else ratio <= TARGET
        )

    return Result(
        f"styles of the product at {n}^3",
        [
            Figure("tiled, TILE 16", tiled, "s"),
            Figure("flat thread ids, TILE 16", flat, "s"),
            Figure("register-blocked 64x64x8, 4x4", blocked, "s"),
            figure("flat thread ids", flat),
            figure("register-blocked", blocked),
        ],
    )


def _product(kernel: str, n: int, grid: tuple[int, ...], block: tuple[int, ...]) -> Callable[[], None]:
    try:
        from grader.simt import launch
    except ImportError as error:
        raise Skipped(f"the machine is not there: {error}") from error
    text = (HERE / "style_kernels.py").read_text(encoding="utf-8")
    rng = np.random.default_rng(1)
    A, B = rng.random((n, n), dtype=np.float32), rng.random((n, n), dtype=np.float32)
    expected = A.astype(np.float64) @ B

    def product() -> None:
        C = np.full((n, n), np.nan, dtype=np.float32)
        done = launch(text, kernel, grid=grid, block=block, args=(A, B, C, n, n, n))
        if done.errors or not done.completed or not np.allclose(C, expected, rtol=1e-4, atol=0):
            raise RuntimeError(f"the machine judged {kernel} wrong: {done.errors}")

    return product
