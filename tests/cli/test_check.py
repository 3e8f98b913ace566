from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from grader.gpu.options import Beside, GpuOptions
from grader.records import Fault
from tests.cli.conftest import Cli
from tests.unit.reporters.samples import ALL, FAIL, HARNESS_FAULT, PASS

KEY = b"1f3b5c7d9e0a2b4c6d8e0f1a2b3c4d5e"


@pytest.mark.parametrize(
    ("name", "code"),
    [("pass", 0), ("fail", 1), ("not_started", 1), ("cannot_judge", 3), ("harness_fault", 4)],
)
@pytest.mark.parametrize("format_", ["terminal", "json", "junit"])
def test_the_exit_code_is_that_of_the_outcome(
    cli: Cli, student: Path, name: str, code: int, format_: str
) -> None:
    cli.report = ALL[name]
    assert cli("check", "02", "--format", format_) == code
    assert ALL[name].outcome.value in cli.out or name == "not_started"


def test_a_prefix_finds_the_students_own_file(cli: Cli, student: Path) -> None:
    cli("check", "02")
    assert cli.asked == [
        (
            "02_ragged_dims",
            "exercises/02_ragged_dims.py",
            {
                "rubric_dir": None,
                "private_key": None,
                "hint_level": 1,
                "backend": "machine",
                "gpu": GpuOptions(),
                "beside": Beside(),
            },
        )
    ]


@pytest.mark.parametrize("backend", ["machine", "gpu", "auto"])
def test_the_backend_reaches_the_grading(cli: Cli, student: Path, backend: str) -> None:
    cli("check", "02", "--backend", backend, "--unsafe-no-sandbox")
    assert cli.asked[0][2]["backend"] == backend
    assert cli.asked[0][2]["gpu"] == GpuOptions(unsafe_no_sandbox=True)


def test_another_file_can_be_named(cli: Cli, student: Path) -> None:
    (student / "mine.py").write_text("x = 1\n")
    cli("check", "02", "--file", "mine.py")
    assert cli.asked[0][:2] == ("02_ragged_dims", "mine.py")


@pytest.mark.parametrize("word", ["exercises/02_ragged_dims.py", "02_ragged_dims.py"])
def test_the_exercises_file_can_be_named_as_a_path(cli: Cli, student: Path, word: str) -> None:
    assert cli("check", word) == 1
    assert cli.asked[0][:2] == ("02_ragged_dims", "exercises/02_ragged_dims.py")


def test_hint_level_and_private_key_reach_the_grading(cli: Cli, student: Path) -> None:
    (student / "key").write_bytes(b"%s\n" % KEY)
    (student / "key").chmod(0o600)
    cli("check", "02", "--hint", "2", "--private-key-file", "key")
    assert cli.asked[0][2]["hint_level"] == 2
    assert cli.asked[0][2]["private_key"] == KEY
    assert cli.out.count("= try:") == 2


def usage(cli: Cli, *words: str) -> str:
    """Run a command that is wrongly used; give the one line it says."""
    assert cli(*words) == 2
    assert cli.asked == []
    assert "Traceback" not in cli.err
    assert cli.out == ""
    (line,) = cli.err.splitlines()
    return line


def test_no_name_lists_the_exercises(cli: Cli, student: Path) -> None:
    assert "name an exercise: 01_tiled_matmul, 02_ragged_dims" in usage(cli, "check")


def test_a_wrong_name_lists_the_right_ones_and_suggests_the_nearest(cli: Cli, student: Path) -> None:
    line = usage(cli, "check", "02_raged_dims")
    assert line.startswith("grader: there is no exercise `02_raged_dims`. Did you mean 02_ragged_dims?")
    assert "01_tiled_matmul" in line


def test_an_ambiguous_prefix_lists_what_it_fits(cli: Cli, student: Path) -> None:
    assert "`0` fits several exercises: 01_tiled_matmul, 02_ragged_dims" in usage(cli, "check", "0")


def test_a_missing_file_says_how_to_get_one(cli: Cli, student: Path) -> None:
    (student / "exercises/02_ragged_dims.py").unlink()
    line = usage(cli, "check", "02")
    assert line.endswith(
        "there is no such file. `grader reset 02_ragged_dims` writes a fresh one, --file PATH names another"
    )


def test_a_folder_is_no_submission(cli: Cli, student: Path) -> None:
    assert usage(cli, "check", "02", "--file", "exercises").endswith("name the exercise's file in it")


@pytest.mark.parametrize("content", [b"", b"\n", b"short\n"])
def test_a_short_or_missing_private_key_is_refused(cli: Cli, student: Path, content: bytes) -> None:
    (student / "key").write_bytes(content)
    (student / "key").chmod(0o600)
    assert "fewer than 128 bits" in usage(cli, "check", "02", "--private-key-file", "key")
    assert "cannot be read" in usage(cli, "check", "02", "--private-key-file", "nokey")


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_private_key_that_others_can_read_is_refused(cli: Cli, student: Path) -> None:
    (student / "key").write_bytes(KEY)
    (student / "key").chmod(0o644)
    assert "run chmod 600 on it" in usage(cli, "check", "02", "--private-key-file", "key")
    assert cli.asked == []


def test_a_wrong_rubrics_folder_is_refused(cli: Cli, student: Path) -> None:
    assert "no_such is not a folder of rubrics" in usage(cli, "check", "02", "--rubrics", "no_such")


@pytest.mark.parametrize("option", ["--hint=0", "--format=yaml", "--frob"])
def test_wrong_options_are_refused_with_the_usage(cli: Cli, student: Path, option: str) -> None:
    assert cli("check", "02", option) == 2
    assert cli.err.startswith("Usage: grader check [OPTIONS] [NAME]")
    assert cli.asked == []


def test_output_goes_to_the_file_and_a_line_to_the_terminal(cli: Cli, student: Path) -> None:
    assert cli("check", "02", "--format", "junit", "--output", "report.xml") == 1
    assert cli.out == "02_ragged_dims  FAIL  35 of 100 points, written to report.xml\n"
    assert ET.parse("report.xml").getroot().tag == "testsuites"


def test_a_terminal_report_in_a_file_has_no_colour(cli: Cli, student: Path) -> None:
    cli("check", "02", "--colour", "always", "--output", "report.txt")
    assert "\x1b" not in Path("report.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("exercises", "this is a folder"),
        ("no/where.xml", "there is no folder no"),
        ("exercises/02_ragged_dims.py", "this is the file to grade, and would be overwritten"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_grading(
    cli: Cli, student: Path, output: str, why: str
) -> None:
    assert why in usage(cli, "check", "02", "--output", output)


def test_a_report_that_cannot_be_written_is_not_lost(
    cli: Cli, student: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    cli.report = PASS
    assert cli("check", "02", "--format", "json", "--output", "r.json") == 2
    assert json.loads(cli.out)["report"]["outcome"] == "PASS"
    assert "cannot be written: No space left on device" in cli.err


def test_colour_is_asked_for_or_a_terminals(cli: Cli, student: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("check", "02")
    assert "\x1b" not in cli.out
    cli("check", "02", "--color", "always")
    assert "\x1b[1;31mFAIL\x1b[0m" in cli.out
    cli("check", "02", "--format", "json", "--colour", "always")
    assert "\x1b" not in cli.out


def test_messages_name_the_command_that_was_typed(
    cli: Cli, student: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEGRADE_COMMAND", "make")
    cli("check", "02")
    assert "make hint 02_ragged_dims" in cli.out


def test_a_crash_of_ours_is_no_fault_of_the_student(cli: Cli, student: Path) -> None:
    cli.report = RuntimeError("the machine lost a block")
    assert cli("check", "02") == 4
    assert "Traceback" not in cli.out + cli.err
    assert "HARNESS FAULT: the grader itself failed. This is not in your code." in cli.err
    assert "what happened: RuntimeError: the machine lost a block" in cli.err
    assert "command: grader check 02" in cli.err
    saved = Path(cli.err.split("details: ")[1].splitlines()[0])
    text = saved.read_text(encoding="utf-8")
    saved.unlink()
    assert text.startswith("tilegrade ")
    assert "Traceback (most recent call last)" in text


def test_a_harness_fault_report_saves_its_details(cli: Cli, student: Path) -> None:
    cli.report = replace(HARNESS_FAULT, fault=Fault("IndexError: 3", "Traceback: line 7"))
    assert cli("check", "02") == 4
    saved = Path(cli.err.split("details: ")[1].splitlines()[0])
    assert saved.read_text(encoding="utf-8").endswith("Traceback: line 7")
    saved.unlink()
    assert "Traceback" not in cli.out + cli.err


def test_an_interrupt_is_no_verdict(cli: Cli, student: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.cli.check.run", interrupt)
    assert cli("check", "02") == 130


def test_verbose_shows_notes_in_full(cli: Cli, student: Path) -> None:
    cli.report = FAIL
    cli("check", "02", "--verbose")
    assert cli.out.count("-->") == 3
