"""What ends a command in one line: it cannot do what it was asked for, or the kernel is at fault."""

from __future__ import annotations

from typing import IO, Any

import click


class Refusal(click.ClickException):
    """A request that names no exercise, no readable file, no place to write: the message says which."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message on one line of the error stream."""
        click.echo(f"grader: {self.format_message()}", file=file, err=file is None)


class KernelRefusal(Refusal):
    """A kernel with a fault that leaves nothing to show: the message names it. Exit code 1, as of FAIL."""

    exit_code = 1
