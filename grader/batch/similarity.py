"""Near-identical submissions: winnowed fingerprints of the tokens that the skeleton does not give.

Fingerprints as in Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document
Fingerprinting", SIGMOD 2003: of each window of hashes of k tokens, the least. Names count as one
kind of token, so renaming hides nothing.
"""

from __future__ import annotations

import io
import keyword
import tokenize
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

from grader.reporters.classroom import SimilarGroup

__all__ = ["fingerprints", "similar"]

K, WINDOW = 9, 5
ALIKE = 0.9
LEAST = 12
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}


def fingerprints(text: str) -> frozenset[int]:
    """Give a text's fingerprints; a text that is no Python is taken word by word."""
    tokens = _tokens(text)
    hashes = [
        zlib.crc32("\0".join(tokens[i : i + K]).encode("utf-8", "replace"))
        for i in range(len(tokens) - K + 1)
    ]
    return frozenset(
        min(hashes[i : i + WINDOW]) for i in range(max(len(hashes) - WINDOW + 1, min(len(hashes), 1)))
    )


def _tokens(text: str) -> list[str]:
    out: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _SKIPPED:
                continue
            is_name = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
            out.append("name" if is_name else token.string.strip())
    except (tokenize.TokenError, SyntaxError, ValueError):
        return text.split()
    return out


def similar(
    exercise: str, texts: Mapping[str, str], skeleton: str, solution: str | None = None
) -> tuple[SimilarGroup, ...]:
    """Group the students whose submissions share at least nine tenths of what is their own.

    ``texts`` gives each student's submission. Too short a remainder says nothing and is left out.
    """
    given = fingerprints(skeleton)
    own = {student: fingerprints(text) - given for student, text in texts.items()}
    own = {student: marks for student, marks in own.items() if len(marks) >= LEAST}
    likeness = _likeness(own)
    published = fingerprints(solution) - given if solution else frozenset()
    groups = []
    for members in _groups(own, likeness):
        pairs = [likeness[pair] for pair in combinations(sorted(members), 2) if pair in likeness]
        near = bool(published) and all(_share(own[one], published) >= ALIKE for one in members)
        groups.append(SimilarGroup(exercise, tuple(sorted(members)), round(min(pairs), 3), near))
    return tuple(sorted(groups, key=lambda group: group.students))


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    common = len(one & other)
    return common / max(len(one) + len(other) - common, 1)


def _likeness(own: Mapping[str, frozenset[int]]) -> dict[tuple[str, str], float]:
    """Give the pairs that are alike. Equal sets are compared once, so a class of copies stays cheap."""
    by_marks: dict[frozenset[int], list[str]] = defaultdict(list)
    for student, marks in own.items():
        by_marks[marks].append(student)
    found: dict[tuple[str, str], float] = {}
    for students in by_marks.values():
        found |= dict.fromkeys(zip(sorted(students), sorted(students)[1:], strict=False), 1.0)
    distinct = sorted(by_marks, key=len)
    for index, marks in enumerate(distinct):
        for others in distinct[index + 1 :]:
            # Sets of so different a size cannot be alike, and those that follow are larger still.
            if len(marks) < ALIKE * len(others):
                break
            share = _share(marks, others)
            if share >= ALIKE:
                one, other = sorted((min(by_marks[marks]), min(by_marks[others])))
                found[one, other] = share
    return found


def _groups(own: Iterable[str], likeness: Mapping[tuple[str, str], float]) -> list[set[str]]:
    group_of = {student: {student} for student in own}
    for one, other in likeness:
        if group_of[one] is not group_of[other]:
            merged = group_of[one] | group_of[other]
            for student in merged:
                group_of[student] = merged
    unique = {id(group): group for group in group_of.values() if len(group) > 1}
    return list(unique.values())
