"""Submissions that aim at the scoring itself: each with the most points that it may get.

``naive`` says that a grader which only compares results on shapes that it has published, or only looks
for words, would give full marks.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.attacks.corpus import HEAD, RIGHT


@dataclass(frozen=True, slots=True)
class Scoring:
    """An attack on the scoring of exercise 02's kernel checks, which are worth 80 of 100 points."""

    name: str
    source: str
    most: float
    naive: bool = True


def _read() -> tuple[Scoring, ...]:
    entries = tomllib.loads(Path(__file__).with_name("scoring.toml").read_text(encoding="utf-8"))
    return tuple(_scoring(name, **entry) for name, entry in entries.items())


def _scoring(
    name: str, most: float, text: str = "", edits: tuple[tuple[str, str], ...] = (), naive: bool = True
) -> Scoring:
    source = text or HEAD + RIGHT
    for old, new in edits:
        assert source.count(old) == 1, (name, old)
        source = source.replace(old, new)
    return Scoring(name, source, most, naive)


#: ``scoring.toml``: by name, the most points, and the whole text or edits of the right kernel.
SCORING = _read()

#: Answers that aim at the grading of words and numbers: (exercise, question, answer).
ANSWERS = (
    (
        "03_intensity_math",
        "wall",
        "thread 1024 limit intensity 8 below ridge thread limit intensity below ridge",
    ),
    (
        "03_intensity_math",
        "wall",
        "block thread intensity ridge maximum memory bound at most 8 \u2014 threads 1024 " * 40,
    ),
    ("03_intensity_math", "flops", "nan"),
    ("03_intensity_math", "flops", "inf"),
    ("03_intensity_math", "flops", "137438953472 or 1 or 2 or 3"),
    ("03_intensity_math", "flops", "9**9**9**9"),
    ("03_intensity_math", "flops", "__import__('os').system('id')"),
    ("03_intensity_math", "naive_intensity", "0.25 TFLOP/byte"),
    ("03_intensity_math", "naive_doubled", "a b c"),
    ("03_intensity_math", "escape", "[a, b, c, d]"),
    ("03_intensity_math", "tile_formula", "T/4 if T else T/2"),
    ("03_intensity_math", "tile_formula", "(" * 5000 + "T/4" + ")" * 5000),
)
