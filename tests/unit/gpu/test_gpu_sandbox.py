"""What a child with a GPU may do more than one without: as little as CUDA needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.gpu import available
from grader.gpu.available import gpu_packages, nvidia_device
from grader.gpu.sandbox import Device, Limits, find_sandbox, started
from grader.gpu.seccomp import program

PROBE = """
import json, mmap, os, socket, sys, threading
found = {}
def attempt(name, action):
    try:
        found[name] = str(action())
    except BaseException as error:
        found[name] = type(error).__name__
def named():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "r+") as comm:
        comm.write("cuda0")
    return "written"
attempt("comm", named)
attempt("unix", lambda: socket.socket(socket.AF_UNIX).close())
attempt("inet", lambda: socket.create_connection(("127.0.0.1", 80), 1))
attempt("fork", os.fork)
attempt("device", lambda: os.close(os.open("/dev/null", os.O_RDWR)))
attempt("reserved", lambda: len(mmap.mmap(-1, 2**40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)))
attempt("touched", lambda: len(bytearray(2**29)))
attempt("passwd", lambda: open("/etc/passwd").read())
attempt("package", lambda: sorted(os.listdir("/packages")))
attempt("scratch", lambda: open("/tmp/note", "w").write("ok"))
found["environment"] = os.environ.get("CUDA_CACHE_DISABLE")
sys.stdout.write(json.dumps(found))
"""


def probed(folder: Path, device: Device | None, limits: Limits) -> dict[str, str]:
    script = folder / "probe.py"
    script.write_text(PROBE)
    script.chmod(0o644)
    for parent in (folder, folder.parent):
        parent.chmod(0o755)
    rebuild = {"rebuild.py": gpu_packages()["rebuild.py"]}
    with started(find_sandbox(), script, rebuild, b"", limits, device=device) as child:
        assert child.stdout is not None
        found: dict[str, str] = json.loads(child.stdout.read())
    return found


@pytest.mark.skipif(find_sandbox() is None, reason="no sandbox here (bubblewrap, setpriv, prlimit)")
def test_a_child_with_a_gpu_gets_what_cuda_needs_and_no_more(tmp_path: Path) -> None:
    device = Device(files=("/dev/null",), environment={"CUDA_CACHE_DISABLE": "1"})
    found = probed(tmp_path, device, Limits(30, 256, files=1024, memory="data"))
    assert found == {
        "comm": "written",
        "unix": "None",
        "inet": found["inet"],
        "fork": "PermissionError",
        "device": "None",
        "reserved": str(2**40),
        "touched": "MemoryError",
        "passwd": found["passwd"],
        "package": "['rebuild.py']",
        "scratch": "2",
        "environment": "1",
    }
    assert found["inet"] in ("PermissionError", "ConnectionRefusedError", "OSError")
    assert found["passwd"] in ("PermissionError", "FileNotFoundError")


@pytest.mark.skipif(find_sandbox() is None, reason="no sandbox here (bubblewrap, setpriv, prlimit)")
def test_a_child_without_a_gpu_makes_no_socket(tmp_path: Path) -> None:
    found = probed(tmp_path, None, Limits(30, 256))
    assert (found["unix"], found["reserved"], found["touched"]) == (
        "PermissionError",
        "OSError",
        "MemoryError",
    )


def test_the_filter_with_sockets_differs_by_that_one_call() -> None:
    strict, loose = program(), program(sockets=True)
    if strict is None or loose is None:
        pytest.skip("no seccomp filter for this kind of machine")
    # One comparison and one return of 8 bytes each.
    assert len(strict) - len(loose) == 16


def test_links_in_the_toolkit_s_path_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A toolkit behind /etc/alternatives would be a dangling link in a sandbox, which has no /etc."""
    (tmp_path / "cuda-13.0").mkdir()
    (tmp_path / "alternatives").symlink_to(tmp_path / "cuda-13.0")
    (tmp_path / "cuda").symlink_to(tmp_path / "alternatives")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    monkeypatch.setattr(available, "_driver", lambda: (0, 1, "/opt/driver/libcuda.so.1"))
    nvidia_device.cache_clear()
    device = nvidia_device()
    nvidia_device.cache_clear()
    assert device.environment["CUDA_HOME"] == str((tmp_path / "cuda-13.0").resolve())
    assert device.environment["LD_LIBRARY_PATH"] == "/opt/driver"
    assert str((tmp_path / "cuda-13.0").resolve()) in device.folders


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        ((None, 0, ""), "no NVIDIA driver was found (libcuda.so.1)"),
        ((999, 0, "x"), "the NVIDIA driver does not start: error 999"),
        ((0, 0, "x"), "the NVIDIA driver sees no GPU"),
        ((0, 2, "x"), ""),
    ],
)
def test_why_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch, driver: tuple[int | None, int, str], reason: str
) -> None:
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(available, "_driver", lambda: driver)
    assert available.gpu_reason.__wrapped__() == reason
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert available.gpu_reason.__wrapped__() == "CUDA_VISIBLE_DEVICES hides every GPU"


def test_without_a_driver_no_package_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(available.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(available, "_driver", lambda: (None, 0, ""))
    assert available.gpu_reason.__wrapped__() == "no NVIDIA driver was found (libcuda.so.1)"
    monkeypatch.setattr(available, "_driver", lambda: (0, 1, "libcuda.so.1"))
    reason = "numba is not installed: pip install '.[gpu]' in Tilegrade's checkout"
    assert available.gpu_reason.__wrapped__() == reason
