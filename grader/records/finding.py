"""Evidence: what the machine and the checks saw, without a word of English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from grader.records.span import Span

Severity = Literal["error", "warning", "note"]
Dim3 = tuple[int, int, int]
Fact = str | int | float | bool | tuple["Fact", ...] | None


@dataclass(frozen=True, slots=True, order=True)
class Thread:
    """One thread of a launch: block and thread coordinates as (x, y, z)."""

    block: Dim3
    thread: Dim3


@dataclass(frozen=True, slots=True)
class Slot:
    """One element of an array: its name in the kernel, its memory space, its index in each dimension."""

    array: str
    space: Literal["global", "shared", "local"]
    index: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One piece of evidence.

    ``primary`` is the statement or expression at fault, ``secondary`` the one that explains it
    (for a race: the other access). ``threads`` lists the thread of the primary span first and
    that of the secondary span second. ``loops`` gives the values that the loop variables had at
    the primary access, outermost first. ``counts`` are whole numbers (threads, words, blocks)
    and ``facts`` the rest; docs/findings.md lists the keys of each name.
    """

    name: str
    severity: Severity
    primary: Span | None = None
    secondary: Span | None = None
    threads: tuple[Thread, ...] = ()
    slot: Slot | None = None
    loops: tuple[tuple[str, int], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
