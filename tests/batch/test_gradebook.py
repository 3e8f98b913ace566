"""nbgrader gradebooks on SQLite and on a real PostgreSQL, read back through ``nbgrader export``."""

from __future__ import annotations

import csv
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from classes import FILES, STAMP, hand_in, text

from grader.batch.gradebook import remove_student, with_driver, write_gradebook
from grader.batch.problems import BatchError
from grader.batch.run import Settings, run
from grader.reporters.classroom import ClassRecord

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nbgrader") is None, reason="the extra nbgrader is not installed"
)
ASSIGNMENT = """\
exercises: [02_ragged_dims]
deadline: "2026-05-28T20:26:40+00:00"
late: {policy: per-day, percent: 25}
feedback: category
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> ClassRecord:
    root = tmp_path_factory.mktemp("class")
    hand_in(root / "in", "ada", FILES[1], text("solutions", FILES[1]))
    hand_in(root / "in", "bob", FILES[1], text("exercises", FILES[1]))
    hand_in(root / "in", "cyd", FILES[1], text("solutions", FILES[1]), at=STAMP + 3600)
    (root / "assignment.yaml").write_text(ASSIGNMENT)
    (root / "roster.csv").write_text("id,name\nada,Ada Lovelace\nbob,\ncyd,\ndan,\n")
    settings = Settings(
        root / "in", root / "out", assignment=root / "assignment.yaml", roster=root / "roster.csv", quiet=True
    )
    return run(settings).record


def exported(folder: Path, url: str) -> dict[str, dict[str, str]]:
    """What ``nbgrader export`` writes, by its exporter and without the seconds that the command takes."""
    from nbgrader.api import Gradebook
    from nbgrader.plugins import CsvExportPlugin

    out = folder / "grades.csv"
    with Gradebook(with_driver(url)) as book:
        CsvExportPlugin(to=str(out)).export(book)
    return scores_in(out)


def exported_by_command(folder: Path, url: str) -> dict[str, dict[str, str]]:
    out = folder / "by_command.csv"
    words = [
        sys.executable,
        "-m",
        "nbgrader",
        "export",
        f"--CourseDirectory.db_url={with_driver(url)}",
        f"--to={out}",
    ]
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder), "HOME": str(folder)}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return scores_in(out)


def scores_in(out: Path) -> dict[str, dict[str, str]]:
    with out.open(newline="", encoding="utf-8") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


def check(folder: Path, url: str, record: ClassRecord) -> None:
    write_gradebook(url, record)
    # A second time changes nothing.
    write_gradebook(url, record)
    table = exported(folder, url)
    finals = {grade.student.id: grade.final for grade in record.grades}
    assert finals == {"ada": 100, "bob": 22.07, "cyd": 75, "dan": None}
    assert {student: float(row["score"] or 0) for student, row in table.items()} == {
        "ada": 100, "bob": 22.07, "cyd": 75, "dan": 0,
    }  # fmt: skip
    assert float(table["cyd"]["late_submission_penalty"]) == 25
    assert table["ada"]["assignment"] == "02_ragged_dims"
    assert float(table["ada"]["max_score"]) == 100
    assert (table["ada"]["first_name"], table["ada"]["last_name"]) == ("Ada", "Lovelace")
    assert comment(url, "bob").startswith(
        "22.07 points in the end.\nFAIL: 22.07 of 100 points\nA shared slot"
    )
    remove_student(url, "cyd")
    assert set(exported(folder, url)) == {"ada", "bob", "dan"}


def comment(url: str, student: str) -> str:
    from nbgrader.api import Gradebook

    with Gradebook(with_driver(url)) as book:
        return str(book.find_comment("total", "02_ragged_dims", "02_ragged_dims", student).auto_comment)


def test_sqlite(tmp_path: Path, record: ClassRecord) -> None:
    url = f"sqlite:///{tmp_path}/gradebook.db"
    check(tmp_path, url, record)
    assert exported_by_command(tmp_path, url) == exported(tmp_path, url)


def test_points_come_and_go_with_the_classs_own(tmp_path: Path, record: ClassRecord) -> None:
    """Points for what was not handed in are entered; those of a grading that no longer counts do not stay."""
    url = f"sqlite:///{tmp_path}/gradebook.db"
    write_gradebook(url, record)
    given = {"dan": 12.0, "cyd": None}
    grades = tuple(
        replace(
            one,
            final=given.get(one.student.id, one.final),
            report=replace(one.report, points=given.get(one.student.id) or one.report.points),
        )
        for one in record.grades
    )
    write_gradebook(url, replace(record, grades=grades))
    scores = {student: float(row["score"] or 0) for student, row in exported(tmp_path, url).items()}
    assert scores == {"ada": 100, "bob": 22.07, "cyd": 0, "dan": 12}
    assert comment(url, "dan").startswith("12 points in the end.\nNothing was handed in.")
    # Points that were given and taken back go again.
    write_gradebook(url, record)
    scores = {student: float(row["score"] or 0) for student, row in exported(tmp_path, url).items()}
    assert scores == {"ada": 100, "bob": 22.07, "cyd": 75, "dan": 0}


def _programs() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb")
    return folders[-1] if folders else Path(found).parent if found else None


@pytest.fixture
def postgresql(tmp_path: Path) -> Iterator[str]:
    """Start a server of the tests' own on loopback, and stop it."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    # The server refuses to run as root.
    user = (
        ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        if os.geteuid() == 0
        else []
    )
    data = Path("/tmp") / f"tilegrade-pg-{os.getpid()}"
    data.mkdir(mode=0o700)
    if user:
        shutil.chown(data, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/tmp"}
    subprocess.run(
        [*user, programs / "initdb", "-D", data / "db", "-A", "trust", "-U", "grader"], check=True, **quiet
    )  # type: ignore[call-overload]
    server = subprocess.Popen(  # type: ignore[call-overload]
        [
            *user,
            programs / "postgres",
            "-D",
            data / "db",
            "-p",
            str(port),
            "-k",
            data,
            "-c",
            "listen_addresses=127.0.0.1",
        ],
        **quiet,
    )
    try:
        for _ in range(100):
            ready = subprocess.run(
                [programs / "pg_isready", "-h", "127.0.0.1", "-p", str(port)], check=False, **quiet
            )  # type: ignore[call-overload]
            if ready.returncode == 0:
                break
            time.sleep(0.1)
        yield f"postgresql://grader:not-shown@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(data, ignore_errors=True)


def test_postgresql(postgresql: str, tmp_path: Path, record: ClassRecord) -> None:
    check(tmp_path, postgresql, record)
    assert exported_by_command(tmp_path, postgresql) == exported(tmp_path, postgresql)


def test_a_database_that_does_not_answer_is_one_line_without_the_password(record: ClassRecord) -> None:
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    with pytest.raises(
        BatchError, match=r"postgresql://\.\.\.@127\.0\.0\.1:9/x: the gradebook cannot"
    ) as error:
        write_gradebook("postgresql://me:hunter2@127.0.0.1:9/x", record)
    assert "hunter2" not in str(error.value)
