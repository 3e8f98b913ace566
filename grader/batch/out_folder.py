"""The folder that a batch writes: its owner's alone, one batch at a time, each file whole or not there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.batch.problems import BatchError
from grader.batch.tree import BATCH_MARK

__all__ = ["OutFolder", "file_label"]

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,60}")
_LOCK = ".lock"
_SCRATCH = ".grading"
#: Folders that a batch fills; a file in them that this run did not write is an earlier run's.
OWN_FOLDERS = ("feedback", "junit", "gradescope", "prairielearn", "timings")
#: Files about the whole class, which name people: a purge takes them all away.
CLASS_FILES = (
    "junit.xml",
    "grades.csv",
    "canvas.csv",
    "moodle.csv",
    "problems.csv",
    "pending.csv",
    "report.html",
    "compiled.csv",
    "times.csv",
    "timings.csv",
    "leaderboard.html",
)


def file_label(name: str) -> str:
    """Give a file name for a person that every system takes and no two people share."""
    if _PLAIN.fullmatch(name) and not name.endswith(".") and name.partition(".")[0] not in _DEVICES:
        return name
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.casefold()).strip("-.")[:40] or "student"
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


_DEVICES = {"con", "prn", "aux", "nul", *(f"{kind}{i}" for kind in ("com", "lpt") for i in range(10))}


class OutFolder:
    """One output folder."""

    def __init__(self, path: Path) -> None:
        """Make the folder, or take one that a batch made before.

        Raises
        ------
        BatchError
            It cannot be made, or holds what is not a batch's.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / BATCH_MARK).exists():
                if any(path.iterdir()):
                    raise BatchError(
                        f"{path}: this folder is not empty and no batch made it; name another with --out"
                    )
                path.chmod(0o700)
                (path / BATCH_MARK).write_text("made by grader batch\n", encoding="utf-8")
            path.chmod(0o700)
        except OSError as error:
            raise BatchError(f"{path}: the output folder cannot be written: {error.strerror}") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder. Raises ``BatchError`` where another batch has it."""
        try:
            descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise BatchError(f"{self.path}: the output folder cannot be written: {error.strerror}") from None
        # The journal's own files are SQLite's to make; they too are the owner's alone.
        before = os.umask(0o077)
        try:
            if not _lock(descriptor):
                raise BatchError(
                    f"{self.path}: another batch is writing this folder; wait for it, or name another"
                )
            yield
        finally:
            os.umask(before)
            os.close(descriptor)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Give a folder for gradings at work, empty: what a killed batch, or a killed worker, left goes."""
        self.clear_scratch()
        path = self.path / _SCRATCH
        try:
            path.mkdir(mode=0o700)
        except OSError as error:
            raise BatchError(f"{path}: cannot be made: {error.strerror}") from None
        try:
            yield path
        finally:
            self.clear_scratch()

    def clear_scratch(self) -> None:
        """Remove what was being graded, and what was being written, when a batch was killed."""
        shutil.rmtree(self.path / _SCRATCH, ignore_errors=True)
        for folder in (self.path, *(self.path / name for name in OWN_FOLDERS)):
            for path in (*folder.glob(_unfinished("*")), *folder.glob(f"*/{_unfinished('*')}")):
                with contextlib.suppress(OSError):
                    path.unlink()

    def write(self, files: Iterable[tuple[str, str]]) -> None:
        """Write files, given by name and text; those of an earlier run that are not among them then go.

        A file that ``OWN_FOLDERS`` and ``CLASS_FILES`` do not know is refused: a purge would overlook it.

        Raises
        ------
        BatchError
            One cannot be written; those before it are new, those after it old, and each is whole.
        """
        written = set()
        for name, text in files:
            assert name in CLASS_FILES or name.partition("/")[0] in OWN_FOLDERS, name
            self._write(self.path / name, text.encode("utf-8", "backslashreplace"))
            written.add(name)
        for folder in OWN_FOLDERS:
            self._clear(folder, written)
        for name in {*CLASS_FILES} - written:
            with contextlib.suppress(OSError):
                (self.path / name).unlink()

    def _write(self, path: Path, data: bytes) -> None:
        try:
            if _holds(path, data):
                return
            temporary = path.with_name(_unfinished(path.name))
            with open(_created(temporary), "wb") as file:
                # Not synced: what a power cut takes of it, the next run writes again from the journal.
                file.write(data)
            temporary.replace(path)
        except OSError as error:
            raise BatchError(
                f"{path}: cannot be written: {error.strerror}. Every grading is kept in the journal; "
                "make room or mend the folder and run the same command again"
            ) from None

    def _clear(self, folder: str, wanted: set[str]) -> None:
        root = self.path / folder
        if not root.is_dir():
            return
        for path in sorted(root.rglob("*"), reverse=True):
            name = path.relative_to(self.path).as_posix()
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir() if not any(path.iterdir()) else None
                elif name not in wanted:
                    path.unlink()


def _unfinished(name: str) -> str:
    """What a file is called while it is written."""
    return f".{name}.new"


def _holds(path: Path, data: bytes) -> bool:
    """Say whether a file, and no link to one, has these very bytes."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == len(data) and path.read_bytes() == data


def _created(path: Path) -> int:
    """Open a new file, in the place of one that a killed run left; its folder is made where there is none."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        path.unlink()
    return os.open(path, flags, 0o600)


def _lock(descriptor: int) -> bool:
    """Take the lock, which the system lets go when its process ends, however it ends."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
