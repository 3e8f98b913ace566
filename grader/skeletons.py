"""Derive an exercise from its solution by the regions marked in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPEN = re.compile(r"\s*(?:#\s*region student\b.*|<!--\s*region student\b.*-->)\s*")
_CLOSE = re.compile(r"\s*(?:#\s*endregion|<!--\s*endregion\s*-->)\s*")
_SKELETON_LINE = re.compile(r"(?P<indent>\s*)#\|(?: (?P<text>.*))?")
_SKELETON_OPEN = re.compile(r"\s*<!--\s*skeleton\s*")
_SKELETON_CLOSE = re.compile(r"\s*-->\s*")


@dataclass(eq=False)
class SkeletonError(ValueError):
    """A solution whose regions do not make a skeleton: the line, counted from 1, and what is wrong there."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


def derive_skeleton(text: str) -> str:
    """Give the skeleton of a solution: each region's body replaced by the skeleton text it carries.

    A region runs from ``# region student: TASK`` to ``# endregion``. Its first lines, each
    beginning with ``#|``, are the skeleton's text; the code after them is dropped. In Markdown
    the markers are HTML comments, and the text stands in one ``<!-- skeleton ... -->`` comment.

    Raises
    ------
    SkeletonError
        A region that is not closed, nested, without skeleton text or without code; a text
        without any region, which would make the solution its own skeleton.
    """
    kept: list[str] = []
    region: list[str] | None = None
    opened = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if _OPEN.fullmatch(line):
            if region is not None:
                raise SkeletonError(number, f"a region opens inside the region of line {opened}")
            region, opened = [], number
        elif _CLOSE.fullmatch(line):
            if region is None:
                raise SkeletonError(number, "endregion without a region")
            kept += _skeleton_text(region, opened)
            region = None
        else:
            (kept if region is None else region).append(line)
    if region is not None:
        raise SkeletonError(opened, "this region is never closed")
    if not opened:
        raise SkeletonError(1, "no student region is marked")
    return "\n".join(kept) + "\n"


def _skeleton_text(body: list[str], opened: int) -> list[str]:
    """Give the plain skeleton lines at the head of a region's body."""
    if body and _SKELETON_OPEN.fullmatch(body[0]):
        end = next((i for i, line in enumerate(body) if _SKELETON_CLOSE.fullmatch(line)), None)
        if end is None:
            raise SkeletonError(opened + 1, "this skeleton comment is never closed")
        text, code = body[1:end], body[end + 1 :]
    else:
        matches = [_SKELETON_LINE.fullmatch(line) for line in body]
        end = next((i for i, match in enumerate(matches) if match is None), len(body))
        text = [(m["indent"] + (m["text"] or "")).rstrip() for m in matches[:end] if m is not None]
        code = body[end:]
    if not text:
        raise SkeletonError(opened, "this region has no skeleton text at its head")
    if not any(line.strip() for line in code):
        raise SkeletonError(opened, "this region has no solution after its skeleton text")
    for offset, line in enumerate(code):
        if _SKELETON_LINE.fullmatch(line):
            raise SkeletonError(opened + end + 1 + offset, "skeleton text after the region's code has begun")
    return text
