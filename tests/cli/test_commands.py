from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader import __version__, exercises
from tests.cli.conftest import Cli
from tests.unit.reporters.samples import FAIL, HARNESS_FAULT, NOT_STARTED, PASS, STALE, UNCOALESCED


@pytest.fixture
def rubric(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    found = SimpleNamespace(title="A title", hints=("read the task", "look at the picture"), max_hint_level=3)
    monkeypatch.setattr("grader.rubric.load", lambda _: found, raising=False)
    return found


def shown(cli: Cli) -> tuple[str, int]:
    """Give the heading of a hint and how many hints stand beneath it."""
    return cli.out.splitlines()[0], sum(
        line.startswith(("  1. ", "  2. ", "  3. ")) for line in cli.out.splitlines()
    )


def test_each_hint_is_one_more_and_never_above_the_last(
    cli: Cli, student: Path, rubric: SimpleNamespace
) -> None:
    seen = []
    for _ in range(4):
        assert cli("hint", "02") == 0
        seen.append(shown(cli))
    assert seen == [
        ("02_ragged_dims  hint 1 of 3", 1),
        ("02_ragged_dims  hint 2 of 3", 2),
        ("02_ragged_dims  hint 3 of 3", 3),
        ("02_ragged_dims  hint 3 of 3", 3),
    ]
    assert "stale-shared-read, line 41: `As[0, 8]` still holds" in cli.out


def test_the_rubric_caps_the_hints(cli: Cli, student: Path, rubric: SimpleNamespace) -> None:
    rubric.max_hint_level = 2
    for _ in range(3):
        cli("hint", "02")
    assert shown(cli) == ("02_ragged_dims  hint 2 of 2", 2)
    assert "else: As[ty, tx] = 0.0" not in cli.out


def test_a_rubric_may_allow_no_hints(cli: Cli, student: Path, rubric: SimpleNamespace) -> None:
    rubric.max_hint_level = 0
    assert cli("hint", "02") == 0
    assert cli.out.startswith("There is no hint for this.")


def test_a_new_cause_starts_with_its_question(cli: Cli, student: Path, rubric: SimpleNamespace) -> None:
    cli("hint", "02")
    cli("hint", "02")
    cli.report = replace(FAIL, diagnostics=(replace(STALE, name="out-of-bounds-read"),))
    cli("hint", "02")
    assert shown(cli) == ("02_ragged_dims  hint 1 of 3", 1)


def test_hints_of_one_exercise_do_not_count_for_another(
    cli: Cli, student: Path, rubric: SimpleNamespace
) -> None:
    cli("hint", "02")
    cli("hint", "01")
    assert shown(cli)[0] == "01_tiled_matmul  hint 1 of 3"
    state = json.loads((student / "exercises/.tilegrade/hints.json").read_text())
    assert state["02_ragged_dims"] == {"cause": "stale-shared-read", "level": 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"02_ragged_dims": 3}',
        '{"02_ragged_dims": {"level": "x", "cause": "stale-shared-read"}}',
    ],
)
def test_a_state_that_makes_no_sense_counts_as_none(
    cli: Cli, student: Path, rubric: SimpleNamespace, text: str
) -> None:
    (student / "exercises/.tilegrade").mkdir()
    (student / "exercises/.tilegrade/hints.json").write_text(text)
    assert cli("hint", "02") == 0
    assert shown(cli)[1] == 1


def test_a_state_that_cannot_be_kept_costs_no_hint(cli: Cli, student: Path, rubric: SimpleNamespace) -> None:
    (student / "exercises/.tilegrade").write_text("in the way")
    assert cli("hint", "02") == 0
    assert shown(cli)[1] == 1


def test_without_a_diagnostic_the_exercises_own_hints_are_shown(
    cli: Cli, student: Path, rubric: SimpleNamespace
) -> None:
    cli.report = replace(NOT_STARTED, diagnostics=(UNCOALESCED,))
    cli("hint", "01")
    assert cli.out == "01_tiled_matmul  hint 1 of 2\n  1. read the task\n"


def test_no_hint_for_what_passes_or_failed_by_our_fault(
    cli: Cli, student: Path, rubric: SimpleNamespace
) -> None:
    cli.report = PASS
    assert cli("hint", "02") == 0
    assert cli.out == "02_ragged_dims passes: no hint is needed.\n"
    cli.report = HARNESS_FAULT
    assert cli("hint", "02") == 4


def test_list_names_every_exercise_with_its_title(cli: Cli, student: Path, rubric: SimpleNamespace) -> None:
    assert cli("list") == 0
    assert "  02_ragged_dims" in cli.out
    assert cli.out.count("A title") == len(exercises.names())


def test_explain_prints_the_page(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stale-shared-read.md").write_text(
        "# stale-shared-read\n\nA slot that 2 × 2 threads skip.\n", encoding="utf-8"
    )
    for module in ("grader.exercises", "grader.cli.explain"):
        monkeypatch.setattr(f"{module}.data_folder", lambda _: tmp_path)
    assert cli("explain", "stale-shared-read") == 0
    assert cli.out == "# stale-shared-read\n\nA slot that 2 × 2 threads skip.\n"
    assert cli("explain", "error[stale-shared-read]".removeprefix("error")) == 0
    assert cli("explain", "stale-read") == 2
    assert "Did you mean stale-shared-read?" in cli.err
    assert cli("explain", "../stale-shared-read") == 2
    assert cli("explain") == 2
    assert "name a diagnostic: stale-shared-read" in cli.err


def test_reset_puts_the_skeleton_back_and_says_where_the_old_one_is(cli: Cli, student: Path) -> None:
    path = student / "exercises/02_ragged_dims.py"
    skeleton = path.read_text(encoding="utf-8")
    assert cli("reset", "02") == 0
    assert "is the skeleton already" in cli.out
    path.write_text("my work\n")
    assert cli("reset", "02") == 0
    assert path.read_text(encoding="utf-8") == skeleton
    backup = Path(cli.out.strip().rpartition(" ")[2].rstrip("."))
    assert backup.read_text() == "my work\n"


def test_reset_refuses_what_is_no_file(cli: Cli, student: Path) -> None:
    assert cli("reset", "02", "--file", "exercises") == 2
    assert cli("reset", "02", "--file", "no/where.py") == 2
    assert "there is no folder no" in cli.err


def test_init_says_what_it_wrote_and_what_it_left(cli: Cli, student: Path) -> None:
    assert cli("init", ".") == 0
    assert "wrote" not in cli.out
    assert f"left  {Path('exercises/02_ragged_dims.py')}, which was there" in cli.out
    assert cli("init") == 2
    assert cli("init", "exercises/02_ragged_dims.py") == 2


def test_version_names_what_is_at_work(cli: Cli) -> None:
    assert cli("version") == 0
    assert cli.out.startswith(f"tilegrade {__version__}\nPython 3.")
    assert "\nnumpy " in cli.out


def test_help_names_every_command_and_exit_code(cli: Cli) -> None:
    assert cli() == 0
    for word in (
        "check",
        "hint",
        "explain",
        "list",
        "reset",
        "init",
        "version",
        "0 PASS, 1 FAIL, 2 wrong usage",
    ):
        assert word in cli.out


def test_an_unknown_command_is_wrong_usage(cli: Cli) -> None:
    assert cli("chekc") == 2
    assert "chekc" in cli.err
