"""A run of the ladder as a GPU could give it, with figures of the order that an H200 shows."""

from __future__ import annotations

from grader.perf.climb import Climb, Climbed, Resources

FIGURES = {
    "naive": (107.0, 3.1e-6, (32, 0, 1024, 2)),
    "tiled_16": (24.3, 3.1e-6, (32, 2048, 256, 8)),
    "tiled_32": (17.8, 3.1e-6, (32, 8192, 1024, 2)),
    "register_blocked": (3.52, 4.5e-6, (122, 8448, 256, 2)),
    "vectorised": (3.18, 4.5e-6, (194, 74496, 256, 1)),
    "tensor_cores": (0.332, 1.3e-5, (232, 116736, 256, 1)),
    "warpgroups": (0.221, 1.3e-5, (164, 196608, 256, 1)),
    "cublas_fp32": (2.71, 2.5e-6, None),
    "cublas_tf32": (0.41, 6.0e-4, None),
    "cublas_bf16": (0.204, 1.1e-5, None),
}


def climbed(name: str, size: int = 4096, **changed: object) -> Climbed:
    """One rung of the sample at a size, times in proportion."""
    milliseconds, error, block = FIGURES[name]
    resources = None
    if block is not None:
        registers, shared, threads, blocks = block
        resources = Resources(
            source="driver", registers=registers, shared_bytes=shared, threads=threads, blocks_per_sm=blocks
        )
    known = {
        "max_relative_error": error,
        "milliseconds": milliseconds * (size / 4096) ** 3,
        "spread": 0.004,
        "repeats": 40,
        "resources": resources,
    }
    return Climbed(rung=name, M=size, N=size, K=size, **(known | changed))  # type: ignore[arg-type]


def climb(*sizes: int, device: str = "h200") -> Climb:
    """The whole sample."""
    rungs = tuple(climbed(name, size) for size in sizes or (4096,) for name in FIGURES)
    versions = {"numba-cuda": "0.30.4", "CuPy": "14.2.0", "CUDA": "13.0"}
    return Climb(gpu="NVIDIA H200", device=device, date="2026-11-30", versions=versions, rungs=rungs)
