"""What lies in a class's folder or archive: its files, those of archives in it, and what is neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

from grader.batch.archives import expand
from grader.batch.problems import BatchError, Problem
from grader.batch.tree import LARGEST_ARCHIVE, Entry, archive_stem, walk
from grader.batch.unusable import WRAPPERS

__all__ = ["items_of"]


def items_of(root: Path, zone: tzinfo) -> tuple[list[Entry | Problem], str | None]:
    """Give the files from the submissions down, and the name of the one folder above them, if there is one.

    ``zone`` is that of the times in zip archives.

    Raises
    ------
    BatchError
        Nothing there, or nothing that can be read at all.
    """
    if root.is_file():
        if archive_stem(root.name) is None:
            raise BatchError(f"{root}: name a folder of submissions, or a zip or tar archive")
        found: Iterable[Entry | Problem] = expand(
            _archive(root), (root.name,), depth=0, strip=True, zone=zone
        )
    elif root.is_dir():
        found = _opened(walk(root), zone)
    else:
        raise BatchError(f"{root}: there is no such folder")
    items = list(found)
    unwrapped = root.name.casefold() in WRAPPERS
    tops = {item.parts[0] for item in items if isinstance(item, Entry)}
    stem = archive_stem(root.name) if root.is_file() else None
    wrapped = (
        not unwrapped
        and len(tops) == 1
        and (next(iter(tops)).casefold() in WRAPPERS or next(iter(tops)) == stem)
    )
    # nbgrader keeps released, source and feedback folders beside submitted/.
    course = (
        not unwrapped and "submitted" in tops and bool(tops & {"release", "source", "autograded", "feedback"})
    )
    if not (wrapped or course):
        return items, None
    above = "submitted" if course else next(iter(tops))
    inside = [
        replace(item, parts=item.parts[1:]) if isinstance(item, Entry) else item
        for item in items
        if isinstance(item, Problem) or (item.parts[0] == above and len(item.parts) > 1)
    ]
    return inside, above


def _archive(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_ARCHIVE:
            raise BatchError(
                f"{path}: an archive of more than {LARGEST_ARCHIVE >> 20} MiB; unpack it yourself first"
            )
        return path.read_bytes()
    except OSError as error:
        raise BatchError(f"{path}: cannot be read: {error.strerror}") from None


def _opened(items: Iterable[Entry | Problem], zone: tzinfo) -> Iterator[Entry | Problem]:
    """Replace each archive of a folder by what it holds."""
    for item in items:
        if isinstance(item, Problem) or archive_stem(item.parts[-1]) is None:
            yield item
            continue
        try:
            data = item.read()
        except OSError as error:
            yield Problem("unreadable", item.where, f"cannot be read: {error.strerror or error}")
            continue
        if len(data) > LARGEST_ARCHIVE:
            yield Problem("archive-refused", item.where, f"more than {LARGEST_ARCHIVE >> 20} MiB")
        else:
            yield from expand(data, item.parts, zone=zone)
