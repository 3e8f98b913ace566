"""The clocks of a GPU as they are; nothing here changes one. Runs inside the GPU child."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["sm_clocks"]


def sm_clocks(uuid: str) -> tuple[int, int]:
    """The multiprocessors' clock now and the highest that they may have, in MHz; (0, 0) where nothing tells.

    ``uuid`` names the device as NVML does, ``GPU-...``.
    """
    for read in (_by_cuda_bindings, _by_nvidia_ml_py):
        try:
            return read(uuid)
        except Exception:  # noqa: BLE001, S112 - no library, no right, no such device: a figure for the record
            continue
    return 0, 0


def _by_cuda_bindings(uuid: str) -> tuple[int, int]:
    nvml: Any = importlib.import_module("cuda.bindings.nvml")
    nvml.init_v2()
    try:
        device = nvml.device_get_handle_by_uuid(uuid), nvml.ClockType.SM
        return int(nvml.device_get_clock_info(*device)), int(nvml.device_get_max_clock_info(*device))
    finally:
        nvml.shutdown()


def _by_nvidia_ml_py(uuid: str) -> tuple[int, int]:
    nvml: Any = importlib.import_module("pynvml")
    nvml.nvmlInit()
    try:
        device = nvml.nvmlDeviceGetHandleByUUID(uuid), nvml.NVML_CLOCK_SM
        return int(nvml.nvmlDeviceGetClockInfo(*device)), int(nvml.nvmlDeviceGetMaxClockInfo(*device))
    finally:
        nvml.nvmlShutdown()
