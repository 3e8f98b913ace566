"""Where a text is nested too deeply to be read."""

from __future__ import annotations

import ast
import io
import tokenize

from grader.records import Span

MAX_NESTING = 200
_SKIPPED = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, those left out that only say whether a name is read or set."""
    children: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            children += [item for item in value if isinstance(item, ast.AST)]
        elif name != "ctx" and isinstance(value, ast.AST):
            children.append(value)
    return children


def too_deep(tree: ast.Module) -> ast.stmt | None:
    """The statement around the first node that lies too deep; None where all can be read."""
    level: list[tuple[ast.AST, ast.stmt]] = [(node, node) for node in tree.body]
    for _ in range(MAX_NESTING):
        level = [
            (child, child if isinstance(child, ast.stmt) else place)
            for node, place in level
            for child in children_of(node)
        ]
        if not level:
            return None
    return level[0][1]


def deepest_line(text: str) -> Span:
    """The line on which Python's own parser gives up, tried line by line; else the first line."""
    best = Span(1, 1, 1, 2)
    try:
        for first, last, code in _logical_lines(text):
            if _gives_up(code):
                lines = text.splitlines()
                start = len(lines[first - 1]) - len(lines[first - 1].lstrip()) + 1
                return Span(first, start, last, max(len(lines[last - 1]) + 1, start + 1))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass
    return best


def _logical_lines(text: str) -> list[tuple[int, int, str]]:
    """(first line, last line, text without indentation) of each statement or header."""
    lines = text.splitlines(keepends=True)
    found: list[tuple[int, int, str]] = []
    first: tuple[int, int] | None = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _SKIPPED:
            continue
        if token.type == tokenize.NEWLINE:
            if first is not None:
                row, column = first
                code = "".join([lines[row - 1][column:], *lines[row : token.end[0]]])
                found.append((row, token.start[0], code))
            first = None
        elif first is None:
            first = token.start
    return found


def _gives_up(code: str) -> bool:
    if len(code) <= MAX_NESTING:
        return False
    header = code.rstrip().endswith(":")
    for start in ("", "if 0: pass\nel") if code.startswith("elif") else ("",):
        try:
            ast.parse(f"{start}{code.rstrip()} pass\n" if header else code)
        except (RecursionError, MemoryError):
            return True
        except (SyntaxError, ValueError):
            continue
    return False
