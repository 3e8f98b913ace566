"""Paths on the command line that were left empty, as ``$FOLDER`` is where nobody set it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from grader.cli.refusal import Refusal

__all__ = ["NamedPath"]


class NamedPath(click.Path):
    """A path that somebody named: an empty word would otherwise mean the current folder."""

    def __init__(self) -> None:
        """Values are ``pathlib.Path``."""
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give the path. Raises ``Refusal`` for an empty one."""
        if isinstance(value, str) and not value.strip():
            what = param.human_readable_name if isinstance(param, click.Argument) else param and param.opts[0]
            raise Refusal(
                f"{what} is empty; name a {'folder' if param and param.name in _FOLDERS else 'file'}"
            )
        return super().convert(value, param, ctx)


_FOLDERS = {"submissions", "out", "rubrics"}
