"""A child that tries a sandbox out: it says ``ok`` where it cannot reach what it must not have."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Look around: a user with rights, or the system's list of users, and this is no sandbox."""
    with Path("/proc/self/status").open(encoding="ascii") as status:
        effective = [int(line.split()[1], 16) for line in status if line.startswith("CapEff")]
    held = os.getuid() != 0 and effective == [0] and not Path("/etc/passwd").exists()
    sys.stdout.write("ok" if held else "no")


if __name__ == "__main__":
    main()
