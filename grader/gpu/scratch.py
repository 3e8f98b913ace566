"""Folders for what lies on a disk during a grading: gone when it ends, however it ends.

Whoever is killed leaves its folder. Each is held by a lock that the system lets go with its process, so
the next one that needs a folder in the same place knows which are nobody's, and removes them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

__all__ = ["FOLDER_VARIABLE", "scratch_folder"]

#: The variable that names where scratch folders are made, in place of the system's temporary folder.
FOLDER_VARIABLE = "TILEGRADE_WORKER_FOLDER"
#: Of folders that are held by a lock; others of another name are left alone.
_PREFIX = "tilegrade-scratch-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give an empty folder of one's own, mode 0700, and remove it with all that is in it."""
    above = Path(os.environ.get(FOLDER_VARIABLE) or tempfile.gettempdir())
    _sweep_once(above)
    while True:
        with (
            tempfile.TemporaryDirectory(prefix=_PREFIX, dir=above, ignore_cleanup_errors=True) as name,
            _held(Path(name)) as held,
        ):
            # Between its making and its lock another process may have taken it for a dead one's.
            if not held:
                continue
            yield Path(name)
            return


@cache
def _sweep_once(above: Path) -> None:
    """Remove the folders that no living process holds; once in a process is enough."""
    with contextlib.suppress(OSError):
        for path in above.glob(f"{_PREFIX}*"):
            with _held(path, only=True) as held:
                if held:
                    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _held(path: Path, *, only: bool = False) -> Iterator[bool]:
    """Hold a folder; give whether it is there, ours and nobody else's.

    ``only`` asks for certainty: where locks are not to be had (Windows, some network file systems) nobody
    can tell whose a folder is, and the answer is no. Without it, it is yes.
    """
    try:
        import fcntl
    except ImportError:
        yield not only
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = True
        except BlockingIOError:
            held = False
        except OSError:
            held = not only
        yield held and _is(path, descriptor)
    finally:
        os.close(descriptor)


def _is(path: Path, descriptor: int) -> bool:
    """Say whether a path is still the folder that was opened, and is this user's."""
    with contextlib.suppress(OSError):
        there, opened = path.lstat(), os.fstat(descriptor)
        same = (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino)
        return same and stat.S_ISDIR(opened.st_mode) and opened.st_uid == os.geteuid()
    return False
