"""Lines about the compile check that no single finding tells."""

from __future__ import annotations

from collections.abc import Sequence

from grader.diagnosis.grammar import listing

__all__ = ["numba_accepts"]


def numba_accepts(archs: Sequence[str]) -> str:
    """The note where numba compiles what the machine refuses."""
    return (
        f"the machine and the compiler disagree: numba compiles the kernel for {listing(archs)}, "
        "the machine refuses it; send this report, with the file, to whoever maintains the grader"
    )
