from __future__ import annotations

from pathlib import Path

import pytest

from grader import ladder_files
from grader.gpu.compile import Compiled
from grader.ladder_files import RungFileError
from grader.perf.devices import device
from grader.perf.rungs import RUNGS

NAIVE = RUNGS[0]
GOOD = """\
from numba import cuda

DTYPE = "float32"
SHARED_BYTES = 4 * 16


@cuda.jit
def naive(A, B, C, M, N, K):
    C[0, 0] = A[0, 0]


KERNEL = naive


def launch_config(M, N, K):
    return (-(-N // 16), -(-M // 8)), (16, 8)
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ladder_files, "folder", lambda: tmp_path)
    return tmp_path / "naive.py"


def test_a_file_is_read_without_being_run(written: Path) -> None:
    written.write_text("open('/never/there')\n" + GOOD, encoding="utf-8")
    file = ladder_files.read(NAIVE)
    assert (file.kernel, file.dtype, file.elements, file.shared_bytes) == ("naive", "float32", "float32", 64)
    assert file.launch((17, 33, 5)) == ((3, 3), (16, 8))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("KERNEL = naive", "OTHER = naive", "naive.py holds no KERNEL"),
        ("KERNEL = naive", "KERNEL = 3", "naive.py holds no KERNEL"),
        ("KERNEL = naive", "KERNEL = (", "naive.py holds no KERNEL"),
        ('"float32"', '"float64"', "DTYPE is 'float64'; it must be one of float32, bfloat16"),
        ("DTYPE =", "D =", "naive.py cannot be read: DTYPE"),
        ("SHARED_BYTES = 4 * 16", "SHARED_BYTES = input()", "naive.py cannot be read: SHARED_BYTES"),
    ],
)
def test_what_a_file_lacks_is_named(written: Path, old: str, new: str, said: str) -> None:
    written.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(RungFileError) as caught:
        ladder_files.read(NAIVE)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_launch_that_cannot_be_followed_is_refused(written: Path) -> None:
    written.write_text(GOOD.replace("return (", "return open('x'), ("), encoding="utf-8")
    with pytest.raises(RungFileError, match="launch_config cannot be followed"):
        ladder_files.read(NAIVE).launch((1, 1, 1))


def test_no_compiler_knows_another_makers_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder_files, "missing_files", lambda: "")
    found, reason = ladder_files.compiled_resources(device("mi300x"))
    assert (found, reason) == ({}, "NVIDIA's compiler does not know AMD Instinct MI300X")


def test_a_kernel_that_is_refused_leaves_the_rest_to_be_estimated(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladder_files, "missing_files", lambda: "")
    written.write_text(GOOD.replace("KERNEL = naive", "OTHER = 1"), encoding="utf-8")
    assert ladder_files.compiled_resources(device("h200")) == ({}, "naive: naive.py holds no KERNEL")


def test_a_missing_compiler_is_no_matter_of_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "numba is not installed: pip install '.[compile]' in Tilegrade's checkout"
    monkeypatch.setattr(ladder_files, "compile_check", lambda *_, **__: Compiled(reason=reason))
    assert ladder_files.compiled_resources(device("h200")) == ({}, reason)
