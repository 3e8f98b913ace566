"""The journal: every finished grading, in a SQLite file that outlives a kill and a power cut."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grader.batch.problems import BatchError

__all__ = ["Journal"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS gradings (
    key TEXT PRIMARY KEY, exercise TEXT NOT NULL, settled INTEGER NOT NULL, seconds REAL NOT NULL,
    report BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS handins (
    student TEXT NOT NULL, exercise TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (student, exercise, path)
);
"""
_FORMAT = "1"


class Journal:
    """One batch's journal. All changes are transactions; each is on the disk when its method returns."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises ``BatchError`` where that cannot be done, or it is another format."""
        self._path = path
        with self._told("opened"):
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            # What is purged must not linger in free pages.
            self._connection.execute("PRAGMA secure_delete=ON")
            self._connection.executescript(_SCHEMA)
        if self.setdefault("format", _FORMAT) != _FORMAT:
            raise BatchError(f"{path}: this journal was made by another version of grader; use a new folder")

    def close(self) -> None:
        """Close the file; what it holds stays."""
        self._connection.close()

    def setdefault(self, name: str, value: str) -> str:
        """Give a note, made with ``value`` where there is none yet."""
        with self._told("written"):
            self._connection.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))
            return str(
                self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()[0]
            )

    def note(self, name: str, value: str) -> None:
        """Set a note."""
        with self._told("written"):
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def noted(self, name: str) -> str | None:
        """Give a note, or None."""
        with self._told("read"):
            row = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def settled(self) -> set[str]:
        """Give the keys of the gradings that need not be done again."""
        with self._told("read"):
            return {key for (key,) in self._connection.execute("SELECT key FROM gradings WHERE settled = 1")}

    def report(self, key: str) -> bytes | None:
        """Give a grading's report in JSON, or None."""
        with self._told("read"):
            row = self._connection.execute("SELECT report FROM gradings WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def seconds(self, key: str) -> float:
        """Give how long a grading took."""
        with self._told("read"):
            row = self._connection.execute("SELECT seconds FROM gradings WHERE key = ?", (key,)).fetchone()
        return 0.0 if row is None else float(row[0])

    def keep(self, key: str, exercise: str, report: bytes, seconds: float, *, settled: bool) -> None:
        """Keep a finished grading. One that is not settled is tried again by the next run."""
        with self._told("written"):
            self._connection.execute(
                "INSERT OR REPLACE INTO gradings VALUES (?, ?, ?, ?, ?)",
                (key, exercise, int(settled), seconds, report),
            )

    def hand_in(self, rows: Iterable[tuple[str, str, str, str]]) -> None:
        """Say whose submissions there are now: (student, exercise, path, key); what was there before goes."""
        with self._told("written"), self._transaction():
            self._connection.execute("DELETE FROM handins")
            self._connection.executemany("INSERT OR REPLACE INTO handins VALUES (?, ?, ?, ?)", rows)

    def keys_of(
        self, student: str | None = None, exercise: str | None = None
    ) -> dict[tuple[str, str, str], str]:
        """Give the keys of some hand-ins by (student, exercise, path)."""
        with self._told("read"):
            rows = self._connection.execute(
                "SELECT student, exercise, path, key FROM handins "
                "WHERE (?1 IS NULL OR student = ?1) AND (?2 IS NULL OR exercise = ?2)",
                (student, exercise),
            ).fetchall()
        return {(row[0], row[1], row[2]): row[3] for row in rows}

    def forget(self, keys: Iterable[str]) -> None:
        """Drop gradings, so that they are done again."""
        with self._told("written"), self._transaction():
            self._connection.executemany("DELETE FROM gradings WHERE key = ?", [(key,) for key in keys])

    def purge(self, student: str) -> int:
        """Remove a student's hand-ins and the gradings that are nobody else's; give how many hand-ins."""
        with self._told("written"):
            with self._transaction():
                count = self._connection.execute("DELETE FROM handins WHERE student = ?", (student,)).rowcount
                self._connection.execute("DELETE FROM gradings WHERE key NOT IN (SELECT key FROM handins)")
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(count)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                cursor.execute("ROLLBACK")
                raise
            cursor.execute("COMMIT")

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            # SQLite's "not a database" and "malformed"; what room or rights would mend is of a subclass.
            if type(error) is sqlite3.DatabaseError:
                raise BatchError(
                    f"{self._path}: the journal is damaged: {error}. Move this file away, with those beside "
                    "it whose names begin alike, and run the same command again: it grades everything anew"
                ) from None
            raise BatchError(
                f"{self._path}: the journal cannot be {what}: {error}. What it holds so far is safe; "
                "make room or mend the folder and run the same command again"
            ) from None
