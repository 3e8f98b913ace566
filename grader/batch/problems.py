"""What can be wrong with a batch: an error that ends it, or a problem that is listed beside the grades."""

from __future__ import annotations

import re

from grader.reporters.classroom import Problem

__all__ = ["BatchError", "Problem", "printable"]

_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


class BatchError(Exception):
    """The batch cannot go on. ``str()`` is one line: what, where, what to do."""


def printable(text: str) -> str:
    """Write a name so that it can stand on any line: control and invisible characters as their codes."""
    return _HIDDEN.sub(lambda match: _escaped(match.group()), text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
