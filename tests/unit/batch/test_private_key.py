from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.private_key import VARIABLE, key_mark, read_key
from grader.batch.problems import BatchError
from grader.batch.run import Settings
from grader.batch.task import Bundle, Task

HEX = "8f3a0c5d9be2417613ac77f20e5bd894"


def key_file(tmp_path: Path, text: str, mode: int = 0o600) -> Path:
    path = tmp_path / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_file_of_its_owner_or_the_environment(tmp_path: Path) -> None:
    assert read_key(key_file(tmp_path, HEX + "\n"), {}) == HEX.encode()
    assert read_key(None, {VARIABLE: HEX}) == HEX.encode()
    assert read_key(None, {}) is None


@pytest.mark.parametrize("text", ["", "secret", HEX[:31], "a" * 200, "correct horse"])
def test_a_key_of_fewer_than_128_bits_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(BatchError, match="128 bits") as error:
        read_key(key_file(tmp_path, text), {})
    assert len(text) < 6 or text not in str(error.value)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match="chmod 600"):
        read_key(key_file(tmp_path, HEX, 0o644), {})


def test_no_text_of_ours_holds_the_key() -> None:
    key = HEX.encode()
    task = Task(Bundle("e", "e.py", "", None, ""), b"", key)
    settings = Settings(Path("a"), Path("b"), private_key=key)
    for text in (repr(task), str(task), repr(settings), key_mark(key)):
        assert HEX not in text
    assert key_mark(key) != key_mark(key[:-1] + b"5")
    assert key_mark(None) == ""
