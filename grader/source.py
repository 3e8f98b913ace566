"""Read a submission's bytes: whatever they are, the answer is its text or one clear line."""

from __future__ import annotations

import codecs
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LARGEST = 1_000_000
"""Bytes that a submission may have; a solution has some 5,000."""

SourceFault = Literal["missing", "folder", "not-a-file", "unreadable", "too-large", "binary", "encoding"]


@dataclass(eq=False)
class SourceError(Exception):
    """A submission that cannot be read as text.

    ``message`` is one line for the student; ``line`` is set where a place in the file is at fault.
    """

    fault: SourceFault
    path: str
    message: str
    line: int | None = None

    @property
    def is_usage(self) -> bool:
        """Whether the command named no readable file, rather than the file being at fault."""
        return self.fault in {"missing", "folder", "not-a-file", "unreadable"}

    def __str__(self) -> str:
        return f"{self.path}{'' if self.line is None else f':{self.line}'}: {self.message}"


@dataclass(frozen=True, slots=True)
class Source:
    """A submission's text with plain newlines and without a byte order mark, and its lines.

    Tabs stay tabs: a column counts characters.
    """

    path: str
    text: str
    lines: tuple[str, ...]


def read(path: Path | str) -> Source:
    """Read a submission.

    Raises
    ------
    SourceError
        Nothing there, not a regular file, no permission, too large, binary, not UTF-8.
    """
    shown = str(path)
    data = _read_bytes(Path(path), shown)
    if len(data) > LARGEST:
        raise SourceError("too-large", shown, _too_large(len(data)))
    text = _decode(data, shown)
    return Source(shown, text, tuple(text.split("\n")))


def _read_bytes(path: Path, shown: str) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise SourceError("folder", shown, "this is a folder; name the exercise's file in it")
        if not stat.S_ISREG(status.st_mode):
            raise SourceError("not-a-file", shown, "this is a device or a pipe; name an ordinary file")
        if status.st_size > LARGEST:
            raise SourceError("too-large", shown, _too_large(status.st_size))
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise SourceError("missing", shown, "there is no such file") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SourceError("unreadable", shown, f"cannot be read: {why}") from None


def _too_large(size: int) -> str:
    # Who reads a file in parts stops one byte beyond the limit: how large it is, is not known then.
    told = f"{size:,}" if size > LARGEST + 1 else f"more than {LARGEST:,}"
    return f"{told} bytes; a submission has at most {LARGEST:,}. Is this the right file?"


def _decode(data: bytes, shown: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError("encoding", shown, "saved as UTF-16; save it as UTF-8", 1)
    if (zero := data.find(b"\0")) >= 0:
        raise SourceError("binary", shown, f"binary data, not a text file: byte {zero + 1} is zero")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)]
        line = len(re.findall(rb"\r\n|\r|\n", before)) + 1
        column = len(re.split(rb"\r\n|\r|\n", before)[-1]) + 1
        byte = data[len(before)]
        raise SourceError(
            "encoding",
            shown,
            f"byte 0x{byte:02X} at byte {column} of this line is not UTF-8; save the file as UTF-8",
            line,
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
