from __future__ import annotations

import json

import pytest

from grader.perf.devices import device
from grader.perf.gemm import Prediction, predict
from grader.perf.ladder import LADDER, parse_kernel
from grader.perf.reconcile import reconcile
from grader.reporters import model_json, model_table
from grader.reporters.model_words import gap_words, kernel_label, three, with_prefix
from grader.reporters.style import Style, display_width

PLAIN = Style(colour=False, width=100, unicode=True)

SEED_TABLE = """\
Matrix product, M, N, K = 4096, 4096, 4096: 137.4 GFLOP

  Kernel                               FLOP/byte  A100, ms  bound by       H100, ms  bound by
  Naive                                     0.25       354  HBM                 164  HBM
  Shared-memory tiles (32x32)               7.97      29.1  shared memory      16.9  shared memory
  Register blocking (128x128, 8x8)          31.5      7.05  the FP32 ALUs      2.18  shared memory
  Tensor cores (BF16, 128x128, 64x32)       62.1      1.42  HBM               0.661  HBM

  A model, not a measurement: FLOP per byte at HBM with the stores of C counted; nothing is found
  again in L2; the longest of the limits is the time.
"""


def ladder(*names: str, size: int = 4096) -> list[Prediction]:
    return [predict(kernel, device(name), size, size, size) for kernel in LADDER.values() for name in names]


def test_the_seeds_table() -> None:
    assert model_table.render(ladder("a100", "h100"), PLAIN) == SEED_TABLE


def test_devices_stand_below_one_another_where_the_width_is_small() -> None:
    text = model_table.render(ladder("a100", "h100"), Style(colour=False, width=80, unicode=True))
    assert max(map(display_width, text.splitlines())) <= 80
    assert text.count("FLOP/byte  ") == 2
    assert "A100, ms" in text
    assert "H100, ms" in text


def test_a_kernel_that_cannot_run_says_why_below_the_table() -> None:
    text = model_table.render([predict(parse_kernel("tiled:64"), device("h100"), 64, 64, 64)], PLAIN)
    assert "         -  cannot run" in text
    assert "cannot run on NVIDIA H100 SXM5 80 GB: 4,096 threads a block" in text
    assert text.endswith("at most\n    1,024.\n")


def test_colour_changes_nothing_but_escapes() -> None:
    coloured = model_table.render(ladder("h100"), Style(colour=True, width=100, unicode=True))
    assert "\x1b[1m" in coloured
    stripped = coloured.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert stripped == model_table.render(ladder("h100"), PLAIN)


def test_detail_shows_the_workings() -> None:
    prediction = predict(parse_kernel("tiled"), device("h200"), 1000, 700, 1001)
    text = model_table.render([prediction], PLAIN, detail=True)
    held = "2 blocks an SM, 64 of 64 warps, limited by threads and registers"
    for line in (
        "  FLOP                   1.4 GFLOP  1.5 GFLOP with the zeros of ragged tiles",
        "  bytes at HBM            180.6 MB  7.76 FLOP/byte",
        "  time, shared memory     0.182 ms  at 33.5 TB/s  binds",
        "  registers a thread            32  estimated",
        f"  occupancy                   100%  {held}",
    ):
        assert line in text.splitlines()


def test_a_reconciliation_gives_both_times_and_what_the_gap_says() -> None:
    prediction = predict(parse_kernel("register"), device("h200"), 4096, 4096, 4096)
    text = model_table.render([prediction], PLAIN, reconciliations=[reconcile(prediction, 5.8e-3)])
    assert "5.8 ms measured, 2.18 ms predicted: 38% of the model's speed, 23.7 TFLOP/s." in text
    assert "the FP32 ALUs 35%, HBM 16%, shared memory\n  38%." in text
    assert "Look at bank conflicts" in text


@pytest.mark.parametrize("kernel", ["naive", "tiled", "register", "tensor"])
@pytest.mark.parametrize("factor", [0.2, 0.5, 1.0, 2.0, 9.0])
@pytest.mark.parametrize("name", ["a100", "h200", "rtx4090"])
def test_every_gap_has_its_words(kernel: str, factor: float, name: str) -> None:
    prediction = predict(parse_kernel(kernel), device(name), 2048, 2048, 2048)
    assert prediction.seconds is not None
    found = reconcile(prediction, factor * prediction.seconds)
    assert gap_words(found).endswith(".")
    assert len(gap_words(found)) > 40
    assert "measured" in model_table.render([prediction], PLAIN, reconciliations=[found])


def test_json_holds_every_figure() -> None:
    prediction = predict(LADDER["register"], device("a100"), 4096, 4096, 4096)
    document = json.loads(model_json.render([prediction], [reconcile(prediction, 0.01)]))
    assert document["schema"] == "tilegrade/model"
    assert document["version"] == 1
    assert document["sizes"] == {"M": 4096, "N": 4096, "K": 4096}
    [found] = document["predictions"]
    assert found["kernel"] == {
        "kind": "register-blocked",
        "bm": 128,
        "bn": 128,
        "bk": 8,
        "tm": 8,
        "tn": 8,
        "dtype": "float32",
        "stages": 1,
    }
    assert found["bound_by"] == "alu"
    assert found["seconds"] == pytest.approx(7.048e-3, rel=1e-4)
    assert found["bytes"]["hbm"] == found["bytes"]["hbm_loads"] + found["bytes"]["hbm_stores"]
    assert found["occupancy"]["warps_per_sm"] == 16
    assert document["reconciliations"][0]["achieved"] == pytest.approx(0.7048, rel=1e-3)


def test_json_of_a_kernel_that_cannot_run_has_nulls_and_the_reason() -> None:
    prediction = predict(parse_kernel("tiled:64"), device("h100"), 64, 64, 64)
    [found] = json.loads(model_json.render([prediction]))["predictions"]
    assert found["seconds"] is None
    assert found["bound_by"] is None
    assert found["obstacles"][0] == {"name": "block-too-large", "wanted": 4096, "limit": 1024}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.24997, "0.25"),
        (353.58, "354"),
        (1718.2, "1,720"),
        (0.6611, "0.661"),
        (17.0, "17"),
        (1e-9, "0.000000001"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    assert three(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(549.8e9, "549.8 GB"), (201326592, "201.3 MB"), (8192, "8.2 kB"), (512, "512 B"), (4.8e12, "4.8 TB")],
)
def test_prefixes_are_decimal(value: float, text: str) -> None:
    assert with_prefix(value, "B") == text


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("naive", "Naive"),
        ("tiled:16", "Shared-memory tiles (16x16)"),
        ("tiled:32x32x8", "Shared-memory tiles (32x32x8)"),
        ("register:64x64x16/4", "Register blocking (64x64x16, 4x4)"),
        ("tensor:128x256", "Tensor cores (BF16, 128x256, 64x32)"),
    ],
)
def test_labels(text: str, label: str) -> None:
    assert kernel_label(parse_kernel(text)) == label
