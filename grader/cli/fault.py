"""Our own crashes: what to report, the details in a file, never a traceback on a student's terminal."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence

import click

from grader import __version__
from grader.records import Outcome


def report_crash(error: Exception, words: Sequence[str]) -> int:
    """Say that the grader failed, where its details are and what to report; give the exit code."""
    summary = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    details = "".join(traceback.format_exception(error))
    click.echo("HARNESS FAULT: the grader itself failed. This is not in your code.", err=True)
    click.echo(f"  what happened: {summary[:500]}", err=True)
    click.echo(report_line(words, save_details(details, words)), err=True)
    return Outcome.HARNESS_FAULT.exit_code


def report_line(words: Sequence[str], saved: str | None) -> str:
    """Give the line that says what to report."""
    where = "the details could not be saved" if saved is None else f"details: {saved}"
    return f"  please report: your file, these lines and {where}\n  command: grader {shlex.join(words)}"


def save_details(details: str, words: Sequence[str]) -> str | None:
    """Save a traceback with the versions at work; give the file's path, or None where none can be written."""
    versions = f"tilegrade {__version__}\nPython {sys.version}\n{platform.platform()}"
    head = f"{versions}\ngrader {shlex.join(words)}\n\n"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="tilegrade-fault-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(head + details)
    except OSError:
        return None
    return file.name
