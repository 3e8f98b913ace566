"""Files that nobody can grade, under the real grading: one clear line each, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cli import main

SOLUTION = Path(__file__).parent.parent.parent / "solutions/02_ragged_dims.py"


def check(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    code = main(["check", "02", "--file", str(path), *options])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out + err


def graded(path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    path.write_bytes(data)
    return check(path, capsys)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x7fELF\x02\0\0", "binary data, not a text file: byte 6 is zero"),
        (b"# caf\xe9\nx = 1\n", ":1: byte 0xE9 at byte 6 of this line is not UTF-8"),
        ("x = 1\n".encode("utf-16"), "saved as UTF-16; save it as UTF-8"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes; a submission has at most 1,000,000"),
    ],
)
def test_a_file_that_is_no_text_fails_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, says: str
) -> None:
    code, text = graded(tmp_path / "s.py", data, capsys)
    assert code == 1
    assert says in " ".join(text.split())


def test_50_megabytes_are_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "s.py"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    code, text = check(path, capsys)
    assert (code, "50,000,000 bytes" in text) == (1, True)


def test_what_is_no_file_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, capsys) == (
        2,
        f"grader: {tmp_path}: this is a folder; name the exercise's file in it\n",
    )
    assert check(tmp_path / "x.py", capsys) == (2, f"grader: {tmp_path / 'x.py'}: there is no such file\n")


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x = (\n", b"def f(:\n", b"if x:\n\ty = 1\n        z = 2\n", b"\\"]
)
def test_text_that_is_no_kernel_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    code, text = graded(tmp_path / "s.py", data, capsys)
    assert code == 1
    assert text.startswith("02_ragged_dims  ")


@pytest.mark.parametrize("opening", ["(", "[", "-", "not ", "x if y else (", "lambda: ("])
def test_deep_nesting_is_no_crash(tmp_path: Path, capsys: pytest.CaptureFixture[str], opening: str) -> None:
    nested = SOLUTION.read_text(encoding="utf-8") + f"\ny = {opening * 20_000}1\n"
    code, text = graded(tmp_path / "s.py", nested.encode(), capsys)
    assert code in {1, 3}, text


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"    ", b"\t"),
        lambda data: data + b"\x0c\n# \xe8\xa1\x8c\xe5\x88\x97 \x1b[31m\n",
    ],
)
def test_how_an_editor_saves_a_solution_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: object
) -> None:
    data = change(SOLUTION.read_bytes())  # type: ignore[operator]
    code, text = graded(tmp_path / "s.py", data, capsys)
    assert code == 0, text


def test_a_wrong_rubric_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "rubrics"
    folder.mkdir()
    original = SOLUTION.parent.parent / "rubrics/02_ragged_dims.yaml"
    text = original.read_text(encoding="utf-8").replace("kind:", "knid:", 1)
    (folder / "02_ragged_dims.yaml").write_text(text, encoding="utf-8")
    code, said = check(SOLUTION, capsys, "--rubrics", str(folder))
    assert code == 2
    (line,) = said.splitlines()
    assert f"02_ragged_dims.yaml:{text[: text.index('knid')].count(chr(10)) + 1}" in line
    assert "kind" in line
