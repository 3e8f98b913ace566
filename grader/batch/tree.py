"""The files of a folder or an archive, as one flat stream that follows no link and opens no pipe."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.batch.problems import BatchError, Problem, printable
from grader.source import LARGEST

__all__ = ["BATCH_MARK", "Entry", "archive_stem", "is_clutter", "walk"]

DEEPEST = 12
#: The file by which a batch knows its own folder again.
BATCH_MARK = ".tilegrade-batch"
LARGEST_ARCHIVE = 1024**3
_SUFFIXES = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")
MOST_ENTRIES = 200_000
_CLUTTER = {"__macosx", ".ds_store", "thumbs.db", "desktop.ini", "__pycache__", ".git", ".ipynb_checkpoints"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One regular file. ``parts`` are its names from the root down; ``modified`` is in seconds since 1970.

    ``read`` gives its bytes: of a submission one more than ``LARGEST`` at most, which is enough to refuse it.
    """

    parts: tuple[str, ...]
    modified: float | None
    read: Callable[[], bytes]

    @property
    def where(self) -> str:
        """The path as it can be printed."""
        return printable("/".join(self.parts))


def is_clutter(name: str) -> bool:
    """Say whether an operating system or an editor left this, not a student."""
    return name.casefold() in _CLUTTER or name.startswith("._")


def archive_stem(name: str) -> str | None:
    """Give an archive's name without its suffix, or None where the name is no archive's."""
    lower = name.casefold()
    for suffix in _SUFFIXES:
        if lower.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return None


def walk(root: Path) -> Iterator[Entry | Problem]:
    """Give the files below a folder, sorted by name; what is no file or folder is a problem.

    Raises
    ------
    BatchError
        The folder cannot be read, or holds more than ``MOST_ENTRIES`` files.
    """
    for count, item in enumerate(_walk(root, ()), start=1):
        if count > MOST_ENTRIES:
            raise BatchError(f"{root}: more than {MOST_ENTRIES:,} files; is this the folder of submissions?")
        yield item


def _walk(folder: Path, above: tuple[str, ...]) -> Iterator[Entry | Problem]:
    try:
        with os.scandir(folder) as scan:
            found = sorted(scan, key=lambda item: os.fsencode(item.name))
    except OSError as error:
        if not above:
            raise BatchError(f"{folder}: cannot be read: {error.strerror}") from None
        yield Problem("unreadable", printable("/".join(above)), f"cannot be read: {error.strerror}")
        return
    if any(item.name == BATCH_MARK for item in found):
        # What a batch wrote is no submission, wherever it lies.
        if not above:
            raise BatchError(f"{folder}: a batch wrote this folder; name the folder of submissions")
        return
    for item in found:
        if is_clutter(item.name):
            continue
        parts = (*above, item.name)
        where = printable("/".join(parts))
        try:
            mode = item.stat(follow_symlinks=False)
        except OSError as error:
            yield Problem("unreadable", where, f"cannot be read: {error.strerror}")
            continue
        if stat.S_ISLNK(mode.st_mode):
            yield Problem("link", where, "a symbolic link is not followed; hand in the file itself")
        elif stat.S_ISDIR(mode.st_mode):
            if len(parts) >= DEEPEST:
                yield Problem("too-deep", where, f"folders nested {DEEPEST} deep are not searched")
            else:
                yield from _walk(folder / item.name, parts)
        elif stat.S_ISREG(mode.st_mode):
            yield Entry(parts, mode.st_mtime, _reader(folder / item.name))
        else:
            yield Problem("not-a-file", where, "a pipe, a socket or a device is not opened")


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        # What was a file while it was listed may have become a link or a pipe since.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(0, "no longer a regular file")
            return file.read(LARGEST + 1 if archive_stem(path.name) is None else LARGEST_ARCHIVE + 1)

    return read
