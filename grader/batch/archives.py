"""Submissions inside zip and tar archives, read into memory: nothing is ever unpacked to a disk.

An archive that climbs out of itself, holds links or grows beyond all measure is refused whole, by
name; its sizes are counted while it is read, since its own headers may lie.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import PurePosixPath
from typing import IO, cast

from grader.batch.problems import Problem, printable
from grader.batch.tree import Entry, archive_stem, is_clutter
from grader.source import LARGEST

__all__ = ["expand"]

MOST_MEMBERS = 20_000
MOST_BYTES = 512 * 1024 * 1024
DEEPEST_ARCHIVE = 2
_EXTENDED_TIME = 0x5455
_SAYS_UTF_8 = 0x800


class _Refused(Exception):
    """Why an archive is refused: one clause."""


class _Bounded(io.RawIOBase):
    """A decompressed stream that stops a bomb: it counts what comes out of it."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner, self._left = inner, MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        data = self._inner.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            raise _Refused(f"it unpacks to more than {MOST_BYTES // 2**20} MiB")
        view[: len(data)] = data
        return len(data)


def expand(
    data: bytes, parts: tuple[str, ...], depth: int = 1, *, strip: bool = False, zone: tzinfo = UTC
) -> Iterator[Entry | Problem]:
    """Give the files of an archive whose path is ``parts``; archives within it are opened once more.

    ``strip`` leaves the archive's own name out of its files' paths, as for a whole class's archive, whose
    ``depth`` is 0: it stands for a folder. ``zone`` is that of the clock that a zip's times were read from,
    where it does not give them in UTC as well.
    """
    where = printable("/".join(parts))
    stem = archive_stem(parts[-1]) or parts[-1]
    above = parts[:-1] if strip else (*parts[:-1], stem)
    try:
        members = list(_zip(data, zone) if zipfile.is_zipfile(io.BytesIO(data)) else _tar(data))
    except _Refused as error:
        yield Problem("archive-refused", where, f"the archive is refused: {error}")
        return
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, ValueError) as error:
        yield Problem("archive-refused", where, f"the archive cannot be read: {printable(str(error))[:200]}")
        return
    except (zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError) as error:
        yield Problem("archive-refused", where, f"the archive cannot be read: {printable(str(error))[:200]}")
        return
    for names, modified, content in members:
        inner = (*above, *names)
        if archive_stem(names[-1]) is None:
            yield Entry(inner, modified, _held(content))
        elif depth >= DEEPEST_ARCHIVE:
            yield Problem("archive-refused", printable("/".join(inner)), "an archive nested too deep")
        else:
            yield from expand(content, inner, depth + 1, zone=zone)


def _held(content: bytes) -> Callable[[], bytes]:
    return lambda: content


_Member = tuple[tuple[str, ...], float | None, bytes]


def _names(name: str, seen: set[str]) -> tuple[str, ...] | None:
    """Give a member's path in parts; None for clutter. Raises ``_Refused`` for one that climbs out."""
    if "\\" in name or name.startswith("/") or (len(name) > 1 and name[1] == ":"):
        raise _Refused(f"{printable(name)!r} is an absolute path or a path of another system")
    parts = tuple(part for part in PurePosixPath(name).parts if part != ".")
    if ".." in parts:
        raise _Refused(f"{printable(name)!r} climbs out of the archive")
    if not parts or any(is_clutter(part) for part in parts):
        return None
    path = "/".join(parts)
    if path in seen:
        raise _Refused(f"it holds {printable(path)!r} twice")
    seen.add(path)
    return parts


def _most(name: str) -> int:
    """Bytes that are worth reading of a member: one more than a submission may have."""
    return MOST_BYTES // 4 if archive_stem(name) else LARGEST + 1


def _zip(data: bytes, zone: tzinfo) -> Iterator[_Member]:
    seen: set[str] = set()
    total = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            raise _Refused(f"it holds more than {MOST_MEMBERS:,} files")
        for name, info in sorted(((_zip_name(one), one) for one in infos), key=lambda pair: pair[0]):
            parts = _names(name, seen)
            if stat.S_ISLNK(info.external_attr >> 16):
                raise _Refused(f"{printable(name)!r} is a link")
            if parts is None or info.is_dir():
                continue
            if info.flag_bits & 1:
                raise _Refused(f"{printable(name)!r} is encrypted")
            with archive.open(info) as member:
                content = member.read(_most(parts[-1]))
            total += len(content)
            if total > MOST_BYTES:
                raise _Refused(f"it unpacks to more than {MOST_BYTES // 2**20} MiB")
            yield parts, _zip_time(info, zone), content


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Give a member's name: macOS and Info-ZIP write UTF-8 and do not say so, and code page 437 is read."""
    if info.flag_bits & _SAYS_UTF_8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _zip_time(info: zipfile.ZipInfo, zone: tzinfo) -> float | None:
    """Give a member's time: in UTC from its extended timestamp, else by the clock of ``zone``."""
    extra = info.extra
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        if kind == _EXTENDED_TIME and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return float(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    try:
        return datetime(*info.date_time, tzinfo=zone).timestamp()
    except ValueError:
        return None


def _tar(data: bytes) -> Iterator[_Member]:
    seen: set[str] = set()
    found: list[_Member] = []
    with tarfile.open(fileobj=io.BufferedReader(_Bounded(_decompressed(data))), mode="r|") as archive:
        for count, member in enumerate(archive, start=1):
            if count > MOST_MEMBERS:
                raise _Refused(f"it holds more than {MOST_MEMBERS:,} files")
            parts = _names(member.name, seen) if not member.isdir() else None
            if member.issym() or member.islnk():
                raise _Refused(f"{printable(member.name)!r} is a link")
            if not member.isdir() and not member.isfile():
                raise _Refused(f"{printable(member.name)!r} is a device or a pipe")
            if parts is None:
                continue
            file = archive.extractfile(member)
            content = file.read(_most(parts[-1])) if file is not None else b""
            found.append((parts, float(member.mtime), content))
    yield from sorted(found, key=lambda one: one[0])


def _decompressed(data: bytes) -> IO[bytes]:
    stream = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    if data.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(stream))
    if data.startswith(b"\xfd7zXZ"):
        return cast("IO[bytes]", lzma.LZMAFile(stream))
    return stream
