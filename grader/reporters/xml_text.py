"""Text that any XML 1.0 parser takes back."""

from __future__ import annotations

import re

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONGEST = 200_000
"""Characters of one text; gradebooks that read the file take some 30 MB of it."""


def legal(text: str) -> str:
    """Write characters that XML forbids as ``#x1B``, and cut a text that is beyond all reading."""
    if len(text) > LONGEST:
        text = text[:LONGEST] + f"\n... ({len(text) - LONGEST:,} characters more)"
    return _ILLEGAL.sub(lambda match: f"#x{ord(match.group()):02X}", text)


def one_line(text: str, longest: int = 500) -> str:
    """Give a text fit for an attribute: legal, on one line, of limited length."""
    line = " ".join(legal(text).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."
