"""The least time that a product can take on a device: compulsory traffic and peak arithmetic, the longer.

Of the data sheet's rates and those that follow from the driver's clocks and widths the higher counts:
a floor that is too low lets a wrong time through to the other checks, one too high would reject a right one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from grader.gpu.timed_product import Product
from grader.gpu.timing import floor_milliseconds
from grader.perf.devices import Device, Dtype, device, device_names

__all__ = ["floor_of", "known_device"]

#: FP32 lanes of a multiprocessor by compute capability (CUDA C++ Programming Guide, arithmetic
#: instructions); 128 for any other.
_LANES = {(7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64}


def known_device(name: str) -> Device | None:
    """The device of :mod:`grader.perf` that a driver's name means, say ``NVIDIA H100 80GB HBM3``; or None."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    pairs = [first + second for first, second in pairwise(words)]
    return next((device(key) for key in device_names() if key in words or key in pairs), None)


def floor_of(product: Product, name: str, figures: Mapping[str, Any]) -> float:
    """The floor in milliseconds; 0 where neither the device's name nor its driver tells enough.

    ``figures`` are the driver's: "capability", "sms", "clock" and "memory_clock" in kHz, "memory_bits".
    """
    known = known_device(name)
    bandwidth = max(known.hbm_bytes_per_second if known else 0.0, _bandwidth(figures))
    peak = max(_known_peak(known, product), _peak(figures, product))
    if bandwidth <= 0.0 or peak <= 0.0:
        return 0.0
    return floor_milliseconds(product.compulsory_bytes, product.flops, bandwidth, peak)


def _known_peak(known: Device | None, product: Product) -> float:
    if known is None:
        return 0.0
    dtypes: dict[str, Dtype] = {
        "float64": "float64", "float32": "float32", "float16": "float16", "bfloat16": "bfloat16"
    }  # fmt: skip
    dtype = dtypes[product.dtype]
    return known.matrix_flops(dtype) or known.vector_flops(dtype) or 0.0


def _bandwidth(figures: Mapping[str, Any]) -> float:
    """Two transfers a clock (CUDA Runtime API, cudaDeviceProp: memoryClockRate and memoryBusWidth)."""
    return 2e3 * _number(figures, "memory_clock") * _number(figures, "memory_bits") / 8


def _peak(figures: Mapping[str, Any], product: Product) -> float:
    """A multiply and an add a lane and clock; nothing for types that matrix units take."""
    if product.dtype not in ("float32", "float64"):
        return 0.0
    capability = figures.get("capability")
    lanes = _LANES.get(tuple(capability), 128) if isinstance(capability, list) else 128
    return 2.0 * lanes * _number(figures, "sms") * 1e3 * _number(figures, "clock")


def _number(figures: Mapping[str, Any], key: str) -> float:
    value = figures.get(key)
    return float(value) if isinstance(value, int | float) and 0 < value < 1e12 else 0.0
