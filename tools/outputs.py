"""Write the sample outputs in Markdown files anew: each is what its command prints now.

A sample stands between two comments, the first of which names its command::

    <!-- output: grader check 02_ragged_dims -->
    <!-- end -->

The commands run in a fresh student's folder, with the solutions and docs/results beside it.
``outputs.py FILE...`` rewrites the files.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SAMPLE = re.compile(
    r"^<!-- output: grader (?P<words>[^\n]*?) -->\n(?P<shown>.*?)^<!-- end -->$", re.S | re.M
)


def regenerate(text: str) -> str:
    """Give a Markdown text with every sample output as its command prints it."""
    with tempfile.TemporaryDirectory() as folder:
        _grader("init .", Path(folder))
        shutil.copytree(ROOT / "solutions", Path(folder) / "solutions")
        shutil.copytree(ROOT / "docs" / "results", Path(folder) / "docs" / "results")
        return _SAMPLE.sub(lambda match: _sample(match["words"], Path(folder)), text)


def samples(text: str) -> tuple[str, ...]:
    """Give the commands whose outputs a Markdown text shows."""
    return tuple(match["words"] for match in _SAMPLE.finditer(text))


def _sample(words: str, folder: Path) -> str:
    shown = _grader(words, folder).rstrip("\n")
    return f"<!-- output: grader {words} -->\n\n```text\n{shown}\n```\n\n<!-- end -->"


def _grader(words: str, folder: Path) -> str:
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
    environment = {key: value for key, value in os.environ.items() if key != "TILEGRADE_COMMAND"}
    command = [sys.executable, "-m", "grader", *shlex.split(words)]
    result = subprocess.run(
        command,
        cwd=folder,
        env=environment | plain,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if result.returncode not in {0, 1}:
        raise SystemExit(f"grader {words} ends with {result.returncode}: {result.stderr}")
    return result.stdout


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(regenerate(path.read_text(encoding="utf-8")), encoding="utf-8")
