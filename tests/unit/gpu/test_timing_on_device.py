"""The protocol on a GPU: tricks as kernels, the control beside each, repeatability, and a whole timing.

The same tricks run under numba's simulator where there is no GPU, in a process that has it switched on;
two need CuPy and so a GPU.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from grader.gpu.available import gpu_reason
from grader.gpu.sandbox import find_sandbox
from grader.gpu.timed_answers import TimedShape
from grader.gpu.timed_product import Product
from grader.gpu.timed_runs import time_on_device
from grader.gpu.timing import Samples, judged
from grader.simt import parse
from grader.simt.plan import Plan, plan

ROOT = Path(__file__).parents[3]
PRODUCT = Product(1000, 1030, 900)
ALONE = ("honest", "replay", "caching", "lazy", "nan", "zeros")
WITH_CUPY = ("cublas", "stream", "tf32")

SIMULATED = """
import json, warnings
warnings.simplefilter("ignore")
from tests.unit.gpu.device_tricks import EXPECTED, Tricks, naive, verdict
from grader.gpu.timed_product import Product
from grader.gpu.timing import Limits
tricks = Tricks(Product(5, 6, 4), 64)
limits = Limits(warmups=1, least=2, most=2, target=1.0)
names = json.loads('NAMES')
print(json.dumps({name: [verdict(tricks, name, 0.0, limits), naive(tricks, name, 2)] for name in names}))
"""


@pytest.fixture(scope="module")
def simulated() -> dict[str, Any]:
    pytest.importorskip("numba.cuda", reason="needs numba-cuda, of the compile extra")
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED.replace("NAMES", json.dumps(ALONE))],
        env={"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("name", ALONE)
def test_tricks_as_kernels_under_the_simulator(simulated: dict[str, Any], name: str) -> None:
    believed, control = simulated[name]
    assert believed["verdict"] == ("" if name in ("honest", "caching") else "wrong-timed-output")
    assert control["right"]


@pytest.fixture(scope="module")
def tricks() -> Any:
    if reason := gpu_reason():
        pytest.skip(reason)
    from tests.unit.gpu.device_tricks import Tricks

    return Tricks(PRODUCT, 128 * 2**20)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*ALONE, *WITH_CUPY])
def test_a_trick_on_a_gpu(tricks: Any, name: str) -> None:
    from tests.unit.gpu import device_tricks

    if name in WITH_CUPY:
        pytest.importorskip("cupy", reason="needs CuPy, of the gpu extra")
    believed = device_tricks.verdict(tricks, name, 0.0)
    assert believed["verdict"] == device_tricks.EXPECTED[name]
    control = device_tricks.naive(tricks, name)
    assert control["right"], "the naive timer was to believe this"


@pytest.mark.gpu
def test_a_cache_is_timed_computing_where_the_naive_timer_sees_it_answer(tricks: Any) -> None:
    from tests.unit.gpu import device_tricks

    honest = device_tricks.verdict(tricks, "honest", 0.0)["milliseconds"]
    assert device_tricks.verdict(tricks, "caching", 0.0)["milliseconds"] > 0.8 * honest
    assert device_tricks.naive(tricks, "caching")["milliseconds"] < 0.5 * honest


@pytest.mark.gpu
def test_an_empty_launch_is_below_the_floor(tricks: Any) -> None:
    from grader.gpu.timing_floor import floor_of

    tricks.operations.record("start")
    tricks.operations.record("stop")
    nothing = tricks.operations.elapsed("start", "stop")
    floor = floor_of(Product(4096, 4096, 4096), "NVIDIA H200", {})
    assert judged(Samples((nothing,)), floor) == "below-floor"


@pytest.mark.gpu
def test_two_timings_of_one_kernel_agree_and_a_slow_one_is_told_apart() -> None:
    if reason := gpu_reason():
        pytest.skip(reason)
    text = (ROOT / "solutions" / "02_ragged_dims.py").read_text()
    fast, again, slow = (_median(text, tile) for tile in (32, 32, 8))
    assert abs(fast - again) / fast < 0.05
    assert slow > 1.3 * fast


@pytest.mark.gpu
def test_a_timing_in_a_sandbox_has_cublas_beside_it() -> None:
    if reason := gpu_reason():
        pytest.skip(reason)
    sandbox = find_sandbox()
    if sandbox is None:
        pytest.skip("no sandbox here: bubblewrap is not installed or does not hold")
    text = (ROOT / "solutions" / "02_ragged_dims.py").read_text()
    timing = _timing(text, 16, 1000, sandbox)
    assert timing.rejected == ""
    assert timing.device
    assert timing.clock_mhz > 0
    if find_spec("cupy") is None:
        pytest.skip("needs CuPy, of the gpu extra")
    assert timing.no_library == ""
    assert 0 < (timing.share_of_library or 0) < 1


def _median(text: str, tile: int) -> float:
    # The kernel is ours; that a sandbox lets a GPU through is the test above.
    timing = _timing(text, tile, 2048, None)
    assert timing.rejected == ""
    assert timing.floor_milliseconds > 0
    return timing.milliseconds


def _timing(text: str, tile: int, size: int, sandbox: Any) -> Any:
    planned = plan(parse(text.replace("TILE = 16", f"TILE = {tile}")), "tiled_matmul")
    assert isinstance(planned, Plan)
    shape = TimedShape(
        {"M": size, "N": size, "K": size},
        Product(size, size, size),
        (-(-size // tile), -(-size // tile)),
        (tile, tile),
        ("left", "right", "out", size, size, size),
    )
    (one,) = time_on_device(planned.request(), [shape], sandbox=sandbox)
    return one
