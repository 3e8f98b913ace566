"""Places in a submission's text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of source text.

    Lines and columns count from 1; columns count characters, not bytes. The end column is one
    past the last character, so a span of one character has ``end_column == column + 1``.
    """

    line: int
    column: int
    end_line: int
    end_column: int
