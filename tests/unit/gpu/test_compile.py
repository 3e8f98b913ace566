"""The compile check: real figures of the real compiler, without a GPU."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from typing import Any

import pytest

from grader.gpu import compile as compiling
from grader.gpu.compile import compile_check, compile_reason
from grader.gpu.compile_child import _constant_bytes, _first, _resources
from grader.gpu.sandbox import Limits, Ran, find_sandbox
from grader.records import Compilation
from grader.simt import parse
from grader.simt.plan import Plan, plan

needs_compiler = pytest.mark.skipif(
    bool(compile_reason()),
    reason="the extra `compile` is not installed",
)
VECTOR = {"dtype": "float32", "ndim": 1, "layout": "C"}
HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float32, njit\n"


def plan_of(text: str) -> dict[str, Any]:
    found = plan(parse(HEAD + text), "kernel")
    assert isinstance(found, Plan), found
    return found.request()


def check(text: str, *archs: str, **options: Any) -> tuple[Compilation, ...]:
    types = options.pop("types", [VECTOR])
    answer = compile_check(plan_of(text), types, archs or ("sm_90",), options.pop("threads", 256), **options)
    assert answer.reason == ""
    return answer.results


STAGED = """
TILE = 16
@cuda.jit
def kernel(x):
    s = cuda.shared.array((TILE, TILE), float32)
    s[cuda.threadIdx.y, cuda.threadIdx.x] = x[0]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = s[cuda.threadIdx.x, 0]
"""


@needs_compiler
def test_each_architecture_has_its_figures() -> None:
    old, new = check(STAGED, "sm_75", "sm_90")
    assert (old.arch, new.arch) == ("sm_75", "sm_90")
    assert old.shared_bytes == new.shared_bytes == 16 * 16 * 4
    assert 0 < new.registers <= 32
    assert new.constant_bytes > old.constant_bytes > 0
    assert min(old.ptx_bytes, old.cubin_bytes, new.ptx_bytes, new.cubin_bytes) > 1000
    assert (old.warps, old.most_warps, old.occupancy) == (32, 32, 1.0)
    assert (new.warps, new.most_warps, new.occupancy) == (64, 64, 1.0)
    assert (new.spill_store_bytes, new.stack_bytes, new.error) == (0, 0, "")


@needs_compiler
def test_shared_memory_limits_occupancy() -> None:
    (one,) = check(STAGED.replace("TILE = 16", "TILE = 100"), threads=64)
    # 40,000 bytes and 1,024 reserved: five blocks of two warps fit into 228 KiB.
    assert (one.shared_bytes, one.warps, one.limited_by) == (40000, 10, "shared-memory")
    (one,) = check(STAGED, threads=64, dynamic_shared_bytes=100_000)
    assert (one.shared_bytes, one.warps, one.limited_by) == (1024, 4, "shared-memory")


@needs_compiler
def test_a_limit_on_registers_makes_the_kernel_spill() -> None:
    text = """
@cuda.jit(max_registers=24)
def kernel(x):
    acc = cuda.local.array(32, float32)
    for k in range(32):
        acc[k] = x[k]
    for t in range(8):
        for k in range(32):
            acc[k] = acc[k] * acc[31 - k] + x[t]
    for k in range(32):
        x[k] = acc[k]
"""
    (one,) = check(text)
    assert one.registers == 24
    assert one.spill_store_bytes > 0
    assert one.spill_load_bytes > 0
    (free,) = check(text.replace("(max_registers=24)", ""))
    assert free.spill_store_bytes == 0
    assert free.registers > 32


@needs_compiler
@pytest.mark.parametrize(
    "text",
    [
        "@cuda.jit(device=True)\ndef f(a):\n    return a + 1\n",
        "@cuda.jit\ndef f(a):\n    return a + 1\n",
        "@njit\ndef f(a, b=1):\n    return a + b\n",
        '@cuda.jit("float32(float32)", device=True)\ndef f(a):\n    return a + 1\n',
        "@cuda.jit(device=True, inline='always')\ndef f(a):\n    return a + 1\n",
    ],
)
def test_device_functions_need_no_device(text: str) -> None:
    (one,) = check(f"{text}@cuda.jit\ndef kernel(x):\n    x[0] = f(x[1])\n", "sm_80")
    assert one.error == ""
    assert one.registers > 0


@needs_compiler
def test_grid_sync_compiles() -> None:
    text = "@cuda.jit\ndef kernel(x):\n    g = cuda.cg.this_grid()\n    g.sync()\n    x[1] = x[0]\n"
    (one,) = check(text)
    assert one.error == ""
    assert one.registers > 0


COPIES = """
from grader.gpu.ptx import load4, store4
@cuda.jit
def kernel(x):
    registers = cuda.local.array(4, float32)
    load4(registers, 0, x, 4 * cuda.threadIdx.x)
    store4(x, 4 * cuda.threadIdx.x, registers, 0)
"""


@needs_compiler
@pytest.mark.parametrize("sandboxed", [False, True])
def test_the_ptx_module_is_at_hand(sandboxed: bool) -> None:
    sandbox = find_sandbox() if sandboxed else None
    if sandboxed and sandbox is None:
        pytest.skip("no sandbox on this machine")
    (one,) = check(COPIES, sandbox=sandbox)
    assert (one.error, one.stack_bytes) == ("", 0)


@needs_compiler
def test_the_signature_decides_the_types() -> None:
    text = '@cuda.jit("void(int32[:])")\ndef kernel(x):\n    x[0] = x[1] ^ 3\n'
    (one,) = check(text)
    assert one.error == ""
    (other,) = check(text.replace('("void(int32[:])")', ""))
    assert (other.error_kind, other.line) == ("refused", 6)


@needs_compiler
def test_errors_have_the_students_line() -> None:
    helper = "@cuda.jit(device=True)\ndef f(a):\n    return a + 'one'\n"
    text = f"{helper}@cuda.jit\ndef kernel(x):\n    x[0] = f(x[1])\n"
    (one,) = check(text)
    assert (one.error_kind, one.line) == ("refused", 6)
    assert "add(float32, Literal[str](one))" in one.error
    assert "0x" not in one.error
    shape = "    n = x.shape[0]\n    s = cuda.shared.array(n, float32)\n    x[0] = s[0]\n"
    (one,) = check(f"@cuda.jit\ndef kernel(x):\n{shape}")
    assert (one.error_kind, one.line) == ("refused", 7)


@needs_compiler
def test_what_no_module_holds_and_unknown_architectures() -> None:
    (one,) = check("from numba import nothing\n@cuda.jit\ndef kernel(x):\n    x[0] = nothing\n")
    assert (one.error_kind, one.line, one.error) == ("unknown-name", 6, "numba.nothing")
    good, bad = check("@cuda.jit\ndef kernel(x):\n    x[0] = 1\n", "sm_90", "sm_37")
    assert good.error == ""
    assert bad.error_kind == "arch"
    assert bad.error.startswith("known here: sm_75, sm_80")


@needs_compiler
def test_in_the_sandbox_the_figures_are_the_same() -> None:
    sandbox = find_sandbox()
    if sandbox is None:
        pytest.skip("no sandbox on this machine")
    assert check(STAGED, "sm_80", sandbox=sandbox) == check(STAGED, "sm_80")


def test_without_the_extra_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        compiling.importlib.util, "find_spec", lambda name: None if name == "cuda" else known(name)
    )
    answer = compile_check({}, [], ["sm_90"], 32)
    assert answer.results == ()
    assert answer.reason == "cuda-bindings is not installed: pip install '.[compile]' in Tilegrade's checkout"


@pytest.mark.parametrize("output", [b"", b"{", b"[]", b'{"results": []}', b'{"results": 3}'])
def test_a_childs_bad_answer_is_a_reason(monkeypatch: pytest.MonkeyPatch, output: bytes) -> None:
    monkeypatch.setattr(compiling, "compile_reason", lambda: "")
    monkeypatch.setattr(compiling, "run_child", lambda *_: Ran(output, "" if output else "it ended early"))
    answer = compile_check({"bad": repr(output)}, [], ["sm_90"], 32)
    assert answer.results == ()
    assert "the compiler's child" in answer.reason


ANSWER = {
    "versions": {"numba": "2", "nvvm": "1"},
    "results": [{"error": {"kind": "refused", "message": "m"}}],
}


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> list[Limits]:
    """A child that answers at once; the limits that each was given."""
    given: list[Limits] = []

    def run(*words: Any) -> Ran:
        given.append(words[5])
        return Ran(json.dumps(ANSWER).encode())

    monkeypatch.setattr(compiling, "compile_reason", lambda: "")
    monkeypatch.setattr(compiling, "_kept", {})
    monkeypatch.setattr(compiling, "run_child", run)
    return given


def test_a_child_has_no_more_time_than_is_left(child: list[Limits]) -> None:
    assert compile_check({"a": 1}, [], ["sm_90"], 32, seconds=7).reason == ""
    assert compile_check({"a": 2}, [], ["sm_90"], 32).reason == ""
    assert [one.seconds for one in child] == [7, 120]
    late = compile_check({"a": 3}, [], ["sm_90"], 32, seconds=0.5)
    assert late.reason == "the compiler's child had no time left"
    assert len(child) == 2


def test_the_same_kernel_is_compiled_once_and_a_child_that_failed_is_asked_again(
    child: list[Limits], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (compile_check({"a": 1}, [], ["sm_90"], 32) for _ in range(2))
    assert (first == second, len(child)) == (True, 1)
    answered = compiling.run_child
    monkeypatch.setattr(compiling, "run_child", lambda *_: Ran(b"", "it ended early"))
    lost = compile_check({"a": 2}, [], ["sm_90"], 32)
    assert lost.reason == "the compiler's child failed: it ended early"
    monkeypatch.setattr(compiling, "run_child", answered)
    assert compile_check({"a": 2}, [], ["sm_90"], 32).reason == ""


def test_other_versions_than_the_ones_asked_for_give_no_results(child: list[Limits]) -> None:
    good = compile_check({"a": 1}, [], ["sm_90"], 32, toolkit="numba 2, nvvm 1")
    assert (good.reason, good.toolkit, good.results[0].error) == ("", "numba 2, nvvm 1", "m")
    other = compile_check({"a": 1}, [], ["sm_90"], 32, toolkit="numba 1, nvvm 1")
    assert other.results == ()
    assert other.reason == (
        "the compiler's child has other versions: numba 2, nvvm 1 in place of numba 1, nvvm 1"
    )


@needs_compiler
def test_the_versions_are_those_that_decide_the_figures() -> None:
    bare = compile_check(plan_of(STAGED), [VECTOR], ["sm_90"], 32)
    assert {"numba", "numba-cuda", "nvvm", "nvjitlink"} <= set(bare.versions)
    sandbox = find_sandbox()
    if sandbox is not None:
        assert (
            compile_check(plan_of(STAGED), [VECTOR], ["sm_90"], 32, sandbox=sandbox).toolkit == bare.toolkit
        )


LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'other' for 'sm_90a'
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 9 registers, used 0 barriers
ptxas info    : Compiling entry function 'mine' for 'sm_90a'
ptxas info    : Function properties for mine
ptxas         .     544 bytes stack frame, 96 bytes spill stores, 192 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 2048 bytes smem
"""


def test_the_linkers_log() -> None:
    assert _resources(LOG, "mine") == {
        "registers": 255,
        "spill_store_bytes": 96,
        "spill_load_bytes": 192,
        "stack_bytes": 544,
        "shared_bytes": 2048,
    }
    assert _resources(LOG, "other")["shared_bytes"] == 0
    with pytest.raises(RuntimeError, match="no register count"):
        _resources(LOG, "third")


def test_numbas_message_on_one_line() -> None:
    first = "Failed in cuda mode pipeline (step: nopython frontend)\nNo match\n\n >>> f(<x at 0x7f01>)\n"
    said = f"{first}\nThere are 2 candidates\n"
    assert _first(said) == "No match >>> f(<x>)"


def test_occupancy_is_left_out_where_the_limits_are_not_known() -> None:
    sizes = dict.fromkeys(compiling._SIZES, 8)
    one = compiling._compilation("sm_121", sizes, 32, 0)
    assert one == Compilation("sm_121", **sizes)
    assert replace(one, most_warps=0) == one


def test_a_constant_bank_is_a_section_of_the_cubin() -> None:
    names = b"\0.nv.constant0.kernel\0.text\0"
    headers = [(0, 0, 0), (1, 0, 592), (22, 0, 64), (0, 64, len(names))]
    body = names + b"".join(
        b"".join(
            [name.to_bytes(4, "little"), bytes(20), offset.to_bytes(8, "little"), size.to_bytes(8, "little")]
        ).ljust(64, b"\0")
        for name, offset, size in headers
    )
    start = bytearray(64)
    start[0x28:0x30] = (64 + len(names)).to_bytes(8, "little")
    start[0x3A:0x40] = b"".join(part.to_bytes(2, "little") for part in (64, 4, 3))
    assert _constant_bytes(bytes(start) + body) == 592


def test_numba_without_the_compilers_libraries_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_has_toolkit", lambda: False)
    assert "compiler (nvvm, nvJitLink) is not installed" in compiling.compile_reason()
