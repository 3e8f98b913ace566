"""Which diagnostic a half-remembered name means."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def begun(name: str, known: Sequence[str]) -> tuple[str, ...]:
    """The known names that start with ``name``; an exact one alone."""
    if name in known:
        return (name,)
    return tuple(one for one in known if name and one.startswith(name))


def alike(name: str, known: Sequence[str], most: int = 3) -> tuple[str, ...]:
    """Known names spelled like ``name``, those that hold it, and those with a word spelled like it."""
    holding = [one for one in known if len(name) > 2 and name in one]
    spelled = difflib.get_close_matches(name, known, n=most)
    worded = [one for one in known if difflib.get_close_matches(name, one.split("-"), n=1, cutoff=0.75)]
    return tuple(dict.fromkeys([*spelled, *holding, *worded]))[:most]
