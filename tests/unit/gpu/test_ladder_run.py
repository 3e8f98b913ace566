"""The parent of a climb with children that behave, crash, hang and babble; no GPU is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.gpu.ladder_run import Deadlines, run_rungs
from grader.perf.climb import Climb
from grader.perf.rungs import RUNGS

SIZES = [(1000, 1000, 1000), (64, 32, 16), (8, 8, 8)]
ABOUT = '{"gpu": "NVIDIA H200", "versions": {"numba": "0.68.0"}}'
HEAD = f"""
import json, os, sys, time
request = json.load(sys.stdin)
def say(**message):
    print(json.dumps(message), flush=True)
def climbed(sizes, **more):
    M, N, K = sizes
    known = {{"milliseconds": 2.5, "spread": 0.01, "repeats": 12, "max_relative_error": 1e-6}}
    say(rung=request["rung"], M=M, N=N, K=K, **(known | more))
print('{ABOUT}', flush=True)
"""


def climb(tmp_path: Path, body: str, deadlines: Deadlines | None = None, head: str = HEAD) -> Climb:
    script = tmp_path / "child.py"
    script.write_text(head + body, encoding="utf-8")
    quick = deadlines or Deadlines(start=20, size=0)
    return run_rungs(tmp_path, SIZES, rungs=RUNGS[:2], deadlines=quick, child=[sys.executable, str(script)])


def problems(found: Climb) -> list[str]:
    return [rung.problem for rung in found.rungs if rung.rung == "naive"]


def test_every_rung_is_climbed_at_every_size(tmp_path: Path) -> None:
    found = climb(tmp_path, "for sizes in request['sizes']: climbed(sizes)")
    assert (found.gpu, found.versions) == ("NVIDIA H200", {"numba": "0.68.0"})
    assert [(rung.sizes, rung.rung) for rung in found.rungs] == [
        (sizes, rung.name) for sizes in SIZES for rung in RUNGS[:2]
    ]
    assert all((rung.milliseconds, rung.problem) == (2.5, "") for rung in found.rungs)


@pytest.mark.parametrize(("architecture", "climbed"), [("sm_90", True), ("sm_80", False), ("sm_100", False)])
def test_a_rung_whose_instructions_the_gpu_lacks_is_left_out(
    tmp_path: Path, architecture: str, climbed: bool
) -> None:
    head = HEAD.replace('"versions"', f'"architecture": "{architecture}", "versions"')
    script = tmp_path / "child.py"
    script.write_text(head + "for sizes in request['sizes']: climbed(sizes)", encoding="utf-8")
    found = run_rungs(
        tmp_path, SIZES[:1], deadlines=Deadlines(start=20, size=0), child=[sys.executable, str(script)]
    )
    assert ("warpgroups" in {rung.rung for rung in found.rungs}) is climbed
    assert len(found.rungs) == len(RUNGS) - (not climbed)


def test_the_request_names_folder_rung_and_sizes(tmp_path: Path) -> None:
    said = climb(tmp_path, "climbed(request['sizes'][0], problem=json.dumps(request)); sys.exit(0)")
    assert str(tmp_path) in said.rungs[0].problem
    assert '"rung": "naive"' in said.rungs[0].problem
    assert '"seconds": 2.0' in said.rungs[0].problem


def test_resources_are_read(tmp_path: Path) -> None:
    resources = {"source": "driver", "registers": 40, "shared_bytes": 8, "threads": 256, "blocks_per_sm": 3}
    found = climb(tmp_path, f"for s in request['sizes']: climbed(s, resources={resources!r})")
    assert found.rungs[0].resources is not None
    assert (found.rungs[0].resources.registers, found.rungs[0].resources.blocks_per_sm) == (40, 3)


def test_a_crash_costs_its_size_alone(tmp_path: Path) -> None:
    body = """
for sizes in request["sizes"]:
    if sizes[0] == 64:
        print("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access", file=sys.stderr)
        sys.exit(1)
    climbed(sizes)
"""
    found = climb(tmp_path, body)
    assert problems(found) == ["", "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access", ""]
    assert [rung.milliseconds for rung in found.rungs if rung.rung == "naive"] == [2.5, None, 2.5]


def test_a_signal_is_named(tmp_path: Path) -> None:
    found = climb(tmp_path, "os.kill(os.getpid(), 11)")
    assert problems(found)[0] == "killed by signal 11"


def test_a_child_that_hangs_is_ended(tmp_path: Path) -> None:
    body = "climbed(request['sizes'][0])\ntime.sleep(60)"
    found = climb(tmp_path, body, Deadlines(start=1.5, size=0))
    # The one that is under way pays; each of the others gets a new child.
    assert problems(found) == ["", "not done after 2 s", ""]
    assert found.gpu == "NVIDIA H200"


def test_a_child_that_does_not_start_is_tried_once(tmp_path: Path) -> None:
    head = "import sys\nopen(__file__ + '.count', 'a').write('x')\nsys.exit('no module cupy')"
    found = climb(tmp_path, "", head=head)
    assert problems(found) == ["no module cupy"] * 3
    assert (tmp_path / "child.py.count").read_text() == "xx"  # once for each of two rungs
    assert found.gpu == ""


@pytest.mark.parametrize(
    "line", ["'nonsense'", '\'{"rung": 1, "other": 2}\'', "'[1'", '\'{"rung": "naive", "M": 1}\'']
)
def test_a_line_that_is_no_message_is_a_problem(tmp_path: Path, line: str) -> None:
    found = climb(tmp_path, f"print({line})")
    assert problems(found) == ["the child's answer cannot be read"] * 3


def test_silence_is_no_result(tmp_path: Path) -> None:
    assert problems(climb(tmp_path, "")) == ["the child gave no result"] * 3


def test_a_child_that_cannot_be_started(tmp_path: Path) -> None:
    found = run_rungs(tmp_path, SIZES, rungs=RUNGS[:1], child=[str(tmp_path / "missing")])
    assert [rung.problem for rung in found.rungs] == [
        "the child cannot be started: No such file or directory"
    ] * 3
