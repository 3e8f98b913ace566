"""Wording for accesses of several elements at once whose address does not fit their size."""

from __future__ import annotations

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import plural
from grader.diagnosis.wording import Wording


def misaligned_access(evidence: Evidence) -> Wording:
    """Word an address that is no multiple of the bytes that are moved at once."""
    code, slot = evidence.code("an access"), evidence.slot() or "an element"
    size, elements, offset = evidence.whole("bytes"), evidence.whole("elements"), evidence.whole("offset")
    wide = f"{size} bytes" if size is not None else "several elements"
    multiple = f"a multiple of {elements}" if elements is not None else "a multiple of what is moved at once"
    threads = evidence.count("threads")
    who = plural(threads, "thread has", "threads have") if threads is not None else ""
    return Wording(
        headline=f"{code} moves {wide} at {slot}, whose address is no multiple of that",
        primary=f"{evidence.thread(0, 'a thread')} begins at {slot} here",
        secondary="this decides who comes here",
        seen=(
            evidence.at_shape(),
            f"an offset of {offset} elements, which is not {multiple}{evidence.in_round()}"
            if offset is not None
            else "",
            f"{who} such an address" if who else "",
        ),
        because="a load, store or copy of several elements at once takes an address that is a multiple of "
        "its whole size; a GPU stops the launch at any other",
        hints=(
            f"for which threads is the offset not {multiple}?",
            "an odd row length moves every second row out of step: 128-bit accesses need rows that are a "
            "multiple of 16 bytes long, by padding if need be",
            f"let the offset{evidence.on_line()} be {multiple}, or move the elements one by one where it is "
            "not",
        ),
        all_the_same="a GPU ends the launch with a misaligned address",
    )
