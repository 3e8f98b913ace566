"""The model's names and numbers as a reader meets them: in tables, drawings and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from grader.perf.devices import Dtype
    from grader.perf.gemm import GemmKernel, LimitName
    from grader.perf.kernel import Kind
    from grader.perf.occupancy import Obstacle, Resource
    from grader.perf.reconcile import Reconciliation
    from grader.perf.roofline import Roof

DTYPE: Final[dict[Dtype, str]] = {
    "float16": "FP16",
    "bfloat16": "BF16",
    "float32": "FP32",
    "float64": "FP64",
}

RESOURCE: Final[dict[Resource, str]] = {
    "threads": "threads",
    "registers": "registers",
    "shared-memory": "shared memory",
    "block-slots": "block slots",
}

_USUAL_DEPTH: Final[dict[Kind, int]] = {"naive": 1, "register-blocked": 8, "tensor-core": 64}

_PREFIXES: Final = (
    ("Y", 1e24),
    ("Z", 1e21),
    ("E", 1e18),
    ("P", 1e15),
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
)


def limit_words(limit: LimitName, dtype: Dtype) -> str:
    """What a limit is called: ``shared memory``, ``the FP32 ALUs``."""
    units = "FP64" if dtype == "float64" else "FP32"
    return {
        "alu": f"the {units} ALUs",
        "tensor-core": "tensor cores",
        "hbm": "HBM",
        "l2": "L2",
        "shared": "shared memory",
    }[limit]


def kernel_label(kernel: GemmKernel) -> str:
    """A kernel in a few words: ``Register blocking (128x128, 8x8)``, depth shown where it is unusual."""
    dtype = "" if kernel.dtype == "float32" else DTYPE[kernel.dtype]
    block, patch = f"{kernel.bm}x{kernel.bn}", f"{kernel.tm}x{kernel.tn}"
    usual = kernel.bm if kernel.kind == "tiled" else _USUAL_DEPTH[kernel.kind]
    deep = block if kernel.bk == usual else f"{block}x{kernel.bk}"
    name, sizes = {
        "naive": ("Naive", ()),
        "tiled": ("Shared-memory tiles", (deep,)),
        "register-blocked": ("Register blocking", (deep, patch)),
        "tensor-core": ("Tensor cores", (deep, patch)),
    }[kernel.kind]
    parts = [part for part in (dtype, *sizes) if part]
    return f"{name} ({', '.join(parts)})" if parts else name


def roof_label(roof: Roof) -> str:
    """A roof with its height: ``FP32 ALUs, 66.9 TFLOP/s``."""
    units = "ALUs" if roof.units == "fp32" else "matrix units"
    return f"{DTYPE[roof.dtype]} {units}, {roof.peak / 1e12:,.4g} TFLOP/s"


def obstacle_words(obstacle: Obstacle, dtype: Dtype) -> str:
    """Why a kernel cannot run: ``4,096 threads a block, at most 1,024``."""
    if obstacle.name == "no-matrix-units":
        return f"no {DTYPE[dtype]} units"
    noun = {
        "block-too-large": "threads a block",
        "shared-memory-too-large": "bytes of shared memory a block",
        "too-many-registers": "registers a block",
    }[obstacle.name]
    return f"{obstacle.wanted:,} {noun}, at most {obstacle.limit:,}"


def gap_words(found: Reconciliation) -> str:
    """What the gap between prediction and measurement says, in a sentence or two."""
    prediction = found.prediction
    bound = prediction.bound_by
    if bound is None:
        return ""
    if found.gap == "faster-than-model":
        return _FASTER.get(bound, "Faster than a peak allows: check the time and the size.")
    if found.gap == "at-limit":
        reached = f"The model's limit, {limit_words(bound, prediction.kernel.dtype)}, is reached"
        return f"{reached}: {_AT_LIMIT.get(bound, 'more reuse above that level is what makes it faster.')}"
    return _SLOWER[bound]


_AT_LIMIT: Final[dict[LimitName, str]] = {
    "alu": "nothing but other units, the tensor cores, computes faster.",
    "tensor-core": "there are no faster units.",
}

_FASTER: Final[dict[LimitName, str]] = {
    "hbm": "Faster than HBM alone allows: L1 and L2 serve values that the model fetches again each time.",
    "shared": "Faster than the model's shared-memory traffic: the compiler keeps values in registers or "
    "merges reads into wider ones.",
}

_SLOWER: Final[dict[LimitName, str]] = {
    "alu": "The ALUs wait. Look at instructions that are not multiply-adds, at the time between load and "
    "use (prefetch, double buffering), at register spills and at float64 sums.",
    "tensor-core": "The matrix units wait. Look at how their fragments reach them (wide shared loads, "
    "asynchronous copies, several stages) and at warps too few to hide the rest.",
    "hbm": "HBM is not kept busy. Look at loads in flight (too few warps, a barrier after every load) "
    "and at sectors per request (uncoalesced loads move bytes nobody asked for).",
    "l2": "L2 is not kept busy. Look at sectors per request and at loads in flight.",
    "shared": "Shared memory is not kept busy, or serves more than asked. Look at bank conflicts, at "
    "narrow reads where 128-bit ones would do, at barriers, and at warps too few to hide latency.",
}


def three(value: float) -> str:
    """Three significant digits at most, no exponent and no idle zeros: 354, 29.1, 7.05, 0.25, 1,720."""
    if value == 0:
        return "0"
    text = f"{float(f'{value:.3g}'):.12f}".rstrip("0").rstrip(".")
    whole, _, decimals = text.partition(".")
    return f"{int(whole):,}" + (f".{decimals}" if decimals else "")


def with_prefix(value: float, unit: str) -> str:
    """One decimal and a decimal prefix: ``549.8 GB``, ``137.4 GFLOP``."""
    for prefix, factor in _PREFIXES:
        if abs(value) >= factor:
            return f"{value / factor:,.1f} {prefix}{unit}"
    return f"{value:,.0f} {unit}"


def milliseconds(seconds: float) -> str:
    """A time in milliseconds with three significant digits, the unit left to the heading."""
    return three(seconds * 1e3)
