from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from grader.batch.journal import Journal
from grader.batch.problems import BatchError


def test_a_grading_is_on_the_disk_when_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.keep("k1", "01", b"{}", 0.5, settled=True)
    journal.keep("k2", "01", b"{1}", 0.5, settled=False)
    other = sqlite3.connect(tmp_path / "j")
    assert other.execute("SELECT key, report, settled FROM gradings ORDER BY key").fetchall() == [
        ("k1", b"{}", 1),
        ("k2", b"{1}", 0),
    ]
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()
    assert journal.settled() == {"k1"}
    assert journal.report("k2") == b"{1}"
    assert journal.report("k3") is None
    journal.close()


def test_purging_keeps_what_others_share(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    for key in ("own", "shared"):
        journal.keep(key, "01", f"report of {key}".encode(), 0.1, settled=True)
    journal.hand_in([("eve", "01", "a", "own"), ("eve", "02", "b", "shared"), ("bob", "02", "c", "shared")])
    assert journal.purge("eve") == 2
    assert journal.settled() == {"shared"}
    assert journal.keys_of() == {("bob", "02", "c"): "shared"}
    journal.close()
    assert b"report of own" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_hand_ins_of_a_new_run_replace_the_old(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.hand_in([("eve", "01", "a", "k1")])
    journal.hand_in([("bob", "01", "a", "k2")])
    assert journal.keys_of() == {("bob", "01", "a"): "k2"}
    assert journal.keys_of("eve") == {}
    journal.close()


def test_a_file_that_is_no_journal_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b"not a database, but long enough to be read as one" * 40)
    with pytest.raises(BatchError, match=r"the journal is damaged: file is not a database\. Move this"):
        Journal(tmp_path / "j")


def test_a_journal_of_another_format_is_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.note("format", "0")
    journal.close()
    with pytest.raises(BatchError, match="another version"):
        Journal(tmp_path / "j")
