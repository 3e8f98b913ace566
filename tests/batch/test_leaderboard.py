"""The leaderboard of a graded class: who is on it, in which order, under which name, in which form."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import instant
import msgspec
import pytest
from classes import KEY, answers, hand_in
from click.testing import CliRunner

from grader.batch import run as batch_run
from grader.batch.leaderboard import Timed, boards_of, ranked
from grader.batch.task import Task
from grader.cli import cli
from grader.records import CheckResult, DeviceRun, Outcome, QuestionResult, Report, Timing
from grader.reporters import json as report_json
from grader.reporters.leaderboard import Standing

SIZES = (4096, 1000)


def timing(size: int, milliseconds: float, **more: Any) -> Timing:
    return Timing(
        dims={"M": size, "N": size, "K": size},
        shown=True,
        milliseconds=milliseconds,
        spread=0.002,
        repeats=12,
        flops=2 * size**3,
        floor_milliseconds=milliseconds / 8,
        library_milliseconds=more.pop("library", milliseconds / 4),
        device="NVIDIA H200",
        quartiles=(milliseconds * 0.998, milliseconds * 1.002),
        least=milliseconds * 0.99,
        error=0.001,
        **more,
    )


def report(milliseconds: float | None, **more: Any) -> Report:
    """A kernel that passes, timed at two sizes; None for one that was not timed."""
    times = () if milliseconds is None else (timing(4096, milliseconds), timing(1000, milliseconds / 64))
    blank = Report(
        exercise="01_tiled_matmul",
        title="Tiled matrix multiplication",
        kind="kernel",
        path="01_tiled_matmul.py",
        outcome=Outcome.PASS,
        points=100.0,
        possible=100.0,
        checks=(CheckResult("result", 100.0, 100.0, passed=True),),
        backend="gpu",
        gpu=DeviceRun("NVIDIA H200", 29, 29, sandboxed=True),
        timings=times,
    )
    return replace(blank, **more)


def standing(who: str, milliseconds: float, spread: float) -> Standing:
    return Standing(0, who, milliseconds, milliseconds - spread, milliseconds + spread, None, ())


def test_ties_within_the_spread_share_a_rank_and_the_next_is_left_out() -> None:
    order = ranked([standing("d", 12.0, 0.1), standing("b", 10.1, 0.1), standing("a", 10.0, 0.1)])
    assert [(one.rank, one.who) for one in order] == [(1, "a"), (1, "b"), (3, "d")]


def test_a_tie_is_with_the_first_of_a_rank_and_is_not_handed_on() -> None:
    """10.0 ties with 10.15 and that with 10.3, yet 10.3 is slower than 10.0."""
    order = ranked([standing("a", 10.0, 0.1), standing("b", 10.15, 0.1), standing("c", 10.3, 0.1)])
    assert [(one.rank, one.who) for one in order] == [(1, "a"), (1, "b"), (3, "c")]


def test_equal_times_are_ordered_by_name() -> None:
    order = ranked([standing("b", 10.0, 0.0), standing("a", 10.0, 0.0)])
    assert [(one.rank, one.who) for one in order] == [(1, "a"), (1, "b")]


def test_only_kernels_that_pass_are_on_a_board() -> None:
    failing = (CheckResult("result", 10.0, 100.0, passed=False),)
    question = QuestionResult("q", "Q", "wrong", 0.0, 5.0)
    disagreeing = DeviceRun("NVIDIA H200", 28, 29, sandboxed=True)
    wrong = replace(timing(4096, 9.0), rejected="wrong-timed-output")
    too_fast = replace(timing(4096, 1.0), rejected="below-floor")
    (board,) = boards_of(
        [
            Timed("passes", report(20.0)),
            Timed("fails", report(1.0, outcome=Outcome.FAIL, checks=failing)),
            Timed("cannot judge", report(1.0, outcome=Outcome.CANNOT_JUDGE)),
            Timed("wrong on the GPU", report(1.0, gpu=disagreeing)),
            Timed("open question", report(30.0, outcome=Outcome.FAIL, questions=(question,))),
            Timed("untimed", report(None)),
            Timed("too fast", report(1.0, timings=(too_fast, timing(1000, 0.1)))),
            Timed("wrong where timed", report(1.0, timings=(wrong, timing(1000, 0.1)))),
        ]
    )
    assert [one.who for one in board.standings] == ["passes", "open question"]
    assert board.untimed == 2


def test_of_several_hand_ins_the_fastest_counts() -> None:
    (board,) = boards_of([Timed("a", report(20.0)), Timed("a", report(17.0)), Timed("a", report(18.0))])
    assert [one.timings[0].milliseconds for one in board.standings] == [17.0]


def test_the_mean_over_the_sizes_is_geometric() -> None:
    (board,) = boards_of([Timed("a", report(16.0))])
    (one,) = board.standings
    assert one.milliseconds == pytest.approx((16.0 * 0.25) ** 0.5)
    assert one.share == pytest.approx(0.25)
    assert (one.low, one.high) == pytest.approx((2.0 * 0.9975, 2.0 * 1.0025))


def test_a_share_is_given_only_where_each_size_has_one() -> None:
    half = (timing(4096, 16.0), timing(1000, 0.2, library=0.0))
    (board,) = boards_of([Timed("a", report(0.0, timings=half))])
    assert board.standings[0].share is None


def test_devices_and_sizes_are_not_mixed() -> None:
    other = tuple(replace(one, device="Tesla T4") for one in report(90.0).timings)
    boards = boards_of(
        [
            Timed("a", report(20.0)),
            Timed("b", report(0.0, timings=other)),
            Timed("c", report(0.0, timings=report(20.0).timings[:1])),
        ]
    )
    assert [(board.device, len(board.dims), [one.who for one in board.standings]) for board in boards] == [
        ("NVIDIA H200", 1, ["c"]),
        ("NVIDIA H200", 2, ["a"]),
        ("Tesla T4", 2, ["b"]),
    ]


class Threads(ThreadPoolExecutor):
    """Grades at once: what is handed in is ``# MILLISECONDS``, times a factor of the run's own."""

    factor = 1.0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return super().submit(self.grade, *args)

    def grade(self, payload: bytes) -> bytes:
        text = msgspec.msgpack.decode(payload, type=Task).submission.decode()
        return report_json.render(report(float(text.strip("# \n")) * self.factor)).encode()


@contextmanager
def threads(*_: Any, **__: Any) -> Any:
    with Threads(2) as pool:
        yield pool


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Grade a class of four; give the folder of a batch."""

    def grade(name: str, factor: float = 1.0, **settings: Any) -> Path:
        for student, milliseconds in (("ada", 20.0), ("ben", 17.0), ("cleo", 17.05), ("dora", 107.0)):
            hand_in(tmp_path / "class", student, "01_tiled_matmul.py", f"# {milliseconds}\n")
        monkeypatch.setattr(Threads, "factor", factor)
        monkeypatch.setattr(batch_run, "open_executor", threads)
        batch_run.run(batch_run.Settings(tmp_path / "class", tmp_path / name, quiet=True, **settings))
        return tmp_path / name

    return grade


def board(out: Path, *words: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, ["leaderboard", str(out), *words], standalone_mode=True)
    assert result.exit_code == code, result.output
    return result.output


def test_the_board_in_a_terminal(graded: Any) -> None:
    assert board(graded("out"), "--names") == (
        "01_tiled_matmul: Tiled matrix multiplication, NVIDIA H200\n"
        "  Rank  Kernel of  4096 x 4096 x 4096  spread  1000 x 1000 x 1000  spread  of cuBLAS\n"
        "     1  ben                  17.00 ms  0.20 %           0.2656 ms  0.20 %     25.0 %\n"
        "     1  cleo                 17.05 ms  0.20 %           0.2664 ms  0.20 %     25.0 %\n"
        "     3  ada                  20.00 ms  0.20 %           0.3125 ms  0.20 %     25.0 %\n"
        "     4  dora                 107.0 ms  0.20 %            1.672 ms  0.20 %     25.0 %\n"
        "  Ranked by the geometric mean of the medians; ties share a rank.\n"
    )


def test_pseudonyms_are_those_of_the_class_and_ids_are_left_out(graded: Any) -> None:
    out = graded("out")
    text = board(out)
    shown = re.findall(r"student-[0-9a-f]{12}", text)
    grades = (out / "grades.csv").read_text()
    assert len(set(shown)) == 4
    assert all(one in grades for one in shown)
    assert not re.search("ada|ben|cleo|dora", text)


def test_a_batch_with_a_key_needs_it_for_the_pseudonyms(graded: Any, tmp_path: Path) -> None:
    out = graded("out", private_key=KEY)
    assert "--private-key-file" in board(out, code=2)
    assert "ben" in board(out, "--names")
    key = tmp_path / "key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    shown = re.findall(r"student-[0-9a-f]{12}", board(out, "--private-key-file", str(key)))
    assert all(one in (out / "grades.csv").read_text() for one in shown)
    assert len(shown) == 4


def test_json_has_every_figure(graded: Any) -> None:
    tree = json.loads(board(graded("out"), "--json", "--names"))
    assert tree["schema"] == "tilegrade.leaderboard/1"
    (one,) = tree["boards"]
    assert [(place["rank"], place["who"]) for place in one["standings"]] == [
        (1, "ben"),
        (1, "cleo"),
        (3, "ada"),
        (4, "dora"),
    ]
    assert one["standings"][0]["timings"][0]["quartiles"] == pytest.approx([17 * 0.998, 17 * 1.002])


def test_markdown_and_html_hold_the_same_rows(graded: Any) -> None:
    out = graded("out")
    rows = [
        line for line in board(out, "--format", "markdown", "--names").splitlines() if line.startswith("|")
    ]
    assert rows[2] == "| 1 | ben | 17.00 ms | 0.20 % | 0.2656 ms | 0.20 % | 25.0 % |"
    page = board(out, "--format", "html", "--names")
    body = page[page.index("<main>") : page.index("</main>") + len("</main>")]
    cells = [cell.text for cell in ET.fromstring(body).iter("td")]
    assert cells[:7] == ["1", "ben", "17.00 ms", "0.20 %", "0.2656 ms", "0.20 %", "25.0 %"]
    assert "<script" not in page


def test_the_same_journal_gives_the_same_bytes(graded: Any, tmp_path: Path) -> None:
    out = graded("out")
    for form in ("terminal", "markdown", "html", "json"):
        board(out, "--format", form, "--output", str(tmp_path / "one"))
        board(out, "--format", form, "--output", str(tmp_path / "two"))
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() != b""


def test_times_stay_out_of_the_files_that_are_compared(graded: Any) -> None:
    """Two gradings of one class differ in their times and in nothing else."""
    one, two = graded("one"), graded("two", factor=1.1)
    assert answers(one) == answers(two)
    assert (one / "leaderboard.html").read_text() != (two / "leaderboard.html").read_text()
    lines = (one / "timings.csv").read_text().splitlines()
    assert lines[0].startswith("student,pseudonym,exercise,device,size,dtype,milliseconds")
    assert re.match(
        r"ada,student-\w{12},01_tiled_matmul,NVIDIA H200,4096x4096x4096,float32,20,19.96,20.04,19.8,12,",
        lines[1],
    )
    assert len(lines) == 1 + 4 * len(SIZES)
    pages = sorted(path.name for path in (one / "timings").iterdir())
    assert {"ada.html", "ada.md", "ben.html", "ben.md"} <= set(pages)
    ada = (one / "timings" / "ada.md").read_text()
    assert "M, N, K = 4096, 4096, 4096   20.00 ms" in ada
    assert "ben" not in ada
    for path in [one / "report.html", one / "junit.xml", *(one / "feedback").iterdir()]:
        assert "20.00 ms" not in path.read_text(), path


def test_one_exercise_can_be_asked_for(graded: Any) -> None:
    out = graded("out")
    assert "ben" in board(out, "--names", "--exercise", "01_tiled_matmul")
    said = board(out, "--exercise", "02_ragged_dims", code=2)
    assert "nobody handed in an exercise '02_ragged_dims'; there are 01_tiled_matmul" in said


def test_a_folder_that_no_batch_wrote_is_refused(tmp_path: Path) -> None:
    assert "no batch wrote this folder" in board(tmp_path, code=2)


def test_a_class_without_times_is_told_so_before_any_key_is_asked_for(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "ada", "01_tiled_matmul.py", "TILE = 1\n")
    instant.batch(tmp_path / "in", tmp_path / "out", private_key=KEY)
    assert "was timed" in board(tmp_path / "out", code=2)
    assert "nobody handed in" in board(tmp_path / "out", "--exercise", "nothing", code=2)
