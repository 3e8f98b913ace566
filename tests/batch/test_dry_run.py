"""A class of 30 through the steps of docs/instructors.md, by the command line, to campus systems."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import stat
import zipfile
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from classes import FILES, KEY, STAMP, answers, hand_in, text
from click.testing import CliRunner

from grader.batch import executors
from grader.batch.pool import WorkerPool
from grader.cli import cli
from grader.rubric.load import load
from grader.rubric.suites import shapes_of

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = STAMP + 3600
EVIL = 'eve"><script>alert(1)<img src=x onerror=alert(2)>'
FORMULA = "=1+cmd|' x'!A0"
WRONG_TAIL = ("(K + TILE - 1) // TILE", "K // TILE")

ASSIGNMENT = """\
title: Homework 3
exercises: [01_tiled_matmul, 02_ragged_dims, 03_intensity_math]
attempts: last
deadline: "2026-05-28T21:26:40+00:00"
late: {policy: per-day, percent: 10, grace_minutes: 5}
feedback: full
"""


def runs(*words: object, exit_code: int = 0) -> str:
    result = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert (result.return_value or 0) == exit_code, result.output
    return result.output


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


@pytest.fixture(scope="module")
def class_of_30(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty students as they hand in: right, wrong, unfinished, late, hostile, and some not at all."""
    root = tmp_path_factory.mktemp("course")
    students = [f"s{i:02}" for i in range(28)]
    lines = ["id,name,email,section,extension"]
    lines += [
        f"{one},Student {one[1:]},{one}@example.edu,{'AB'[i % 2]},{'+2d' if i == 7 else ''}"
        for i, one in enumerate(students)
    ]
    lines += [f"{FORMULA},=HYPERLINK,x@example.edu,A,", "gone,Never Came,gone@example.edu,B,"]
    (root / "roster.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "assignment.yaml").write_text(ASSIGNMENT, encoding="utf-8")
    key = root / "key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    right, ragged = text("solutions", FILES[0]), text("solutions", FILES[1])
    skeletons = [text("exercises", name) for name in FILES]
    for i, student in enumerate(students):
        late = i in (7, 8)
        at = DEADLINE + 90_000 if late else STAMP
        hand_in(root / "in", student, FILES[0], right if i % 3 else skeletons[0], at=at)
        second = ragged.replace(*WRONG_TAIL) if i % 4 == 1 else ragged if i % 4 else skeletons[1]
        hand_in(root / "in", student, FILES[1], second, at=at)
        hand_in(root / "in", student, FILES[2], text("solutions", FILES[2]) if i % 2 else skeletons[2], at=at)
    hand_in(root / "in", FORMULA, FILES[1], "def tiled_matmul(:\n")
    hand_in(
        root / "in",
        EVIL,
        FILES[1],
        f"# {EVIL}\n{skeletons[1]}\n# \x1b[31m ]]> &amp; \u202e\n".replace(
            "def tiled_matmul", "def <b>tiled"
        ),
    )
    return root


@pytest.fixture(scope="module")
def graded(class_of_30: Path) -> Path:
    out = class_of_30 / "graded"
    said = runs("batch", class_of_30 / "in", "--out", out, "--roster", class_of_30 / "roster.csv", "--quiet",
                "--assignment", class_of_30 / "assignment.yaml", "--private-key-file", class_of_30 / "key",
                "--junit-per-student", "--workers", 2)  # fmt: skip
    assert "31 students, 93 grades" in said
    assert "1 missing-student, 1 unknown-student" in said
    return out


class Remembering(WorkerPool):
    """A pool that grades each payload once in all its lives."""

    kept: dict[bytes, bytes]

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        [payload] = args
        if payload in self.kept:
            future: Future[Any] = Future()
            future.set_result(self.kept[payload])
            return future
        future = super().submit(fn, payload, **kwargs)
        future.add_done_callback(lambda done: self._keep(payload, done))
        return future

    def _keep(self, payload: bytes, done: Future[bytes]) -> None:
        if not done.cancelled() and done.exception() is None:
            self.kept[payload] = done.result()


@pytest.fixture(scope="module")
def kept() -> dict[bytes, bytes]:
    return {}


@pytest.fixture
def graded_once(kept: dict[bytes, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what surrounds the gradings: the class's are made by the first of them alone."""
    monkeypatch.setattr(executors, "WorkerPool", type("Kept", (Remembering,), {"kept": kept}))


def test_grades_are_what_the_submissions_earn(graded: Path) -> None:
    table = {(row["student"], row["exercise"]): row for row in rows(graded / "grades.csv")}
    assert len(table) == 93
    assert table["s01", "01_tiled_matmul"]["final"] == "100"
    assert table["s00", "01_tiled_matmul"]["status"] == "not started"
    assert table["s01", "02_ragged_dims"]["cause"] == "dropped-k-tail"
    assert table["s04", "02_ragged_dims"]["cause"] == "stale-shared-read"
    assert table["gone", "01_tiled_matmul"]["outcome"] == "MISSING"
    assert table["gone", "01_tiled_matmul"]["final"] == ""
    assert table[EVIL, "02_ragged_dims"]["outcome"] == "FAIL"
    # One day late begun, two days for s08; s07 has an extension of two.
    assert (table["s07", "01_tiled_matmul"]["late_seconds"], table["s07", "01_tiled_matmul"]["final"]) == (
        "",
        "100",
    )
    assert (table["s08", "01_tiled_matmul"]["late_seconds"], table["s08", "01_tiled_matmul"]["final"]) == (
        "90000",
        "80",
    )


def test_canvas_and_moodle_read_their_files(graded: Path) -> None:
    header, possible, *students = csv.reader(
        io.StringIO((graded / "canvas.csv").read_text(encoding="utf-8"), newline="")
    )
    assert header[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert possible[0].strip() == "Points Possible"
    assert [float(cell) for cell in possible[5:]] == [100, 100, 100]
    assert len(students) == 31
    for row in students:
        assert len(row) == len(header)
        assert all(cell == "" or 0 <= float(cell) <= 100 for cell in row[5:])
    moodle = rows(graded / "moodle.csv")
    assert list(moodle[0])[:2] == ["ID number", "Email address"]
    assert all(
        f"{title} feedback" in moodle[0] for title in ("Ragged dimensions", "Tiled matrix multiplication")
    )


def test_no_cell_of_any_table_is_a_formula(graded: Path) -> None:
    for path in graded.glob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")):
            assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))], path


def test_junit_is_read_by_what_ci_servers_use(graded: Path) -> None:
    data = (graded / "junit.xml").read_bytes()
    assert len(data) < 30_000_000
    root = ET.fromstring(data)
    cases = list(root.iter("testcase"))
    names = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(names)) == len(names)
    assert all(case.get("file") and case.get("line") for case in cases)
    for case in cases:
        for kind in ("failure", "error", "skipped"):
            for element in case.findall(kind):
                assert element.get("message")
                assert (element.text or "").strip()
    assert sum(int(suite.get("tests", "0")) for suite in root.iter("testsuite")) == len(cases)
    junitparser = pytest.importorskip("junitparser", reason="junitparser is not installed")
    parsed = junitparser.JUnitXml.fromstring(data)
    assert sum(suite.tests for suite in parsed) == len(cases)


def test_junit_carries_pseudonyms_unless_names_are_asked_for(graded: Path, class_of_30: Path) -> None:
    shared = (graded / "junit.xml").read_text(encoding="utf-8")
    for student in ("s01", "Student 01", "example.edu", "script"):
        assert not re.search(rf"\b{student}\b", shared), student
    assert shared.count("student-") > 100


def test_gradescope_and_prairielearn(graded: Path) -> None:
    scope = json.loads((graded / "gradescope/s01/01_tiled_matmul.json").read_text())
    assert (scope["score"], scope["visibility"]) == (100, "visible")
    assert all({"name", "score", "max_score", "status", "output"} <= set(test) for test in scope["tests"])
    lairn = json.loads((graded / "prairielearn/s01/02_ragged_dims.json").read_text())
    assert lairn["gradable"] is True
    assert 0 < lairn["score"] < 1
    gone = json.loads((graded / "prairielearn/gone/01_tiled_matmul.json").read_text())
    assert gone == {"gradable": False, "format_errors": ["nothing was handed in"]}


def secrets() -> dict[str, re.Pattern[str]]:
    """What no student may see: hidden shapes under the key, and lines that only the solution has."""
    found: dict[str, re.Pattern[str]] = {}
    for name in FILES[:2]:
        rubric = load(ROOT / f"rubrics/{name.removesuffix('.py')}.yaml")
        shapes = shapes_of(rubric, {"TILE": 16}, private_key=KEY)
        shown = {tuple(shape.dims.values()) for shape in shapes if shape.shown}
        for sizes in {tuple(shape.dims.values()) for shape in shapes} - shown:
            # M, N, K = 48, 16, 32 in whatever form. What begins with its first figure is found soonest.
            first, *others = map(str, sizes)
            apart = r"\D{1,8}".join([rf"{first}(?<![\d.]{first})", *others])
            found[f"{name} {sizes}"] = re.compile(rf"{apart}(?![\d.])")
    return found


#: What is the instructor's alone. Whatever else a batch writes, now or one day, is searched for leaks.
INSTRUCTORS = {
    *("grades.csv", "pending.csv", "problems.csv", "report.html", "compiled.csv", "times.csv"),
    "journal.sqlite3",
}


def shown_to_students(graded: Path) -> list[Path]:
    return [path for path in graded.rglob("*") if path.is_file() and path.name not in INSTRUCTORS]


def test_nothing_hidden_is_in_anything_that_a_student_sees(graded: Path) -> None:
    hidden = secrets()
    assert len(hidden) > 40
    seen = shown_to_students(graded)
    assert {path.relative_to(graded).parts[0] for path in seen} >= {
        "feedback", "junit", "gradescope", "prairielearn", "junit.xml", "moodle.csv", "canvas.csv",
    }  # fmt: skip
    assert len(seen) > 200
    for path in seen:
        written = " ".join(path.read_text(encoding="utf-8").split())
        for what, pattern in hidden.items():
            match = pattern.search(written)
            assert match is None, (path, what, match and written[match.start() - 80 : match.end() + 40])


def test_the_search_would_find_a_leak(graded: Path) -> None:
    """The same figures do stand where students do not look: in the gradings as the journal keeps them."""
    with closing(sqlite3.connect(graded / "journal.sqlite3")) as connection:
        reports = [row[0].decode() for row in connection.execute("SELECT report FROM gradings")]
    kept = " ".join("".join(reports).split())
    found = [what for what, pattern in secrets().items() if pattern.search(kept)]
    assert len(found) > 40


def test_no_line_of_a_solution_is_in_what_another_student_sees(graded: Path) -> None:
    # s00, s12 and s24 handed in three skeletons, so no line of a solution is their own.
    # What one exercise asks for, another gives.
    given = {line.strip() for name in FILES for line in text("exercises", name).splitlines()}
    for name in FILES[:2]:
        solved = {line.strip() for line in text("solutions", name).splitlines()} - given
        lines = [line for line in solved if len(line) >= 16 and not line.startswith("#")]
        assert len(lines) > 3
        for student in ("s00", "s12", "s24"):
            own = [path for path in shown_to_students(graded) if student in str(path.relative_to(graded))]
            assert len(own) == 9
            for path in own:
                written = path.read_text(encoding="utf-8")
                assert not [line for line in lines if line in written], path


def test_nothing_holds_the_key(graded: Path) -> None:
    for path in graded.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert KEY not in data
            assert KEY.hex().encode() not in data


def test_script_injection_is_inert_text(graded: Path) -> None:
    for path in [graded / "report.html", *graded.glob("feedback/*.html")]:
        page = path.read_text(encoding="utf-8")
        assert "<script" not in page.casefold()
        assert not re.search(r"(?:src|href)\s*=\s*[\"']?\s*(?:https?:|//|javascript:)", page)
        assert "\x1b" not in page
        assert "Content-Security-Policy" in page
    assert "&lt;script&gt;" in (graded / "report.html").read_text(encoding="utf-8")


def test_the_folder_is_the_owners_alone(graded: Path) -> None:
    assert stat.S_IMODE(graded.stat().st_mode) == 0o700


def test_the_class_page_says_what_went_wrong(graded: Path) -> None:
    page = (graded / "report.html").read_text(encoding="utf-8")
    for words in (
        "dropped-k-tail",
        "stale-shared-read",
        "Homework 3",
        "missing-student",
        "like the published solution",
    ):
        assert words in page


def test_again_grades_nothing_and_writes_the_same(graded: Path, class_of_30: Path) -> None:
    before = answers(graded)
    words = ["batch", class_of_30 / "in", "--out", graded, "--roster", class_of_30 / "roster.csv", "--quiet",
             "--assignment", class_of_30 / "assignment.yaml", "--private-key-file", class_of_30 / "key",
             "--junit-per-student"]  # fmt: skip
    assert "0 graded now" in runs(*words)
    assert answers(graded) == before
    other = class_of_30 / "one worker"
    words[3] = other
    runs(*words, "--workers", 1)
    assert answers(other) == before


def test_overrides_survive_a_regrading_and_reach_the_student(class_of_30: Path, graded: Path) -> None:
    graded = Path(shutil.copytree(graded, class_of_30 / "overridden"))
    (graded / "overrides.csv").write_text(
        "student,question,points,reason,grader\n"
        "s01,02_ragged_dims/result,40,read by hand,kim\n"
        "gone,03_intensity_math,12,handed in on paper,kim\n",
        encoding="utf-8",
    )
    said = runs("regrade", graded, "--student", "s01", "--exercise", "02_ragged_dims", "--quiet",
                "--private-key-file", class_of_30 / "key")  # fmt: skip
    assert "graded again" in said
    assert re.search(r"s01  02_ragged_dims  FAIL [\d.]+ -> FAIL [\d.]+", said)
    table = {(row["student"], row["exercise"]): row for row in rows(graded / "grades.csv")}
    assert table["gone", "03_intensity_math"]["final"] == "12"
    assert "read by hand" in (graded / "feedback/s01.md").read_text(encoding="utf-8")


def test_files_for_jenkins_xunit_plugin_keep_to_its_schema(class_of_30: Path, graded: Path) -> None:
    etree = pytest.importorskip("lxml.etree", reason="lxml is not installed")
    out = Path(shutil.copytree(graded, class_of_30 / "strict"))
    words = ["batch", class_of_30 / "in", "--out", out, "--roster", class_of_30 / "roster.csv", "--quiet",
             "--assignment", class_of_30 / "assignment.yaml", "--private-key-file", class_of_30 / "key",
             "--junit-per-student", "--junit-strict"]  # fmt: skip
    assert "0 graded now" in runs(*words)
    schema = etree.XMLSchema(etree.parse(str(ROOT / "tests/data/junit-10.xsd")))
    files = [out / "junit.xml", *(out / "junit").iterdir()]
    assert len(files) == 32
    for path in files:
        schema.assertValid(etree.parse(str(path)))
    # A regrading keeps what the batch was told.
    runs("regrade", out, "--student", "s01", "--quiet", "--private-key-file", class_of_30 / "key")
    schema.assertValid(etree.parse(str(out / "junit.xml")))


def test_a_regrading_of_nobody_is_refused(class_of_30: Path, graded: Path) -> None:
    for words, said in (
        (("--student", "nobody"), "'nobody' in this batch; there are"),
        (
            ("--exercise", "02"),
            "'02' in this batch; there are 01_tiled_matmul, 02_ragged_dims, 03_intensity_math",
        ),
    ):
        with pytest.raises(Exception, match=said):
            runs("regrade", graded, *words, "--private-key-file", class_of_30 / "key")


@pytest.mark.usefixtures("graded_once")
def test_purging_removes_every_trace(class_of_30: Path, graded: Path) -> None:
    out = class_of_30 / "purged"
    words = ["batch", class_of_30 / "in", "--out", out, "--roster", class_of_30 / "roster.csv", "--quiet"]
    runs(*words)
    (out / "overrides.csv").write_text("student,question,points,reason,grader\ns03,02_ragged_dims,9,x,kim\n")
    hand_in(class_of_30 / "in", "s03.b", FILES[0], text("exercises", FILES[0]))
    runs(*words)
    runs("purge", "s03", "--out", out)
    assert (out / "feedback/s03.b.md").exists()
    shutil.rmtree(class_of_30 / "in" / "s03.b")
    runs(*words)

    def traces() -> list[str]:
        return [
            str(path)
            for path in out.rglob("*")
            if "s03" in path.name or (path.is_file() and b"s03" in path.read_bytes())
        ]

    assert traces() == []
    runs(*words)
    assert traces() == []
    assert len(rows(out / "grades.csv")) == 90


@pytest.mark.usefixtures("graded_once")
def test_before_the_release_date_there_is_no_feedback(class_of_30: Path) -> None:
    (class_of_30 / "held.yaml").write_text(ASSIGNMENT + 'release: "2999-01-01"\n', encoding="utf-8")
    out = class_of_30 / "held"
    runs("batch", class_of_30 / "in", "--out", out, "--assignment", class_of_30 / "held.yaml", "--quiet")
    assert not list(out.glob("feedback/*"))
    scope = json.loads((out / "gradescope/s01/02_ragged_dims.json").read_text())
    assert scope["visibility"] == "after_published"
    assert "dropped-k-tail" not in (out / "junit.xml").read_text(encoding="utf-8")


def test_a_zip_of_it_grades_alike(class_of_30: Path, graded: Path, tmp_path: Path) -> None:
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((class_of_30 / "in").rglob("*.*")):
            if file.is_file():
                archive.write(file, file.relative_to(class_of_30 / "in"))
    runs("batch", path, "--out", tmp_path / "out", "--quiet", "--private-key-file", class_of_30 / "key")
    mine = {(row["student"], row["exercise"]): row["points"] for row in rows(tmp_path / "out/grades.csv")}
    for row in rows(graded / "grades.csv"):
        if row["outcome"] != "MISSING":
            assert mine[row["student"], row["exercise"]] == row["points"]


def test_the_students_bundle_holds_no_answers(tmp_path: Path, class_of_30: Path) -> None:
    runs("release", "--out", tmp_path / "release", "--private-key-file", class_of_30 / "key")
    names = {
        path.relative_to(tmp_path / "release").as_posix()
        for path in (tmp_path / "release").rglob("*")
        if path.is_file()
    }
    assert {"README.md", "Makefile", "exercises/02_ragged_dims.py", "rubrics/02_ragged_dims.yaml"} <= names
    assert not [name for name in names if "solution" in name]
    whole = "".join((tmp_path / "release" / name).read_text(encoding="utf-8") for name in names)
    for what, pattern in secrets().items():
        assert pattern.search(whole) is None, what
    said = runs(
        "check",
        "02",
        "--rubrics",
        tmp_path / "release/rubrics",
        "--file",
        ROOT / "solutions/02_ragged_dims.py",
    )
    assert "PASS" in said


def test_the_key_is_never_an_argument_and_a_weak_one_is_refused(class_of_30: Path, tmp_path: Path) -> None:
    assert "--private-key " not in runs("batch", "--help")
    weak = tmp_path / "weak"
    weak.write_text("hunter2")
    weak.chmod(0o600)
    with pytest.raises(Exception, match="128 bits"):
        runs("batch", class_of_30 / "in", "--out", tmp_path / "out", "--private-key-file", weak)


def test_an_output_that_cannot_be_made_is_one_clear_error(class_of_30: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Exception, match="the output folder cannot be written"):
        runs("batch", class_of_30 / "in", "--out", tmp_path / "file" / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("x")
    with pytest.raises(Exception, match="not empty"):
        runs("batch", class_of_30 / "in", "--out", tmp_path / "full")


@pytest.mark.usefixtures("graded_once")
@pytest.mark.skipif(os.name != "posix", reason="limits of file size are POSIX")
def test_a_full_disk_is_one_clear_error_and_an_intact_journal(class_of_30: Path, tmp_path: Path) -> None:
    """A file-size limit stands in for a full disk: writing fails in the middle of the outputs."""
    import resource
    import signal

    out = tmp_path / "out"
    runs("batch", class_of_30 / "in", "--out", out, "--quiet")
    journal = hashlib.sha256((out / "journal.sqlite3").read_bytes()).hexdigest()
    expected = answers(out)
    (out / "grades.csv").write_text("torn")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))
        with pytest.raises(Exception, match=r"(?s)(cannot be written|journal).*run the same command again"):
            runs("batch", class_of_30 / "in", "--out", out, "--quiet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert journal
    runs("batch", class_of_30 / "in", "--out", out, "--quiet")
    assert answers(out) == expected
