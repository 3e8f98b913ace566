"""Values of the host code around a kernel, as the scalar interpreter knows them."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.records import Span
from grader.simt.type_names import same_path, starred

JIT_PATHS = frozenset({"numba.cuda.jit", "numba.jit", "numba.njit"})


class HostError(Exception):
    """Host code that cannot be followed, with the node at fault and a kebab-case reason."""

    def __init__(self, node: ast.AST | None, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.node = node
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a name holds after code that the interpreter does not follow."""

    node: ast.AST
    reason: str


@dataclass(frozen=True, slots=True)
class Path:
    """A module, function or type that is known by its dotted name only."""

    name: str


@dataclass(eq=False, slots=True)
class Function:
    """A function of the submission with the scopes that its free names are looked up in.

    ``jit`` holds the dotted path of the jit decorator and ``device`` whether it asks for a device
    function; a plain Python function has ``jit == ""``. ``signature`` is the decorator's first
    argument, where it has one, and ``options`` its keywords: expressions, or values where they are
    known. ``captured`` names the variables of a kernel that a function inside it uses.
    """

    node: ast.FunctionDef
    scopes: tuple[dict[str, Any], ...]
    jit: str = ""
    device: bool = False
    signature: ast.expr | None = None
    captured: tuple[str, ...] = ()
    options: Mapping[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JitOptions:
    """``cuda.jit(...)`` before it is given its function: the decorator's path and arguments."""

    path: str
    keywords: dict[str, Any]
    signature: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a plain value, before it is called."""

    owner: Any
    name: str


@dataclass(eq=False, slots=True)
class Once:
    """What an iterator still has to give; ``take`` uses it up."""

    items: list[Any]

    def take(self) -> list[Any]:
        """All that is left."""
        items, self.items = self.items, []
        return items


@dataclass(slots=True)
class Budget:
    """Steps that are left to an evaluation."""

    steps: int = 200_000
    depth: int = 0

    def spend(self, node: ast.AST, steps: int = 1) -> None:
        """Take steps from the budget; :class:`HostError` where none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise HostError(node, "did-not-finish")


def span_of(node: ast.AST, lines: tuple[str, ...] = ()) -> Span:
    """The node's place. ``ast`` counts columns in UTF-8 bytes; spans count characters."""
    line = getattr(node, "lineno", 1)
    end_line = getattr(node, "end_lineno", line) or line
    return Span(
        line,
        _column(lines, line, getattr(node, "col_offset", 0)),
        end_line,
        _column(lines, end_line, getattr(node, "end_col_offset", 1) or 1),
    )


def _column(lines: tuple[str, ...], line: int, offset: int) -> int:
    if not 0 < line <= len(lines) or lines[line - 1].isascii():
        return offset + 1
    return len(lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


def bind_import(node: ast.Import | ast.ImportFrom, scope: dict[str, Any]) -> None:
    """Bind imported names to their dotted paths; nothing is imported."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom) and alias.name == "*":
            _bind_all(node.module or "", scope)
        elif isinstance(node, ast.ImportFrom):
            scope[alias.asname or alias.name] = path_value(f"{node.module or ''}.{alias.name}")
        elif alias.asname:
            scope[alias.asname] = path_value(alias.name)
        else:
            root = alias.name.split(".")[0]
            scope[root] = Path(root)


#: What a scope holds under the star's own name where a star may have brought any name.
ANY_NAME = "*"


def _bind_all(module: str, scope: dict[str, Any]) -> None:
    names, complete = starred(module)
    scope |= {name: path_value(f"{module}.{name}") for name in names}
    if not complete:
        scope[ANY_NAME] = Path(module)


def path_value(path: str) -> Any:
    """Constants of ``math`` and NumPy are values; every other dotted name stays a path."""
    path = same_path(path)
    return _CONSTANTS.get(path, Path(path))


_CONSTANTS = {
    "math.pi": math.pi,
    "math.e": math.e,
    "math.tau": math.tau,
    "math.inf": math.inf,
    "math.nan": math.nan,
    "numpy.pi": math.pi,
    "numpy.e": math.e,
    "numpy.inf": math.inf,
    "numpy.nan": math.nan,
    "numpy.newaxis": None,
    "sys.maxsize": 2**63 - 1,
}
