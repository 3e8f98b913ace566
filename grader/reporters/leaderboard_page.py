"""The leaderboard as a page, as Markdown and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

from grader.reporters.html_page import page
from grader.reporters.leaderboard import Board, remark, rows_of

__all__ = ["html", "markdown", "render_json"]

SCHEMA = "tilegrade.leaderboard/1"
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~&])")


def html(boards: Sequence[Board]) -> str:
    """Write the boards as one page without scripts or anything from elsewhere."""
    parts = ["<h1>Leaderboard</h1>"]
    for board in boards:
        header, rows = rows_of(board)
        kinds = ['class="number"' if i != 1 else "" for i in range(len(header))]
        head = "".join(
            _cell("th", kind, name, ' scope="col"') for kind, name in zip(kinds, header, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(_cell("td", kind, cell) for kind, cell in zip(kinds, row, strict=True))
            + "</tr>\n"
            for row in rows
        )
        label = escape(f"{board.title}, {board.device}", quote=True)
        parts += [
            f"<section><h2>{escape(board.title)}</h2>",
            f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">',
            f"<table><caption>{escape(board.exercise)} on {escape(board.device)}</caption>",
            f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>",
            f"<p>{escape(remark(board))}</p></section>",
        ]
    return page("Leaderboard", "\n".join(parts))


def _cell(tag: str, kind: str, text: str, extra: str = "") -> str:
    space = " " if kind else ""
    return f"<{tag}{extra}{space}{kind}>{escape(text)}</{tag}>"


def markdown(boards: Sequence[Board]) -> str:
    """Write the boards as Markdown tables."""
    lines = ["# Leaderboard", ""]
    for board in boards:
        header, rows = rows_of(board)
        marks = [":---" if i == 1 else "---:" for i in range(len(header))]
        lines += [
            f"## {_quoted(board.title)}",
            "",
            f"{_quoted(board.exercise)} on {_quoted(board.device)}",
            "",
        ]
        lines += ["| " + " | ".join(map(_quoted, row)) + " |" for row in (header, marks, *rows)]
        lines += ["", _quoted(remark(board)), ""]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", "".join(one if one.isprintable() else "?" for one in text))


def render_json(boards: Sequence[Board]) -> str:
    """Write the boards as indented JSON that ends with a newline; its keys are the records' names."""
    tree: dict[str, Any] = {"schema": SCHEMA, "boards": msgspec.to_builtins(tuple(boards))}
    return json.dumps(tree, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
