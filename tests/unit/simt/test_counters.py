"""Counters against what an H200's performance monitor read for the same launches."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.simt import Counters, launch

DATA = Path(__file__).with_name("data")
SOURCE = (DATA / "kernels_of_counters.py").read_text(encoding="utf-8")
ROWS = list(csv.DictReader((DATA / "counters.csv").read_text(encoding="utf-8").splitlines()))
EQUAL = (
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
    "shared_store_bank_conflicts",
    "ffma_threads",
    "fadd_threads",
    "fmul_threads",
    "shared_bytes_per_block",
)


def _row_id(row: dict[str, str]) -> str:
    return f"{row['kernel']}-{row['M']}x{row['N']}x{row['K']}"


def _counters(row: dict[str, str]) -> Counters:
    M, N, K = (int(row[name]) for name in "MNK")
    rng = np.random.default_rng(0)
    shape_b, shape_c = ((N, K), (K, M)) if row["kernel"] == "transpose_unpadded" else ((K, N), (M, N))
    A, B = (rng.random(shape, np.float32) for shape in ((M, K), shape_b))
    C = np.zeros(shape_c, np.float32)
    grid, block = (int(row["gx"]), int(row["gy"])), (int(row["bx"]), int(row["by"]))
    run = launch(SOURCE, row["kernel"], grid=grid, block=block, args=(A, B, C, M, N, K))
    assert run.completed
    harmless = {"uninitialised-shared-read"} if row["kernel"] == "strided_bank" else set()
    assert {finding.name for finding in run.errors} == harmless
    return run.counters


@pytest.mark.parametrize("row", ROWS, ids=_row_id)
def test_counters_equal_the_hardware(row: dict[str, str]) -> None:
    counted = _counters(row)
    got: dict[str, Any] = {name: getattr(counted, name) for name in EQUAL}
    assert got == {name: int(row[name]) for name in EQUAL}
    if row["kernel"] == "tiled16_row_on_x":
        # The compiler widens a_tile[x, k] over k to 128-bit loads, a quarter of the requests with
        # conflicts of their own; the source has 32-bit loads, 128 bytes from lane to lane.
        assert int(row["shared_load_bank_conflicts"]) == 196_608
        assert counted.shared_load_bank_conflicts == 458_752
    else:
        assert counted.shared_load_bank_conflicts == int(row["shared_load_bank_conflicts"])
