"""What the compiler knows while it turns one function's AST into closures."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from grader.records import Fact, Finding, Span
from grader.simt.evidence import Site
from grader.simt.host import Function, Interpreter, Path, Unknown
from grader.simt.host_values import ANY_NAME
from grader.simt.machine import Machine, Stop
from grader.simt.mask import DEAD, Active
from grader.simt.program import Program
from grader.simt.types import (
    Kind,
    Scalar,
    plain,
    unify,
)


class Frame:
    """The variables of one function's execution: values, and the threads for which each is defined."""

    __slots__ = ("arrays", "broken", "continued", "defined", "left", "mc", "returned", "values")

    def __init__(self, mc: Machine, size: int) -> None:
        self.mc = mc
        self.values: list[Any] = [UNSET] * size
        self.defined: list[Active] = [None] * size
        self.returned: list[tuple[Any, Any]] = []
        self.broken: list[Any] = []
        self.continued: list[Any] = []
        self.left: Any = DEAD
        self.arrays: dict[int, Any] = {}


class _Unset:
    __slots__ = ()


UNSET = _Unset()
Run = Callable[[Frame, Active], Any]


class Typed(NamedTuple):
    """A compiled expression: its type and the closure that gives its value."""

    kind: Kind
    run: Run


@dataclass(eq=False)
class Kernel:
    """Facts shared by a kernel and the device functions it reaches."""

    program: Program
    traced: bool = False
    sites: list[Site] = field(default_factory=list)
    idents: dict[Any, int] = field(default_factory=dict)
    shared_bytes: list[int] = field(default_factory=list)
    shared_spans: list[Span] = field(default_factory=list)
    local_bytes: int = 0
    notes: dict[Any, Finding] = field(default_factory=dict)
    stores: set[int] = field(default_factory=set)
    guarded_stores: set[str] = field(default_factory=set)
    divisors: set[int] = field(default_factory=set)
    dynamic_codes: set[str] = field(default_factory=set)
    fences: list[int] = field(default_factory=list)
    counters: list[int] = field(default_factory=list)
    grid_sync: bool = False
    proxied: bool = False
    device_stack: tuple[str, ...] = ()
    statements: int = 0
    devices: list[Function] = field(default_factory=list)


@dataclass(eq=False)
class LoopExits:
    """Types of the variables at each ``break`` and ``continue`` of the loop being compiled."""

    target: dict[str, Kind]
    kinds: list[dict[str, Kind]] = field(default_factory=list)


@dataclass(eq=False)
class Context:
    """One function being compiled. ``kinds`` holds the type of each variable at this point.

    ``earlier`` holds the last type of every variable that the text has set so far, on this path or
    another; ``made`` what was built from a node, for a loop's body is compiled more than once.
    ``steady`` says that all threads which have not returned run this statement together, ``covered``
    which elements both sides of a condition store.
    """

    kernel: Kernel
    function: Function
    locals: frozenset[str]
    slots: dict[tuple[str, str], int] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    statics: dict[Any, Typed] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    exits: list[LoopExits] = field(default_factory=list)
    guard: ast.expr | None = None
    covered: frozenset[str] = frozenset()
    steady: bool = True
    update: int = -1
    is_device: bool = False
    returns: list[Kind] = field(default_factory=list)
    origins: dict[str, ast.AST] = field(default_factory=dict)
    target_name: str = ""
    earlier: dict[str, Kind] = field(default_factory=dict)
    made: dict[ast.AST, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the function's parameters."""
        return tuple(arg.arg for arg in self.function.node.args.args)

    @property
    def program(self) -> Program:
        """The text that the function stands in."""
        return self.kernel.program

    # -- findings ----------------------------------------------------------------------------

    def fail(self, node: ast.AST, rule: str, /, **facts: Fact) -> NoReturn:
        """Stop with a ``type-error``: numba would refuse this."""
        self.stop(node, "type-error", rule=rule, **facts)

    def unsupported(self, node: ast.AST, construct: str = "") -> NoReturn:
        """Stop because the machine does not follow this construct."""
        self.stop(node, "unsupported-construct", construct=construct or type(node).__name__)

    def stop(self, node: ast.AST, name: str, /, **facts: Fact) -> NoReturn:
        """Stop with a finding at a node."""
        raise Stop(Finding(name, "error", primary=self.program.span(node), facts=facts))

    def note(self, key: Any, finding: Finding) -> None:
        """Keep a compile-time note, once."""
        self.kernel.notes.setdefault(key, finding)

    def site(self, node: ast.AST, array: str = "", space: str = "", itemsize: int = 4) -> Site:
        """A new place for evidence to point at."""
        guard = self.program.span(self.guard) if self.guard is not None else None
        span = self.program.span(node)
        ident = self.kernel.idents.setdefault((span, array), len(self.kernel.idents))
        site = Site(ident, span, array, space, guard, self.update, itemsize)
        self.kernel.sites.append(site)
        return site

    # -- names -------------------------------------------------------------------------------

    def slot(self, name: str, kind: Kind) -> int:
        """Where a frame keeps a variable while it has this type.

        A variable that changes its type has a slot for each, as numba gives each version of a
        variable its own type; where paths meet, the value is converted from slot to slot.
        """
        key = (name, kind.code if isinstance(kind, Scalar) else type(kind).__name__)
        return self.slots.setdefault(key, len(self.slots))

    def alias(self, name: str) -> str:
        """The kernel's own name for an array that a device function knows by a parameter's name."""
        return self.aliases.get(name, name)

    def host_value(self, node: ast.Name) -> Any:
        """What a free name of the function holds."""
        for scope in self.function.scopes:
            if node.id in scope:
                found = scope[node.id]
                if isinstance(found, Unknown):
                    self.stop(node, "unsupported-construct", construct="unknown-value", name=node.id)
                return found
        if node.id in BUILTIN_NAMES:
            return Path(node.id)
        if any(ANY_NAME in scope for scope in self.function.scopes):
            self.stop(node, "unsupported-construct", construct="unknown-value", name=node.id)
        return self.fail(node, "unknown-name", name=node.id)

    def interpreter(self) -> Interpreter:
        """The scalar interpreter over the function's own scopes."""
        return Interpreter(self.function.scopes)


_BUILTINS = (
    "range len min max abs int float bool round print complex pow sum tuple list enumerate zip divmod",
    "isinstance slice all any map filter sorted reversed str object type set dict hash",
    "iter next getattr hasattr chr ord repr",
)
BUILTIN_NAMES = frozenset(name for words in _BUILTINS for name in words.split())


def join_kinds(left: dict[str, Kind], right: dict[str, Kind]) -> dict[str, Kind]:
    """Types of variables after two paths meet.

    One that only one path sets keeps its type, but no literal value: it has to be read, so that a
    thread that never set it is found.
    """
    merged = {name: kind if name in right else plain(kind) for name, kind in left.items()}
    for name, kind in right.items():
        merged[name] = unify(left[name], kind) if name in left else plain(kind)
    return merged
