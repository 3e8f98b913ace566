"""How compute-sanitizer's counts and the machine's findings go together, in a line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from grader.diagnosis.catalogue import CATALOGUE
from grader.diagnosis.grammar import listing, plural
from grader.records import Sanitized

__all__ = ["sanitizer_note"]


def sanitizer_note(found: Sequence[Sanitized], names: Collection[str]) -> str:
    """The tools that report what the machine has no finding of, or that have no verdict; empty without any.

    ``names`` are the machine's findings. A tool and the catalogue's family of the same name look for the
    same kind of fault. A fault that only the machine sees is no contradiction: the tools see one schedule.
    """
    families = {CATALOGUE[name].family for name in names if name in CATALOGUE}
    alone = [one for one in found if one.errors and one.tool not in families]
    without = [one for one in found if one.problem]
    if alone:
        counts = listing([f"{one.tool} {plural(one.errors, 'error')}" for one in alone])
        return f"compute-sanitizer reports what the machine has no finding of: {counts}"
    if without:
        tools = listing([one.tool for one in without])
        return f"compute-sanitizer has no verdict of {tools}: {without[0].problem}"
    return ""
