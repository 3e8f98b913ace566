from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import zipfile
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from grader.batch import archives
from grader.batch.archives import expand
from grader.batch.problems import Problem
from grader.batch.tree import Entry, archive_stem


def zipped(members: dict[str, bytes], **attributes: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = attributes.get("mode", 0o644) << 16
            archive.writestr(info, data)
    return out.getvalue()


def tarred(name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        info.size = len(data) if kind == tarfile.REGTYPE else 0
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_a_zips_times_are_by_the_clock_of_the_course_unless_it_gives_them_in_utc() -> None:
    noon = (2026, 7, 1, 12, 0, 0)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.py", noon), "x")
        exact = zipfile.ZipInfo("b.py", noon)
        exact.extra = struct.pack("<HHI", 0x7875, 4, 0) + struct.pack("<HHBi", 0x5455, 5, 1, 1_780_000_000)
        archive.writestr(exact, "x")
    berlin = ZoneInfo("Europe/Berlin")
    found = list(expand(out.getvalue(), ("ada.zip",), zone=berlin))
    local = datetime(2026, 7, 1, 12, tzinfo=berlin).timestamp()
    assert [one.modified for one in found if isinstance(one, Entry)] == [local, 1_780_000_000]
    assert local == datetime(2026, 7, 1, 10, tzinfo=UTC).timestamp()


def items(data: bytes, name: str = "ada.zip") -> list[Entry | Problem]:
    return list(expand(data, (name,)))


def refusal(data: bytes) -> str:
    (problem,) = items(data)
    assert isinstance(problem, Problem)
    assert problem.kind == "archive-refused"
    return problem.what


def test_files_of_a_zip_come_with_their_paths_and_bytes() -> None:
    (entry,) = items(zipped({"a/01.py": b"TILE = 16\n", "__MACOSX/a/._01.py": b"junk", "a/.DS_Store": b"x"}))
    assert isinstance(entry, Entry)
    assert entry.parts == ("ada", "a", "01.py")
    assert entry.read() == b"TILE = 16\n"


def test_files_of_a_tar_come_with_their_paths_and_times() -> None:
    (entry,) = items(tarred("01.py", b"TILE = 8\n"), "ada.tar.gz")
    assert isinstance(entry, Entry)
    assert (entry.parts, entry.read(), entry.modified) == (("ada", "01.py"), b"TILE = 8\n", 0.0)


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "/etc/passwd", "a/../../b", "C:\\x.py", "..\\x.py"])
def test_a_path_that_climbs_out_refuses_the_archive(name: str) -> None:
    # zipfile itself turns a backslash into a slash where that is the separator; the bytes keep it.
    assert "path" in refusal(zipped({name: b"x"})) or "climbs" in refusal(zipped({name: b"x"}))


def test_links_and_devices_refuse_the_archive() -> None:
    assert "link" in refusal(zipped({"01.py": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777))
    assert "link" in refusal(tarred("01.py", kind=tarfile.SYMTYPE, link="/etc/passwd"))
    assert "link" in refusal(tarred("01.py", kind=tarfile.LNKTYPE, link="../../secret"))
    assert "device" in refusal(tarred("01.py", kind=tarfile.FIFOTYPE))


def test_a_bomb_is_stopped_while_it_unpacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 5_000_000)
    assert "unpacks" in refusal(zipped({f"{i}.py": bytes(1_000_001) for i in range(8)}))
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        info = tarfile.TarInfo("big.py")
        info.size = 20_000_000
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    assert "unpacks" in refusal(gzip.compress(raw.getvalue()))


def test_too_many_members_a_name_twice_and_a_broken_file_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    assert "more than 3 files" in refusal(zipped({f"{i}.py": b"" for i in range(4)}))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("01.py", b"shown")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("01.py", b"graded")
    assert "twice" in refusal(out.getvalue())
    assert "cannot be read" in refusal(b"PK\x03\x04 torn")


def test_an_archive_in_an_archive_is_opened_once_and_no_deeper() -> None:
    inner = zipped({"01.py": b"x"})
    (entry,) = items(zipped({"ada.zip": inner}), "class.zip")
    assert entry.parts == ("class", "ada", "01.py")  # type: ignore[union-attr]
    (problem,) = items(zipped({"b.zip": zipped({"c.zip": inner})}), "class.zip")
    assert isinstance(problem, Problem)
    assert problem.what == "an archive nested too deep"


def test_archive_names() -> None:
    assert [archive_stem(name) for name in ("a.zip", "a.b.TAR.GZ", "a.py", ".zip")] == [
        "a",
        "a.b",
        None,
        None,
    ]


def stored(name: bytes) -> bytes:
    """A zip with one member whose name is these bytes, and no flag that says how to read them."""
    stand_in = b"n" * len(name)
    data = zipped({stand_in.decode(): b"x"})
    assert data.count(stand_in) == 2
    return data.replace(stand_in, name)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        # As macOS and Info-ZIP write it.
        ("Zoë Ünïcode_1_assignsubmission_file_".encode(), "Zoë Ünïcode_1_assignsubmission_file_"),
        ("李小龙.py".encode(), "李小龙.py"),
        # As DOS wrote it: 0x89 is an e with two dots, and no UTF-8.
        (b"Zo\x89.py", "Zoë.py"),
        (b"plain.py", "plain.py"),
    ],
)
def test_a_name_is_read_as_it_was_written(name: bytes, read: str) -> None:
    (entry,) = expand(stored(name), ("a.zip",))
    assert isinstance(entry, Entry)
    assert entry.parts == ("a", read)


def test_a_name_that_hides_a_climb_in_utf_8_is_refused_all_the_same() -> None:
    (one,) = expand(stored("../ë/x.py".encode()), ("a.zip",))
    assert isinstance(one, Problem)
    assert "climbs out" in one.what
