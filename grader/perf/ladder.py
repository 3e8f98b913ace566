"""The kernels that the course climbs, and a short way to write any other one.

A kernel is written ``KIND[:BLOCK[/PATCH]]`` with sizes joined by x: ``tiled:16``,
``register:64x64x16/4x4``, ``tensor:128x256x64/64x64``. What is left out is as in the ladder.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from grader.perf.kernel import GemmKernel, KernelError, Kind

if TYPE_CHECKING:
    from grader.perf.devices import Device, Dtype

LADDER: Final[dict[str, GemmKernel]] = {
    "naive": GemmKernel("naive", 32, 32),
    "tiled": GemmKernel("tiled", 32, 32, 32),
    "register": GemmKernel("register-blocked", 128, 128, 8, 8, 8),
    "tensor": GemmKernel("tensor-core", 128, 128, 64, 64, 32, "bfloat16"),
}

_KINDS: Final[dict[str, Kind]] = {name: kernel.kind for name, kernel in LADDER.items()} | {
    kernel.kind: kernel.kind for kernel in LADDER.values()
}
_FORM = re.compile(r"(?P<kind>[a-z-]+)(:(?P<block>\d{1,6}(x\d{1,6}){0,2}))?(/(?P<patch>\d{1,6}(x\d{1,6})?))?")


def ladder_for(device: Device) -> dict[str, GemmKernel]:
    """The ladder as a device can climb it: FP16 on tensor cores that lack BF16."""
    tensor = LADDER["tensor"]
    if device.matrix_flops("bfloat16") is None and device.matrix_flops("float16") is not None:
        tensor = replace(tensor, dtype="float16")
    return LADDER | {"tensor": tensor}


def parse_kernel(text: str, dtype: Dtype | None = None) -> GemmKernel:
    """The kernel that ``text`` describes. Raises KernelError.

    One block size stands for a square tile (and for a tiled kernel for its depth too), two for its
    height and width, three add the depth of a k-slice. One patch size stands for a square patch.
    """
    match = _FORM.fullmatch(text.strip().lower())
    if match is None or match["kind"] not in _KINDS:
        raise KernelError(
            f"no kernel {text!r}: write {', '.join(LADDER)}, or sizes too, "
            "say tiled:16 or register:64x64x16/4x4"
        )
    kind = _KINDS[match["kind"]]
    model = next(kernel for kernel in LADDER.values() if kernel.kind == kind)
    bm, bn, bk = _block(match["block"], model)
    tm, tn = _pair(match["patch"]) or (model.tm, model.tn)
    return GemmKernel(kind, bm, bn, bk, tm, tn, dtype if dtype is not None else model.dtype)


def _block(text: str | None, model: GemmKernel) -> tuple[int, int, int]:
    sizes = [int(size) for size in text.split("x")] if text else []
    if not sizes:
        return model.bm, model.bn, model.bk
    if len(sizes) == 3:
        return sizes[0], sizes[1], sizes[2]
    square_slice = model.kind == "tiled" and len(sizes) == 1
    return sizes[0], sizes[-1], sizes[0] if square_slice else model.bk


def _pair(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    sizes = [int(size) for size in text.split("x")]
    return sizes[0], sizes[-1]
