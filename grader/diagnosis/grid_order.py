"""Wording for ``row, col = cuda.grid(2)``, whatever the finding that the exchanged numbers led to."""

from __future__ import annotations

from dataclasses import replace

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.wording import Wording


def is_at_fault(evidence: Evidence) -> bool:
    """Whether a trial repair showed that the two numbers are exchanged."""
    return evidence.text("suspect") == "grid-order"


def reworded(evidence: Evidence, wording: Wording) -> Wording:
    """The finding's own message, with the cause in front."""
    names = evidence.code("the two numbers")
    return replace(
        wording,
        headline=f"{names} take the numbers of `cuda.grid(2)` in the wrong order: {wording.headline}",
        because="`cuda.grid(2)` gives the number along x first and the one along y second; x runs along the "
        "columns of a row-major matrix, y along its rows, and the grid has blocks for just that",
        hints=(
            "which of its two numbers does `cuda.grid(2)` give first?",
            f"neighbours along x belong side by side in a row: which name{evidence.on_line()} is that?",
            f"exchange {names}{evidence.on_line()}: the column comes first",
        ),
    )
