"""A kernel's profile as JSON: schema ``tilegrade/profile``, version 1, described in docs/compile.md."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from grader.perf.kernel_profile import KernelProfile, Profile

__all__ = ["render"]

SCHEMA = "tilegrade/profile"
VERSION = 1


def render(profile: Profile) -> str:
    """Write a profile as one JSON object in SI units: bytes, seconds, FLOP per byte."""
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "exercise": profile.exercise,
        "path": profile.path,
        "device": profile.device.name,
        "size": dict(zip("MNK", profile.size, strict=True)),
        "counted_at": dict(zip("MNK", profile.counted, strict=True)),
        "compulsory_bytes": profile.compulsory_bytes,
        "kernels": [_kernel(one) for one in profile.kernels],
        "not_compiled": profile.not_compiled,
        "not_measured": profile.not_measured,
    }
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _kernel(one: KernelProfile) -> dict[str, Any]:
    return {
        "label": one.label,
        "right": one.right,
        "faults": list(one.faults),
        "flops": one.flops,
        "bytes": {
            "global_loads": one.load_bytes,
            "global_stores": one.store_bytes,
            "sectors": one.sector_bytes,
            "shared": one.shared_bytes,
        },
        "flop_per_loaded_byte": one.intensity,
        "shared_bytes_per_flop": one.shared_bytes_per_flop,
        "bank_conflicts_per_access": one.conflicts_per_request,
        "seconds": {limit.name: limit.seconds for limit in one.times},
        "bound_by": one.bound_by,
        "compiled": None if one.compiled is None else asdict(one.compiled),
        "measured": dict(one.measured),
    }
