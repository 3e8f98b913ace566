"""The model's predictions as JSON: schema ``tilegrade/model``, version 1, described in docs/model.md."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.perf.gemm import Prediction
    from grader.perf.reconcile import Reconciliation

SCHEMA = "tilegrade/model"
VERSION = 1


def render(predictions: Sequence[Prediction], reconciliations: Sequence[Reconciliation] = ()) -> str:
    """Write predictions as one JSON object, in SI units: seconds, bytes, FLOP, FLOP per byte."""
    first = predictions[0]
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "sizes": {"M": first.M, "N": first.N, "K": first.K},
        "predictions": [_prediction(prediction) for prediction in predictions],
        "reconciliations": [_reconciliation(found) for found in reconciliations],
    }
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _prediction(prediction: Prediction) -> dict[str, Any]:
    return {
        "kernel": _kernel(prediction),
        "device": prediction.device.name,
        **_traffic(prediction),
        "limits": [
            {"name": limit.name, "amount": limit.amount, "rate": limit.rate, "seconds": limit.seconds}
            for limit in prediction.limits
        ],
        "bound_by": prediction.bound_by,
        "seconds": prediction.seconds,
        "flops_per_second": prediction.flops_per_second,
        **_block(prediction),
        "obstacles": [
            {"name": obstacle.name, "wanted": obstacle.wanted, "limit": obstacle.limit}
            for obstacle in prediction.obstacles
        ],
    }


def _traffic(prediction: Prediction) -> dict[str, Any]:
    traffic = prediction.traffic
    return {
        "flops": traffic.flops,
        "executed_flops": traffic.executed_flops,
        "bytes": {
            "hbm": prediction.hbm_bytes,
            "hbm_loads": traffic.global_load_bytes,
            "hbm_stores": traffic.global_store_bytes,
            "compulsory": traffic.compulsory_bytes,
            "l2": prediction.hbm_bytes,
            "shared": traffic.shared_bytes,
        },
        "intensity": {
            "hbm": prediction.hbm_intensity,
            "hbm_loads": prediction.load_intensity,
            "l2": prediction.hbm_intensity,
            "shared": prediction.shared_intensity,
        },
    }


def _block(prediction: Prediction) -> dict[str, Any]:
    held = prediction.occupancy
    return {
        "threads_per_block": prediction.threads_per_block,
        "registers_per_thread": prediction.registers,
        "registers_estimated": prediction.registers_estimated,
        "spills": prediction.spills,
        "shared_bytes_per_block": prediction.shared_bytes_per_block,
        "occupancy": {
            "fraction": held.fraction,
            "blocks_per_sm": held.blocks_per_sm,
            "warps_per_sm": held.warps_per_sm,
            "limited_by": list(held.limited_by),
        },
    }


def _kernel(prediction: Prediction) -> dict[str, Any]:
    kernel = prediction.kernel
    return {
        "kind": kernel.kind,
        "bm": kernel.bm,
        "bn": kernel.bn,
        "bk": kernel.bk,
        "tm": kernel.tm,
        "tn": kernel.tn,
        "dtype": kernel.dtype,
        "stages": kernel.stages,
    }


def _reconciliation(found: Reconciliation) -> dict[str, Any]:
    return {
        "kernel": _kernel(found.prediction),
        "device": found.prediction.device.name,
        "measured_seconds": found.measured_seconds,
        "predicted_seconds": found.prediction.seconds,
        "achieved": found.achieved,
        "flops_per_second": found.flops_per_second,
        "shares": dict(found.shares),
        "gap": found.gap,
    }
