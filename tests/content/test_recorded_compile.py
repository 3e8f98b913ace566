"""What the compile check said beside the driver on an H200, in docs/results, and what it says here."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader.gpu import compile_child
from grader.gpu.compile import compile_reason
from tools.hardware import compiled_record

ROOT = Path(__file__).parents[2]
DATA: dict[str, Any] = json.loads(
    (ROOT / "docs" / "results" / "compile_h200.json").read_text(encoding="utf-8")
)
KERNELS: dict[str, dict[str, Any]] = DATA["kernels"]
#: How far another release of the compiler may be off: a fifth, or eight registers.
OTHER_RELEASE = 0.2, 8
DIGESTS = compiled_record.digests()
#: Kernels that were changed after the last run on a GPU, and what speaks for them until the next.
CHANGED_SINCE: dict[str, str] = {}
HERE = {name: (plan, types) for name, plan, types in compiled_record.kernels()}

needs_compiler = pytest.mark.skipif(
    bool(compile_reason()) or importlib.util.find_spec("nvidia") is None,
    reason="the extra `compile` is not installed",
)


@pytest.mark.parametrize("name", KERNELS)
def test_the_driver_reports_what_the_compile_check_said(name: str) -> None:
    compiled, driver = KERNELS[name]["compiled"], KERNELS[name]["driver"]
    assert compiled["registers"] == driver["regs_per_thread"]
    assert compiled["shared_bytes"] == driver["shared_mem_per_block"]
    assert compiled["stack_bytes"] == driver["local_mem_per_thread"]


@pytest.mark.parametrize("name", KERNELS)
def test_the_record_is_of_the_kernels_text_as_it_is(name: str) -> None:
    anew = "python -m tools.hardware.compiled_record FOLDER --registers, on a GPU"
    same = KERNELS[name]["text"] == DIGESTS[name]
    assert same != (name in CHANGED_SINCE), f"{name}: record it anew: {anew}"


def test_the_record_covers_the_solutions_and_the_ladder() -> None:
    assert set(KERNELS) == set(HERE)
    for folder in ("solutions", "solutions/ladder"):
        names = {f"{Path(folder).name}/{path.stem}" for path in (ROOT / folder).glob("*.py")}
        assert names <= set(KERNELS)


@needs_compiler
@pytest.mark.parametrize("name", KERNELS)
def test_the_compile_check_says_the_same_here(name: str, record_property: Any) -> None:
    compile_child._find_numba()
    found = compile_child.compile_kernel(*HERE[name], "sm_90")
    recorded = KERNELS[name]["compiled"]
    assert "error" not in found
    assert found["shared_bytes"] == recorded["shared_bytes"]
    toolkits = [
        (about["nvvm"], about["nvjitlink"])
        for about in (compile_child._versions(), DATA["about"]["versions"])
    ]
    if toolkits[0] == toolkits[1] and name not in CHANGED_SINCE:
        assert found["registers"] == recorded["registers"]
        return
    record_property("another toolkit", f"here {toolkits[0]}, recorded with {toolkits[1]}")
    share, registers = OTHER_RELEASE
    most = max(registers, share * recorded["registers"])
    assert abs(found["registers"] - recorded["registers"]) <= most, f"other toolkit: {toolkits}"


def test_the_page_counts_the_kernels_of_the_record() -> None:
    page = (ROOT / "docs" / "compile.md").read_text(encoding="utf-8")
    quoted = re.search(r"equal for all (\d+) kernels \(numba-cuda ([\d.]+), CUDA ([\d.]+)\)", page)
    assert quoted is not None
    assert int(quoted[1]) == len(KERNELS)
    assert (quoted[2], quoted[3]) == (DATA["about"]["versions"]["numba-cuda"], DATA["about"]["cuda"])
