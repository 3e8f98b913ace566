"""What ends a command that was asked for something it cannot do: one line, exit code 2."""

from __future__ import annotations

from typing import IO, Any

import click


class Refusal(click.ClickException):
    """A request that names no exercise, no readable file, no place to write: the message says which."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message on one line of the error stream."""
        click.echo(f"grader: {self.format_message()}", file=file, err=file is None)
