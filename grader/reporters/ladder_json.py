"""The ladder as JSON, schema ``tilegrade.ladder/1`` (docs/ladder-command.md); ``--from`` reads it back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.perf.climb import Climb, Row, Sizes

SCHEMA: Final = "tilegrade.ladder/1"


def render(climb: Climb, tables: Mapping[Sizes, Sequence[Row]], reason: str = "") -> str:
    """Write a run, or a prediction: ``reason`` then says why nothing was measured.

    What was measured comes first in each row, then what follows from it; None stands for unknown.
    """
    document = {
        "schema": SCHEMA,
        "measured": not reason,
        "reason": reason,
        "gpu": climb.gpu,
        "device": climb.device,
        "date": climb.date,
        "versions": dict(climb.versions),
        "rungs": [_row(row) for rows in tables.values() for row in rows],
    }
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    climbed, prediction = row.climbed, row.prediction
    M, N, K = row.sizes
    error = climbed.max_relative_error if climbed is not None else None
    return {
        "rung": row.rung.name,
        "M": M,
        "N": N,
        "K": K,
        "problem": climbed.problem if climbed is not None else "",
        "max_relative_error": error if error is None or error < float("inf") else None,
        "milliseconds": climbed.milliseconds if climbed is not None else None,
        "spread": climbed.spread if climbed is not None else None,
        "repeats": climbed.repeats if climbed is not None else 0,
        "resources": None if row.resources is None else asdict(row.resources),
        "title": row.rung.title,
        "arithmetic": row.rung.arithmetic,
        "right": row.is_right,
        "gflops": row.gflops,
        "speed_up": row.speed_up,
        "share_of_cublas": row.share,
        "occupancy": row.occupancy,
        "flop_per_byte": None if prediction is None else prediction.hbm_intensity,
        "bound_by": None if prediction is None else prediction.bound_by,
        "predicted_milliseconds": row.predicted_milliseconds,
        "predicted_over_measured": row.achieved,
    }
