"""Run as a script before a child without a sandbox: ``bare_child.py PARENT SCRIPT ...``.

Such a child would live on when its parent is killed, with nobody left who ends it at its deadline;
so the system ends it with the parent, where it can (Linux). It imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process's life to its parent's, then be the script."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # The parent may have been killed before that was said.
        if os.getppid() != parent:
            sys.exit(1)
    sys.argv[:2] = []
    # As if the script had been started itself: what lies beside it is found first.
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))  # noqa: PTH100, PTH120
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
