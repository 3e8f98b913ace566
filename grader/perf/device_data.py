"""Figures of the GPUs the model knows, each with where it comes from.

Plain data: one mapping per device, its keys the fields of :class:`grader.perf.devices.Device`. Rates
are the dense (not sparse) peaks at the boost clock; bytes are bytes (48 KiB is 49152), bandwidths
decimal bytes per second. ``SOURCES`` resolves the short names used in each device's ``sources``.
"""

from __future__ import annotations

from typing import Any, Final

KIB: Final = 1024
MIB: Final = 1024 * 1024

SOURCES: Final[dict[str, str]] = {
    "cuda-guide": "NVIDIA, CUDA Programming Guide, appendix Compute Capabilities, "
    "https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html",
    "turing-whitepaper": "NVIDIA Turing GPU Architecture, WP-09183-001",
    "t4-datasheet": "NVIDIA T4 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/tesla-t4/",
    "ampere-whitepaper": "NVIDIA A100 Tensor Core GPU Architecture, V1.0 (A100 SXM4, 40 GB)",
    "hopper-whitepaper": "NVIDIA H100 Tensor Core GPU Architecture, V1.04 (H100 SXM5)",
    "h200-datasheet": "NVIDIA H200 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/h200/",
    "ada-whitepaper": "NVIDIA Ada GPU Architecture, V2.1 (GeForce RTX 4090)",
    "mi300x-datasheet": "AMD Instinct MI300X Accelerator data sheet, "
    "https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html",
    "rocm-specs": "AMD ROCm documentation, AMD GPU specifications, "
    "https://rocm.docs.amd.com/en/latest/reference/gpu-specs.html",
    "llvm-amdgpu": "LLVM, AMDGPU occupancy rules for gfx90a and gfx942 (llvm-calc-occupancy), "
    "https://llvm.org/docs/CommandGuide/llvm-calc-occupancy.html",
}

# Alike in every NVIDIA device listed here: the limits of compute capabilities 7.5 to 9.0.
_NVIDIA: Final[dict[str, Any]] = {
    "vendor": "NVIDIA",
    "warp_width": 32,
    "shared_banks": 32,
    "bank_bytes": 4,
    "sector_bytes": 32,
    "max_threads_per_block": 1024,
    "max_block_dims": (1024, 1024, 64),
    "max_grid_dims": (2**31 - 1, 65535, 65535),
    "shared_bytes_per_block_static": 48 * KIB,
    "max_registers_per_thread": 255,
    "registers_per_sm": 64 * KIB,
    "register_allocation_unit": 256,
}

_AMPERE_ON: Final[dict[str, Any]] = _NVIDIA | {
    "shared_allocation_unit": 128,
    "shared_bytes_reserved_per_block": 1 * KIB,
}

# H100 and H200 are one chip (compute capability 9.0) with different memory.
_HOPPER_SXM: Final[dict[str, Any]] = _AMPERE_ON | {
    "architecture": "Hopper, compute capability 9.0",
    "max_threads_per_sm": 2048,
    "max_blocks_per_sm": 32,
    "shared_bytes_per_block_optin": 227 * KIB,
    "shared_bytes_per_sm": 228 * KIB,
    "sm_count": 132,
    "clock_hz": 1.98e9,
    "fp32_flops_per_clock_per_sm": 256,
    "fp64_flops": 33.5e12,
    "fp32_flops": 66.9e12,
    "fp16_matrix_flops": 989e12,
    "bf16_matrix_flops": 989e12,
    "l2_bytes": 50 * MIB,
}

DEVICES: Final[dict[str, dict[str, Any]]] = {
    "t4": _NVIDIA
    | {
        "title": "NVIDIA T4",
        "architecture": "Turing, compute capability 7.5",
        "max_threads_per_sm": 1024,
        "max_blocks_per_sm": 16,
        "shared_bytes_per_block_optin": 64 * KIB,
        "shared_bytes_per_sm": 64 * KIB,
        "shared_allocation_unit": 256,
        "shared_bytes_reserved_per_block": 0,
        "sm_count": 40,
        "clock_hz": 1.59e9,
        "fp32_flops_per_clock_per_sm": 128,
        "fp64_flops": 0.254e12,
        "fp32_flops": 8.1e12,
        "fp16_matrix_flops": 65e12,
        "bf16_matrix_flops": None,
        "hbm_bytes_per_second": 320e9,
        "l2_bytes": 4 * MIB,
        "l2_bytes_per_clock": None,
        "sources": {"limits": "cuda-guide", "chip": "turing-whitepaper", "rates": "t4-datasheet"},
        "remarks": "The memory is GDDR6. FP64 runs at 1/32 of FP32; there is no BF16.",
    },
    "a100": _AMPERE_ON
    | {
        "title": "NVIDIA A100 SXM4 40 GB",
        "architecture": "Ampere, compute capability 8.0",
        "max_threads_per_sm": 2048,
        "max_blocks_per_sm": 32,
        "shared_bytes_per_block_optin": 163 * KIB,
        "shared_bytes_per_sm": 164 * KIB,
        "sm_count": 108,
        "clock_hz": 1.41e9,
        "fp32_flops_per_clock_per_sm": 128,
        "fp64_flops": 9.7e12,
        "fp32_flops": 19.5e12,
        "fp16_matrix_flops": 312e12,
        "bf16_matrix_flops": 312e12,
        "hbm_bytes_per_second": 1555e9,
        "l2_bytes": 40 * MIB,
        "l2_bytes_per_clock": 5120,
        "sources": {"limits": "cuda-guide", "chip": "ampere-whitepaper", "rates": "ampere-whitepaper"},
        "remarks": "",
    },
    "h100": _HOPPER_SXM
    | {
        "title": "NVIDIA H100 SXM5 80 GB",
        "hbm_bytes_per_second": 3350e9,
        "l2_bytes_per_clock": None,
        "sources": {"limits": "cuda-guide", "chip": "hopper-whitepaper", "rates": "hopper-whitepaper"},
        "remarks": "",
    },
    "h200": _HOPPER_SXM
    | {
        "title": "NVIDIA H200 SXM 141 GB",
        "hbm_bytes_per_second": 4800e9,
        "l2_bytes_per_clock": None,
        "sources": {"limits": "cuda-guide", "chip": "hopper-whitepaper", "rates": "h200-datasheet"},
        "remarks": "",
    },
    "rtx4090": _AMPERE_ON
    | {
        "title": "NVIDIA GeForce RTX 4090",
        "architecture": "Ada, compute capability 8.9",
        "max_threads_per_sm": 1536,
        "max_blocks_per_sm": 24,
        "shared_bytes_per_block_optin": 99 * KIB,
        "shared_bytes_per_sm": 100 * KIB,
        "sm_count": 128,
        "clock_hz": 2.52e9,
        "fp32_flops_per_clock_per_sm": 256,
        "fp64_flops": 1.29e12,
        "fp32_flops": 82.6e12,
        "fp16_matrix_flops": 165.2e12,
        "bf16_matrix_flops": 165.2e12,
        "hbm_bytes_per_second": 1008e9,
        "l2_bytes": 72 * MIB,
        "l2_bytes_per_clock": None,
        "sources": {"limits": "cuda-guide", "chip": "ada-whitepaper", "rates": "ada-whitepaper"},
        "remarks": "The memory is GDDR6X. Matrix rates are those with sums kept in FP32.",
    },
    "mi300x": {
        "title": "AMD Instinct MI300X",
        "vendor": "AMD",
        "architecture": "CDNA 3, gfx942",
        "warp_width": 64,
        "shared_banks": 32,
        "bank_bytes": 4,
        "sector_bytes": 32,
        "max_threads_per_block": 1024,
        "max_block_dims": (1024, 1024, 1024),
        "max_grid_dims": (2**31 - 1, 65535, 65535),
        "max_threads_per_sm": 2048,
        "max_blocks_per_sm": 16,
        "shared_bytes_per_block_static": 64 * KIB,
        "shared_bytes_per_block_optin": 64 * KIB,
        "shared_bytes_per_sm": 64 * KIB,
        "shared_allocation_unit": 512,
        "shared_bytes_reserved_per_block": 0,
        "max_registers_per_thread": 512,
        "registers_per_sm": 128 * KIB,
        "register_allocation_unit": 512,
        "sm_count": 304,
        "clock_hz": 2.1e9,
        "fp32_flops_per_clock_per_sm": 256,
        "fp64_flops": 81.7e12,
        "fp32_flops": 163e12,
        "fp16_matrix_flops": 1307e12,
        "bf16_matrix_flops": 1307e12,
        "hbm_bytes_per_second": 5300e9,
        "l2_bytes": 32 * MIB,
        "l2_bytes_per_clock": None,
        "sources": {"limits": "llvm-amdgpu", "chip": "rocm-specs", "rates": "mi300x-datasheet"},
        "remarks": "An SM is a compute unit, shared memory its LDS. Rates are cut to whole TFLOP/s, as "
        "courses quote them (the data sheet: 163.4 and 1307.4). L2 is 4 MiB in each of 8 dies; the 256 MiB "
        "Infinity Cache behind it is not counted. Sectors and grid limits follow the NVIDIA profile.",
    },
}

ALIASES: Final[dict[str, str]] = {
    "a100-sxm": "a100",
    "a100-40gb": "a100",
    "h100-sxm": "h100",
    "h100-sxm5": "h100",
    "h200-sxm": "h200",
    "rtx-4090": "rtx4090",
    "4090": "rtx4090",
    "tesla-t4": "t4",
    "gfx942": "mi300x",
}
