"""Lines about the compile check that no single finding tells."""

from __future__ import annotations

from collections.abc import Sequence

from grader.diagnosis.grammar import listing

__all__ = ["compiler_drops", "numba_accepts"]


def numba_accepts(archs: Sequence[str]) -> str:
    """The note where numba compiles what the machine refuses."""
    return (
        f"the machine and the compiler disagree: numba compiles the kernel for {listing(archs)}, "
        "the machine refuses it; send this report, with the file, to whoever maintains the grader"
    )


def compiler_drops(asked: int, kept: int, archs: Sequence[str]) -> str:
    """The note where the machine refuses shared arrays that fit once the compiler has dropped some."""
    return (
        f"the machine and the compiler disagree: the shared arrays as written need {asked:,} bytes a block, "
        f"as compiled for {listing(archs)} at most {kept:,}: the compiler drops what nothing reads; "
        "take out the array that is not used"
    )
