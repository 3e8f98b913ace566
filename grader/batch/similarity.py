"""Near-identical submissions: winnowed fingerprints of the tokens that the skeleton does not give.

Fingerprints as in Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document
Fingerprinting", SIGMOD 2003: of each window of hashes of k tokens, the least. Names count as one
kind of token, so renaming hides nothing.
"""

from __future__ import annotations

import keyword
import math
import re
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations

from grader.reporters.classroom import SimilarGroup

__all__ = ["fingerprints", "similar"]

K, WINDOW = 9, 5
ALIKE = 0.9
LEAST = 12
# Python's tokens as far as likeness goes. The tokenize module takes ten times as long, and gives up on
# text that is no Python, which is compared all the same.
_TOKEN = re.compile(
    r"""\#[^\n]*
    | (?P<string>[rRbBuUfF]{0,3}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''
                                |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    | (?P<name>[^\W\d]\w*)
    | (?P<other>\d[\w.]*|\.\d[\w.]*|\*\*=?|//=?|<<=?|>>=?|[-+*/%@&|^=<>!:]=|->|\S)""",
    re.VERBOSE | re.DOTALL,
)


def fingerprints(text: str) -> frozenset[int]:
    """Give a text's fingerprints. Comments and blanks do not count, and one name is as good as another."""
    tokens = array("L", (_mark(token) for token in _tokens(text)))
    size = tokens.itemsize
    data = tokens.tobytes()
    hashes = [zlib.crc32(data[at : at + K * size]) for at in range(0, len(data) - K * size + 1, size)]
    if len(hashes) < WINDOW:
        return frozenset([min(hashes)] if hashes else [])
    windows = (hashes[i : len(hashes) - WINDOW + 1 + i] for i in range(WINDOW))
    return frozenset(map(min, *windows))


@lru_cache(maxsize=4096)
def _mark(token: str) -> int:
    return zlib.crc32(token.encode("utf-8", "replace"))


def _tokens(text: str) -> list[str]:
    out: list[str] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        if token.lastgroup == "name":
            out.append(word if keyword.iskeyword(word) else "name")
        elif token.lastgroup is not None:
            out.append(word)
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
    for marks, others in _candidates(by_marks):
        share = _share(marks, others)
        if share >= ALIKE:
            one, other = sorted((min(by_marks[marks]), min(by_marks[others])))
            found[one, other] = share
    return found


def _candidates(
    sets: Collection[frozenset[int]],
) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Give the pairs that may be alike, without looking at every pair of a class.

    Prefix filtering (Bayardo, Ma and Srikant, "Scaling Up All Pairs Similarity Search", WWW 2007): with
    the rarest marks first, two sets that share nine tenths share one of the first tenth of each.
    """
    counts = Counter(mark for marks in sets for mark in marks)
    holders: dict[int, list[frozenset[int]]] = defaultdict(list)
    for marks in sorted(sets, key=len):
        common = math.ceil(ALIKE * len(marks) - 1e-9)
        first = sorted(marks, key=lambda mark: (counts[mark], mark))[: len(marks) - common + 1]
        near = {other for mark in first for other in holders[mark] if len(other) >= ALIKE * len(marks)}
        yield from ((marks, other) for other in near)
        for mark in first:
            holders[mark].append(marks)


def _groups(own: Iterable[str], likeness: Mapping[tuple[str, str], float]) -> list[set[str]]:
    group_of = {student: {student} for student in own}
    for one, other in likeness:
        if group_of[one] is not group_of[other]:
            merged = group_of[one] | group_of[other]
            for student in merged:
                group_of[student] = merged
    unique = {id(group): group for group in group_of.values() if len(group) > 1}
    return list(unique.values())
