"""The command line: arguments in, exit code out. Each command is a module, imported when it runs."""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Sequence

import click

from grader.cli.streams import prepare_streams

_COMMANDS = {
    "check": "grade one exercise and say why it fails",
    "hint": "show the next hint for what is wrong now",
    "explain": "open the page of a diagnostic",
    "list": "list the exercises",
    "reset": "put an exercise's skeleton back, keeping a backup",
    "init": "lay out a folder with all exercises",
    "worksheet": "write a student's own sheet, with numbers drawn for them",
    "sanitize": "run any kernel without a GPU and explain its hazards",
    "review": "walk the review checklist over a kernel, each item measured",
    "model": "predict time and limits of kernels on a device",
    "profile": "count what a kernel moves beside the naive one and the solution",
    "roofline": "place the course's kernels, or yours, under a device's roofs",
    "ladder": "time the course's kernels beside cuBLAS, or predict them",
    "batch": "grade a class: JUnit XML, gradebook files, feedback, the class at a glance",
    "leaderboard": "rank the kernels of a class that was graded on a GPU",
    "regrade": "grade some of a class again and say what changed",
    "purge": "remove a person from a graded class",
    "release": "write the bundle that students get",
    "version": "say which versions are at work",
}


class _Commands(click.Group):
    """The group of commands, none of which is imported before it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in _COMMANDS:
            return None
        # A module named list would hide the built-in from this one.
        module = {"list": "listing"}.get(cmd_name, cmd_name)
        command: click.Command = importlib.import_module(f"grader.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Grade numba.cuda matrix-multiply exercises on any machine.

    Exit codes of check: 0 PASS, 1 FAIL, 2 wrong usage, 3 CANNOT JUDGE, 4 HARNESS FAULT.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; nothing but a person's interrupt goes uncaught."""
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = cli.main(args=words or ["--help"], prog_name="grader", standalone_mode=False, obj=words)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        if sys.stdout is None or sys.stdout.closed or error.errno in (errno.ENOSPC, errno.EBADF, errno.EIO):
            return _cannot_write(error)
        from grader.cli.fault import report_crash

        return report_crash(error, words)
    except Exception as error:  # noqa: BLE001 - whatever we got wrong must not look like a student's fault
        from grader.cli.fault import report_crash

        return report_crash(error, words)
    return code if isinstance(code, int) else 0


def _cannot_write(error: OSError) -> int:
    """Say that the output cannot be written, and let Python's own flush at exit go nowhere."""
    import os

    try:
        sys.stderr.write(f"grader: the output cannot be written: {error.strerror}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except (OSError, AttributeError):
        pass
    return 2


def _reader_left() -> int:
    """Answer a closed pipe as a shell expects, without Python's own complaint at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def entry() -> None:
    """Run the command line of this process."""
    sys.exit(main())
