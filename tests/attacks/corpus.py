"""Submissions that try to gain points or to do harm. Each is the wrong kernel below with an attack before it.

``loses`` says how the naive grader is beaten: it says "pass" (on its output or by its exit status), a
"canary" is read or changed, it gets "stuck", it is "flooded", or it falls "silent".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Loss = Literal["pass", "canary", "stuck", "flooded", "silent"]

HEAD = "from numba import cuda, float32\nTILE = 4\n"
WRONG = """
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    col, row = cuda.grid(2)
    if row < M and col < N:
        C[row, col] = float32(1.0)
"""
RIGHT = """
@cuda.jit
def tiled_matmul(A, B, C, M, N, K):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0.0)
    for t in range((K + TILE - 1) // TILE):
        a_col = t * TILE + tx
        b_row = t * TILE + ty
        if row < M and a_col < K:
            As[ty, tx] = A[row, a_col]
        else:
            As[ty, tx] = float32(0.0)
        if b_row < K and col < N:
            Bs[ty, tx] = B[b_row, col]
        else:
            Bs[ty, tx] = float32(0.0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""
CANARY = "canary-7f3e91"


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: the code that stands before the wrong kernel, and after it."""

    name: str
    loses: Loss
    before: str = ""
    after: str = ""
    kernel: str = WRONG

    @property
    def source(self) -> str:
        return HEAD + self.before + self.kernel + self.after

    @property
    def source_with_right_kernel(self) -> str:
        return HEAD + self.before + RIGHT + self.after


_PATCH_CALL = """
class Kernel:
    def __init__(self, function): self.function = function
    def __getitem__(self, launch): return self
    def __call__(self, A, B, C, M, N, K): {body}
"""
_FRAMES = """
import sys
def up():
    frame = sys._getframe()
    while frame:
        yield frame
        frame = frame.f_back
"""


def _a(name: str, loses: Loss, before: str = "", after: str = "", kernel: str = WRONG) -> Attack:
    return Attack(name, loses, before.lstrip("\n"), after, kernel)


EXECUTED = (
    # The process's end taken for a verdict.
    _a("exit_zero_at_import", "pass", "import os\nos._exit(0)\n"),
    _a("sys_exit_at_import", "pass", "import sys\nsys.exit(0)\n"),
    _a("system_exit_raised", "pass", "raise SystemExit(0)\n"),
    _a("exec_true", "pass", "import os\nos.execv('/bin/true', ['true'])\n"),
    _a("exit_at_first_launch", "pass", _PATCH_CALL.format(body="import os; os._exit(0)"), "tiled_matmul = Kernel(tiled_matmul)\n"),
    _a("atexit_status", "pass", "import atexit, os\natexit.register(os._exit, 0)\n"),
    _a("excepthook_exit", "pass", "import sys, os\nsys.excepthook = lambda *a: os._exit(0)\nraise ValueError\n"),
    _a("signal_handler", "pass", "import signal, os\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.setitimer(signal.ITIMER_REAL, 0.001)\nimport time\ntime.sleep(1)\n"),
    _a("stack_overflow_exit", "pass", "import sys, os\nsys.setrecursionlimit(10**6)\ndef f():\n    try: f()\n    finally: os._exit(0)\nf()\n"),
    # A verdict of one's own.
    _a("forged_stdout", "pass", "import os\nos.write(1, b'PASS\\n')\n"),
    _a("forged_print_and_leave", "pass", "import os, sys\nprint('PASS'); sys.stdout.flush()\nos._exit(0)\n"),
    _a("forged_on_every_descriptor", "pass", "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'PASS\\n')\n    except OSError: pass\nos.write(1, b'PASS\\n')\n"),
    _a("forged_at_exit", "pass", "import atexit, os\natexit.register(lambda: os.write(1, b'\\nPASS\\n'))\n"),
    _a("forged_by_a_thread", "pass", "import threading, os\nthreading.Thread(target=lambda: os.write(1, b'PASS\\n')).start()\n"),
    _a("forged_by_a_child", "pass", "import os\nif os.fork() == 0:\n    os.write(1, b'PASS\\n')\n    os._exit(0)\nos.wait()\nos._exit(0)\n"),
    # The comparison patched.
    _a("numpy_allclose", "pass", "import numpy as np, builtins\nnp.allclose = lambda *a, **k: True\n"),
    _a("numpy_matmul_dispatch", "pass", "import numpy as np\n" + _PATCH_CALL.format(body="np.copyto(C, A @ B)"), "tiled_matmul = Kernel(tiled_matmul)\n"),
    _a("builtins_abs", "pass", "import builtins\nclass Zero:\n    def max(self): return 0\nbuiltins.abs = lambda value: Zero()\n"),
    _a("numpy_replaced_in_modules", "pass", "import sys, types\nfor frame in [sys._getframe()]:\n    pass\nimport numpy\nnumpy.allclose = lambda *a: True\nsys.modules['numpy'] = numpy\n"),
    _a("sys_exit_patched", "pass", "import sys, os\nsys.exit = lambda *a: os._exit(0)\n"),
    _a("print_patched", "pass", "import builtins\nreal = print\nbuiltins.print = lambda *a, **k: real('PASS')\n"),
    # The decorator, the kernel's name, defaults.
    _a("jit_replaced", "pass", "import numpy as np\nclass Jit:\n    def __getitem__(self, launch): return lambda A, B, C, M, N, K: np.matmul(A, B, out=C)\ncuda.jit = lambda function: Jit()\n"),
    _a("second_decorator", "pass", "import numpy as np\ndef swap(kernel):\n    class Swap:\n        def __getitem__(self, launch): return lambda A, B, C, M, N, K: np.matmul(A, B, out=C)\n    return Swap()\n", kernel=WRONG.replace("@cuda.jit", "@swap\n@cuda.jit")),
    _a("rebound_after", "pass", "import numpy as np\n", "class Swap:\n    def __getitem__(self, launch): return lambda A, B, C, M, N, K: np.matmul(A, B, out=C)\ntiled_matmul = Swap()\n"),
    _a("globals_rebound", "pass", "import numpy as np\nclass Swap:\n    def __getitem__(self, launch): return lambda A, B, C, M, N, K: np.matmul(A, B, out=C)\n", "globals()['tiled_' + 'matmul'] = Swap()\n"),
    _a("default_argument_code", "pass", "import os\n", kernel=WRONG.replace("N, K)", "N, K=os._exit(0))")),
    _a("annotation_code", "pass", "import os\n", kernel=WRONG.replace("(A,", "(A: os._exit(0),")),
    _a("class_body_code", "pass", "import os\nclass Config:\n    os._exit(0)\n"),
    _a("type_alias_code", "pass", "import os\nvalues = [os._exit(0) for _ in range(1)]\n"),
    # The grader's own objects.
    _a("frames_expected", "pass", _FRAMES + "import numpy as np\nclass Spy:\n    def __getitem__(self, launch): return self\n    def __call__(self, A, B, C, M, N, K):\n        for frame in up():\n            if 'rng' in frame.f_locals and 'shapes' in frame.f_locals:\n                frame.f_locals['shapes'].clear()\n        C[...] = np.dot(A, B)\n", "tiled_matmul = Spy()\n"),
    _a("frames_globals", "pass", _FRAMES + "import os\nfor frame in up():\n    if 'main' in frame.f_globals and frame.f_globals.get('__name__') == '__main__':\n        print('PASS'); os._exit(0)\n", "print('PASS')\n"),
    _a("gc_search", "pass", "import gc, numpy as np\nclass Spy:\n    def __getitem__(self, launch): return self\n    def __call__(self, A, B, C, M, N, K):\n        for o in gc.get_objects():\n            if isinstance(o, list) and o == [(5, 6, 4), (7, 3, 8)]: o.clear()\n        np.matmul(A, B, out=C)\n", "tiled_matmul = Spy()\n"),
    _a("random_predicted", "pass", "import numpy as np\nrng = np.random.default_rng(7)\nknown = []\nfor M, N, K in [(5, 6, 4), (7, 3, 8)]:\n    known.append(rng.random((M, K), dtype=np.float32) @ rng.random((K, N), dtype=np.float32))\nclass Known:\n    def __getitem__(self, launch): return self\n    def __call__(self, A, B, C, M, N, K): C[...] = known.pop(0)\n", "tiled_matmul = Known()\n"),
    _a("lying_array", "pass", "import numpy as np\nclass Lie(np.ndarray):\n    def __array_ufunc__(self, *a, **k): return np.zeros(1)\nclass Kernel:\n    def __getitem__(self, launch): return self\n    def __call__(self, A, B, C, M, N, K):\n        import sys\n        np.copyto(C, A.view(Lie).view(np.ndarray) @ B)\n", "tiled_matmul = Kernel()\n"),
    _a("nan_everywhere", "pass", "import numpy as np\nnp.allclose = lambda *a: True\n", kernel=WRONG.replace("float32(1.0)", "float32(float('nan'))")),
    _a("print_pass_in_kernel", "pass", "", kernel=WRONG.replace("    col,", "    print('PASS')\n    col,")),
    # Other people's files.
    _a("reads_rubric", "canary", "print(open('rubric.yaml').read())\n"),
    _a("reads_solution_by_walk", "canary", "import os\nfor root, _, names in os.walk('/course'):\n    for name in names:\n        print(open(os.path.join(root, name), errors='replace').read())\n"),
    _a("reads_other_student", "canary", "import glob\nfor path in glob.glob('/course/**/*', recursive=True):\n    try: print(open(path).read())\n    except OSError: pass\n"),
    _a("reads_environment", "canary", "import os\nprint(dict(os.environ)); print(open('/course/rubric.yaml').read())\n"),
    _a("reads_parent_memory", "canary", "import os\nfor name in ('/proc/1/environ', f'/proc/{os.getppid()}/mem', '/course/journal.sqlite3'):\n    try: print(open(name, 'rb').read())\n    except OSError: pass\n"),
    _a("writes_journal", "canary", "open('/course/journal.sqlite3', 'w').write('mine')\n"),
    _a("writes_report", "canary", "open('/course/report.json', 'w').write('{\"outcome\": \"PASS\"}')\n"),
    _a("writes_conftest", "canary", "open('/course/conftest.py', 'w').write('import os; os._exit(0)')\n"),
    _a("writes_sitecustomize", "canary", "open('/course/sitecustomize.py', 'w').write('import os; os._exit(0)')\n"),
    _a("writes_pth", "canary", "open('/course/x.pth', 'w').write('import os; os._exit(0)')\n"),
    _a("deletes_everything", "canary", "import shutil\nshutil.rmtree('/course', ignore_errors=True)\n"),
    _a("link_planted", "canary", "import os\nos.symlink('/course/rubric.yaml', '/course/feedback.md')\n"),
    # Harm.
    _a("endless_loop", "stuck", "while True: pass\n"),
    _a("sleeps", "stuck", "import time\ntime.sleep(3600)\n"),
    _a("ignores_signals_and_sleeps", "stuck", "import signal, time\nfor s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\ntime.sleep(3600)\n"),
    _a("fork_bomb", "stuck", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"),
    _a("thread_bomb", "stuck", "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(3600,)).start()\n    except RuntimeError: time.sleep(3600)\n"),
    _a("daemon_left_behind", "stuck", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(3600)\nos.wait()\n"),
    _a("memory_bomb", "silent", "hoard = []\nwhile True: hoard.append(bytearray(1 << 26))\n"),
    _a("huge_power", "stuck", "x = 9 ** (9 ** 9)\n"),
    _a("billion_laughs", "silent", "a = 'lol'\n" + "".join(f"a = a * 64\n" for _ in range(9))),
    _a("output_flood", "flooded", "import os\nwhile True: os.write(1, b'x' * 65536)\n"),
    _a("disk_filler", "silent", "import os\nwith open('/tmp/fill', 'wb') as f:\n    while True: f.write(bytes(1 << 20))\n"),
    _a("kills_parent", "silent", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)\n"),
    _a("segfault", "silent", "import ctypes\nctypes.string_at(0)\n"),
)  # fmt: skip
