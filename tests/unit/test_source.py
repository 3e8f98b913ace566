from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from grader.source import LARGEST, SourceError, read


def fault(path: Path | str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    return caught.value


def written(folder: Path, data: bytes) -> Path:
    path = folder / "kernel.py"
    path.write_bytes(data)
    return path


def test_text_comes_with_its_lines(tmp_path: Path) -> None:
    source = read(written(tmp_path, "a = 1\nb = '×'\n".encode()))
    assert source.text == "a = 1\nb = '×'\n"
    assert source.lines == ("a = 1", "b = '×'", "")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_newline_is_the_same(tmp_path: Path, newline: str) -> None:
    source = read(written(tmp_path, newline.join(["if x:", "\ty = 1", ""]).encode()))
    assert source.text == "if x:\n\ty = 1\n"


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert read(written(tmp_path, b"\xef\xbb\xbfx = 1\n")).text == "x = 1\n"


def test_characters_that_only_some_take_for_a_line_end_end_no_line(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a\x0cb\u2028c\n".encode())).lines == ("a\x0cb\u2028c", "")


def test_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    assert read(written(tmp_path, b"")).lines == ("",)


def test_missing_file(tmp_path: Path) -> None:
    error = fault(tmp_path / "no.py")
    assert (error.fault, error.is_usage) == ("missing", True)
    assert str(error) == f"{tmp_path / 'no.py'}: there is no such file"


def test_a_file_taken_for_a_folder_is_missing(tmp_path: Path) -> None:
    assert fault(written(tmp_path, b"") / "x.py").fault == "missing"


def test_folder(tmp_path: Path) -> None:
    assert fault(tmp_path).fault == "folder"


def test_a_path_that_no_system_takes() -> None:
    assert fault("a\0b").fault == "unreadable"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert fault(tmp_path / "pipe").fault == "not-a-file"


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, b"x")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    error = fault(path)
    assert (error.fault, error.message, error.is_usage) == (
        "unreadable",
        "cannot be read: Permission denied",
        True,
    )


@pytest.mark.parametrize(
    ("size", "told"), [(LARGEST + 1, "more than 1,000,000 bytes;"), (50_000_000, "50,000,000 bytes;")]
)
def test_too_large_a_file_is_not_read(
    tmp_path: Path, size: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.py"
    with path.open("wb") as file:
        file.truncate(size)
    monkeypatch.setattr(Path, "open", None)
    error = fault(path)
    assert (error.fault, error.is_usage) == ("too-large", False)
    assert error.message.startswith(told)


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    assert len(read(written(tmp_path, b"#" * LARGEST)).text) == LARGEST


def test_binary_file(tmp_path: Path) -> None:
    error = fault(written(tmp_path, b"\x7fELF\x02\x01\x01\0\0"))
    assert (error.fault, error.message) == ("binary", "binary data, not a text file: byte 8 is zero")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_named(tmp_path: Path, encoding: str) -> None:
    text = "\ufeffx = 1\n" if encoding == "utf-16-be" else "x = 1\n"
    assert fault(written(tmp_path, text.encode(encoding))).message == "saved as UTF-16; save it as UTF-8"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_that_are_no_utf8_are_named_with_their_place(tmp_path: Path, newline: str, mark: bytes) -> None:
    error = fault(written(tmp_path, mark + f"a{newline}b{newline}# Gr".encode() + b"\xfc\xdfe\n"))
    assert (error.fault, error.line) == ("encoding", 3)
    assert "byte 0xFC at byte 5 of this line is not UTF-8" in error.message
    assert "kernel.py:3: byte 0xFC" in str(error)


def test_the_error_survives_a_process_boundary(tmp_path: Path) -> None:
    error = fault(tmp_path)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.fault, copy.path, copy.message, copy.line) == (error.fault, error.path, error.message, None)
