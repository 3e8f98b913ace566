"""Which GPUs a process sees, and that no two processes time on one at once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.gpu.devices import DeviceBusyError, VisibleDevice, devices_of, exclusive

ROOT = Path(__file__).parents[3]
RAW = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
UUID = "GPU-01234567-89ab-cdef-0123-456789abcdef", "GPU-fedcba98-7654-3210-fedc-ba9876543210"
LISTING = f"{RAW[0]} NVIDIA H200\n{RAW[1]} NVIDIA H200\n"


def test_devices_are_named_by_uuid() -> None:
    assert devices_of(LISTING, None) == (
        VisibleDevice(UUID[0], "NVIDIA H200", UUID[0]),
        VisibleDevice(UUID[1], "NVIDIA H200", UUID[1]),
    )


def test_the_words_of_cuda_visible_devices_are_kept() -> None:
    assert [one.selector for one in devices_of(LISTING, "3, MIG-7")] == ["3", "MIG-7"]
    assert [one.selector for one in devices_of(LISTING, "0,1,9")] == list(UUID)


def test_what_is_no_listing_names_no_device() -> None:
    assert devices_of("error 999\n", None) == ()
    assert devices_of("", None) == ()


HOLD = """
import sys, time
from pathlib import Path
from grader.gpu.devices import exclusive
with exclusive("GPU-x", 5, Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_waits_and_is_told(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DeviceBusyError), exclusive("GPU-x", 0.5, tmp_path):
            pass
        with exclusive("GPU-y", 0.5, tmp_path):
            pass
    finally:
        holder.kill()
        holder.communicate()
    # The lock of a process that was killed is gone with it.
    with exclusive("GPU-x", 5, tmp_path):
        pass


def test_the_device_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), exclusive("GPU-x", 1, tmp_path):
        raise KeyError
    began = time.monotonic()
    with exclusive("GPU-x", 1, tmp_path):
        assert time.monotonic() - began < 1


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "tilegrade-timing-GPU-x.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises((DeviceBusyError, OSError)), exclusive("GPU-x", 1, tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()
