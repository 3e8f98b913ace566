"""A submission's text whose lines carry roles, and the edits that the operators make of it.

A role stands in a comment ``#@ name ...`` at the end of its line and travels with the line through all
edits, so that a label can say "the line of load_a" before any edit is made. ``plain()`` drops them.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property

MARK = re.compile(r"  #@ ([a-z_ 0-9]+)$")


@dataclass(frozen=True)
class Text:
    """Immutable source lines, roles included."""

    lines: tuple[str, ...]

    @classmethod
    def of(cls, source: str) -> Text:
        return cls(tuple(source.rstrip("\n").split("\n")))

    def plain(self) -> str:
        return "\n".join(MARK.sub("", line) for line in self.lines) + "\n"

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.plain())

    def at(self, role: str) -> list[int]:
        """Numbers of the lines of a role, from 1."""
        return [n for n, line in enumerate(self.lines, 1) if role in _roles(line)]

    def line(self, role: str) -> int:
        return self.at(role)[0]

    def has(self, *roles: str) -> bool:
        return all(self.at(role) for role in roles)

    def indent(self, number: int) -> str:
        line = self.lines[number - 1]
        return line[: len(line) - len(line.lstrip())]

    # -- nodes ---------------------------------------------------------------------------------

    def nodes(self, role: str, kind: type[ast.AST]) -> list[ast.AST]:
        """The nodes of a kind that start on the lines of a role, in the order of the text."""
        wanted = set(self.at(role))
        found = [n for n in ast.walk(self.tree) if isinstance(n, kind) and getattr(n, "lineno", 0) in wanted]
        return sorted(found, key=lambda n: (n.lineno, n.col_offset, -(n.end_col_offset or 0)))  # type: ignore[attr-defined]

    def code(self, node: ast.AST) -> str:
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset]  # type: ignore[attr-defined]

    def subscripts(self, role: str, array: str) -> list[ast.Subscript]:
        found = self.nodes(role, ast.Subscript)
        return [n for n in found if isinstance(n, ast.Subscript) and self.code(n.value) == array]

    # -- edits ---------------------------------------------------------------------------------

    def put(self, node: ast.AST, code: str) -> Text:
        """The node's text (on one line) replaced."""
        number = node.lineno  # type: ignore[attr-defined]
        line = self.lines[number - 1]
        return self.set(number, line[: node.col_offset] + code + line[node.end_col_offset :])  # type: ignore[attr-defined]

    def set(self, number: int, line: str) -> Text:
        return Text((*self.lines[: number - 1], line, *self.lines[number:]))

    def swap(self, role: str, old: str, new: str) -> Text | None:
        """One text on a role's line replaced by another; None where it is not there exactly once."""
        number = self.line(role)
        line = self.lines[number - 1]
        return self.set(number, line.replace(old, new)) if line.count(old) == 1 else None

    def drop(self, number: int) -> Text:
        return Text((*self.lines[: number - 1], *self.lines[number:]))

    def insert(self, number: int, *lines: str) -> Text:
        """New lines before line ``number``."""
        return Text((*self.lines[: number - 1], *lines, *self.lines[number - 1 :]))

    def last_of(self, number: int) -> int:
        """The last line of the block that line ``number`` opens."""
        depth = len(self.indent(number))
        end = number
        while end < len(self.lines) and len(self.indent(end + 1)) > depth and self.lines[end].strip():
            end += 1
        return end


def mark(line: str, *roles: str) -> str:
    return f"{line}  #@ {' '.join(roles)}"


def code_of(line: str) -> str:
    """A line without its roles and indentation."""
    return MARK.sub("", line).strip()


def _roles(line: str) -> list[str]:
    found = MARK.search(line)
    return found[1].split() if found else []
