from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
from numba import cuda as simulator

from . import cublas  # noqa: F401 - a name of the module

# Numba's simulator takes NumPy's arrays as they are.
simulator.as_cuda_array = np.asarray


class Device:
    id = 0

    @property
    def attributes(self):
        return {"L2CacheSize": 1024}


class Event:
    def record(self):
        self.at = time.perf_counter()

    def synchronize(self):
        pass


def get_elapsed_time(first, last):
    return max(1e3 * (last.at - first.at), 1e-3)


device = SimpleNamespace(get_cublas_handle=lambda: 7)
runtime = SimpleNamespace(
    CUDA_R_32F=0,
    CUDA_R_16BF=14,
    getDeviceProperties=lambda number: {"name": b"NVIDIA Stand-in", "major": 9, "minor": 0},
    runtimeGetVersion=lambda: 13000,
    driverGetVersion=lambda: 13010,
    deviceSynchronize=lambda: None,
)
