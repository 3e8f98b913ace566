"""Folders of gradings at work: a killed process's goes with the next one, a living one's never."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.gpu import scratch
from grader.gpu.sandbox import Limits, run_child, started
from grader.gpu.scratch import FOLDER_VARIABLE, scratch_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the locks are POSIX")

HOLDER = """
import sys
from grader.gpu.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "handin.py").write_text("TILE = 1")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where scratch folders are made, by this process and by those that it starts."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    scratch._sweep_once.cache_clear()
    return tmp_path


@pytest.fixture
def holder(above: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.communicate()


def test_a_folder_is_its_owners_alone_and_goes_with_the_block(above: Path) -> None:
    with scratch_folder() as one, scratch_folder() as other:
        assert one != other
        assert one.parent == other.parent == above
        assert one.stat().st_mode & 0o777 == 0o700
        (one / "kept").write_text("until the end")
    assert list(above.iterdir()) == []


def test_a_living_process_keeps_its_folder_and_a_killed_ones_is_removed(
    above: Path, holder: subprocess.Popen[str]
) -> None:
    assert holder.stdout is not None
    theirs = Path(holder.stdout.readline().strip())
    with scratch_folder():
        assert (theirs / "handin.py").is_file()
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (theirs / "handin.py").is_file()
    # The next process, and this one were it new.
    scratch._sweep_once.cache_clear()
    with scratch_folder() as mine:
        assert list(above.iterdir()) == [mine]


def test_folders_and_links_of_others_are_left_alone(
    above: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "precious").write_text("x")
    (above / "tilegrade-scratch-link").symlink_to(elsewhere, target_is_directory=True)
    (above / "tilegrade-scratch-file").write_text("x")
    (above / "tilegrade-other").mkdir()
    with scratch_folder():
        pass
    assert {path.name for path in above.iterdir()} == {
        "tilegrade-scratch-link",
        "tilegrade-scratch-file",
        "tilegrade-other",
    }
    assert (elsewhere / "precious").is_file()


def test_where_locks_are_not_to_be_had_nothing_is_removed(
    above: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (above / "tilegrade-scratch-whose").mkdir()
    with scratch_folder() as mine:
        assert mine.is_dir()
    assert [path.name for path in above.iterdir()] == ["tilegrade-scratch-whose"]


def test_a_child_without_a_sandbox_keeps_its_files_in_a_folder_of_its_own(above: Path) -> None:
    script = above / "child.py"
    script.write_text(
        "import os, pathlib, sys, tempfile\n"
        "handle, name = tempfile.mkstemp()\n"
        "pathlib.Path('~/cache').expanduser().mkdir()\n"
        "beside = os.path.dirname(os.path.abspath(__file__)) == sys.path[0]\n"
        "assert __name__ == '__main__' and beside and sys.argv == [__file__], sys.argv\n"
        "sys.stdout.write(os.path.dirname(name).ljust(400))\n"
    )
    ran = run_child(None, script, {}, b"", 400, Limits(seconds=20))
    assert not ran.problem
    assert Path(ran.output.decode().strip()).parent == above
    assert list(above.iterdir()) == [script]


@pytest.mark.skipif(sys.platform != "linux", reason="a child's life is tied to its parent's on Linux")
def test_a_child_without_a_sandbox_does_not_outlive_its_parent(above: Path) -> None:
    script = above / "child.py"
    script.write_text("import os, time\nos.write(1, b'up')\ntime.sleep(600)\n")
    parent = (
        "import os, sys, time\nfrom pathlib import Path\nfrom grader.gpu.sandbox import Limits, started\n"
        "with started(None, Path(sys.argv[1]), {}, b'', Limits()) as child:\n"
        "    assert os.read(child.stdout.fileno(), 2) == b'up'\n"
        "    print(child.pid, flush=True)\n    time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", parent, str(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while _lives(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(child)
    with started(None, script, {}, b"", Limits()):
        mine = [path for path in above.iterdir() if path != script]
        assert len(mine) == 1


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
