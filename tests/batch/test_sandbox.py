"""What a child in the sandbox finds there, and what it can do: its own script, and nothing."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from classes import FILES, hand_in

from grader.batch import run as run_module
from grader.batch.problems import BatchError
from grader.batch.run import Settings
from grader.gpu import landlock
from grader.gpu import sandbox as sandbox_module
from grader.gpu.sandbox import Limits, find_sandbox, run_child
from grader.gpu.seccomp import program
from tests.attacks.corpus import HEAD, RIGHT

pytestmark = pytest.mark.skipif(
    find_sandbox() is None, reason="no sandbox on this machine (bubblewrap, setpriv, prlimit)"
)
LENGTH = 4000

PROBE = """
import ctypes, json, os, socket, sys
found = {}
def attempt(name, action):
    try:
        found[name] = str(action())
    except BaseException as error:
        found[name] = type(error).__name__
libc = ctypes.CDLL(None, use_errno=True)
found["uid"] = os.getuid()
attempt("root", lambda: sorted(os.listdir("/")))
found["processes"] = sum(name.isdigit() for name in os.listdir("/proc"))
found["descriptors"] = len(os.listdir("/proc/self/fd"))
found["environment"] = sorted(os.environ)
attempt("passwd", lambda: open("/etc/passwd").read())
attempt("secret", lambda: open(SECRET).read())
attempt("write", lambda: open("/child.py", "a"))
attempt("network", lambda: socket.create_connection(("127.0.0.1", PORT), 1))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("fork", os.fork)
attempt("signal", lambda: os.kill(1, 9))
attempt("setuid", lambda: os.setuid(0))
found["mount"] = libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
found["remount"] = libc.mount(b"none", b"/usr", None, 4096 | 32, None)
found["unshare"] = libc.unshare(0x10000000)
found["ptrace"] = libc.ptrace(16, 1, 0, 0)
with open("/proc/self/status") as status:
    lines = dict(line.split(":", 1) for line in status)
found["capabilities"] = int(lines["CapEff"], 16) | int(lines["CapPrm"], 16)
found["no_new_privs"] = int(lines["NoNewPrivs"])
found["seccomp"] = int(lines["Seccomp"])
text = json.dumps(found).encode()
sys.stdout.buffer.write(text.ljust(4000))
"""


def run_script(folder: Path, text: str, length: int, limits: Limits | None = None) -> sandbox_module.Ran:
    script = folder / "probe.py"
    script.write_text(text)
    script.chmod(0o644)
    for parent in (folder, folder.parent):
        parent.chmod(0o755)
    return run_child(find_sandbox(), script, {}, b"", length, limits)


def test_the_trial_of_a_sandbox_leaves_nothing_on_a_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every worker tries it; one that is killed at that moment would leave a folder of its own."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a folder was made")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    assert find_sandbox.__wrapped__() is not None


def test_a_child_is_another_user_than_the_one_before_it(tmp_path: Path) -> None:
    """Whom the kernel is still ending is not counted against the next one."""
    if os.geteuid() != 0:
        assert run_script(tmp_path, "import os\nprint(os.getuid(), end='')", 1).output != b"0"
        return
    users = [run_script(tmp_path, "import os\nprint(os.getuid(), end='')", 5).output for _ in range(9)]
    assert len(set(users)) == 8


def test_a_child_reaches_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("canary")
    secret.chmod(0o666)
    text = PROBE.replace("SECRET", repr(str(secret))).replace("PORT", "9")
    ran = run_script(tmp_path, text, LENGTH)
    assert ran.problem == ""
    found = json.loads(ran.output)
    # Not root, and nobody whom another worker's children are: processes are counted for each user.
    mine = range(60578 + os.getpid() % 75 * 8, 60586 + os.getpid() % 75 * 8)
    assert found["uid"] in mine if os.geteuid() == 0 else found["uid"] != 0
    assert not re.search("'(work|home|root2|var|opt|srv)'", found["root"])
    assert "canary" not in found["secret"]
    assert found["passwd"] == "FileNotFoundError"
    assert found["processes"] <= 3
    assert found["descriptors"] <= 5
    assert not [name for name in found["environment"] if "TILEGRADE" in name]
    assert found["write"] in ("OSError", "PermissionError")
    assert found["network"] != ""
    assert found["network"].endswith("Error")
    assert found["setuid"] == "PermissionError"
    assert {found[name] for name in ("mount", "remount", "unshare", "ptrace")} == {-1}
    assert (found["capabilities"], found["no_new_privs"]) == (0, 1)
    if program() is not None:
        assert found["seccomp"] == 2
        assert {found[name] for name in ("fork", "unix")} == {"PermissionError"}


def test_its_time_memory_and_output_are_bounded(tmp_path: Path) -> None:
    begun = time.monotonic()
    assert (
        run_script(tmp_path, "while True: pass", 4, Limits(seconds=1)).problem == "it did not finish in time"
    )
    assert time.monotonic() - begun < 5
    hungry = run_script(tmp_path, "x = bytearray(2**31)\nprint('have', flush=True)", 4, Limits(memory_mb=512))
    assert hungry.problem == "it ended without all results"
    flood = run_script(tmp_path, "import os\nwhile True: os.write(1, b'x' * 65536)", 100)
    assert (flood.problem, len(flood.output)) == ("it sent more than the results", 100)
    full = run_script(tmp_path, "open('/tmp/f', 'wb').write(bytes(2**25))\nprint('kept', end='')", 4)
    assert full.problem == "it ended without all results"


def test_a_child_gets_no_more_memory_than_its_parent_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but root can raise a limit: a worker under a lower one could start no child at all."""
    sandbox = find_sandbox()
    assert sandbox is not None
    for most, mebibytes in ((2**30, 1024), (resource.RLIM_INFINITY, 4096), (2**40, 4096)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (most, most))
        words = sandbox.command(Path("child.py"), {}, Limits(), None)
        assert f"--as={mebibytes * 2**20}" in words


def answer(words: list[str], folder: Path, text: str) -> str:
    """Run a script in the sandbox's own command, with a file and a folder bound into it besides."""
    for parent in (folder, folder.parent):
        parent.chmod(0o755)
    script, secret, open_ = folder / "probe.py", folder / "secret", folder / "open"
    script.write_text(text)
    secret.write_text("canary")
    open_.mkdir(exist_ok=True)
    open_.chmod(0o777)
    for path in (script, secret):
        path.chmod(0o666)
    at = words.index("--")
    words[at:at] = ["--bind", str(secret), "/secret", "--bind", str(open_), "/open"]
    done = subprocess.run(words, capture_output=True, text=True, env={}, check=False, timeout=60)
    return done.stdout + done.stderr[-300:]


ATTEMPTS = """
import os
for action in (
    lambda: open("/secret").read(), lambda: open("/secret", "a").close(), lambda: os.listdir("/"),
    lambda: open("/open/new", "w").close(), lambda: os.mkdir("/open/folder"),
    lambda: os.symlink("/secret", "/open/link"), lambda: os.execv("/usr/bin/env", ["env"]),
    lambda: open("/tmp/mine", "w").close(), lambda: open("/dev/null", "w").close(),
    lambda: len(open("/usr/bin/env", "rb").read(4)),
):
    try:
        print(action() or "done", end=" ")
    except OSError as error:
        print(type(error).__name__, end=" ")
"""


@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
def test_landlock_refuses_what_the_binds_would_give(tmp_path: Path) -> None:
    held = find_sandbox()
    assert held is not None
    assert held.landlocked
    script = tmp_path / "probe.py"

    def said(sandbox: sandbox_module.Sandbox, attempts: str = ATTEMPTS) -> list[str]:
        return answer(sandbox.command(script, {}, Limits(), None), tmp_path, attempts).split()

    # Without it the binds are all that there is: the file is read and changed, the folder written.
    bare = said(replace(held, landlocked=False), ATTEMPTS.replace('os.execv("/usr/bin/env", ["env"])', "0"))
    assert [bare[0], bare[1], *bare[-6:]] == ["canary", "done", "done", "done", "done", "done", "done", "4"]
    for path in (tmp_path / "open").iterdir():
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert said(held) == [*["PermissionError"] * 7, "done", "done", "4"]
    assert list((tmp_path / "open").iterdir()) == []
    assert (tmp_path / "secret").read_text() == "canary"


@pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
def test_a_kernel_that_has_landlock_and_refuses_ends_the_child(tmp_path: Path) -> None:
    """Without no_new_privs the kernel refuses; the script must not run unconfined."""
    script = tmp_path / "child.py"
    script.write_text("print('ran')")
    words = [sys.executable, "-I", "-S", landlock.__file__, "/", "/dev", str(tmp_path), str(script)]
    dropped = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--reuid=65534", "--clear-groups"]
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_mode & 0o005 != 0o005:
            path.chmod(0o755)
    if os.geteuid() != 0:
        dropped = []
    done = subprocess.run([*dropped, *words], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == ""
    assert done.returncode != 0
    assert "[Errno 1] Operation not permitted" in done.stderr


def test_sitecustomize_and_pth_files_are_not_read(tmp_path: Path) -> None:
    ran = run_script(tmp_path, "import sys\nprint('site' in sys.modules, end='')", 5)
    assert ran.output == b"False"


def test_without_a_sandbox_nothing_runs_unless_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_module, "find_sandbox", lambda: None)
    (tmp_path / "in").mkdir()
    with pytest.raises(BatchError, match="--unsafe-no-sandbox"):
        run_module.run(Settings(tmp_path / "in", tmp_path / "out", run="sandbox"))
    assert not (tmp_path / "out").exists()
    assert os.environ.get("TILEGRADE_WORKER_RUNS") is None


def test_less_memory_than_the_simulator_takes_is_refused_before_anything_is_graded(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", "ada", FILES[1], HEAD + RIGHT)
    (tmp_path / "a.yaml").write_text("limits: {memory_mb: 2048}\n", encoding="utf-8")
    settings = Settings(tmp_path / "in", tmp_path / "out", run="sandbox", assignment=tmp_path / "a.yaml")
    with pytest.raises(BatchError, match=r"--run-code: numba's simulator takes 4096 MB .* a grading 2048"):
        run_module.run(settings)
    assert not (tmp_path / "out").exists()


def test_a_batch_that_runs_code_too_says_so(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    hand_in(tmp_path / "in", "ada", FILES[1], HEAD + RIGHT)
    hand_in(tmp_path / "in", "bob", FILES[1], HEAD + "import os\nos._exit(0)\n" + RIGHT)
    result = run_module.run(Settings(tmp_path / "in", tmp_path / "out", run="sandbox", quiet=True))
    ada, bob = result.record.grades
    assert ada.report.notes[-1] == "run under numba's simulator in a sandbox: 3 of 3 shapes right"
    assert "it ended without all results" in bob.report.notes[-1]
    # Read, both kernels are right; only the questions are open.
    assert [sum(check.points for check in grade.report.checks) for grade in (ada, bob)] == [80, 80]
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "each in a sandbox" in page
