"""The scalar interpreter for what surrounds a kernel: constants, factories, ``launch_config``.

A submission's module is never executed by Python. This interpreter walks it, keeps the names that
plain scalar code gives, and marks everything that it cannot follow as :class:`Unknown`. It has no
access to files, attributes of live objects or imports, and every evaluation is bounded in steps
and in the size of its numbers.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.records import Span

MAX_BITS = 4096
MAX_ITEMS = 100_000
MAX_DEPTH = 60
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
    argument, where it has one.
    """

    node: ast.FunctionDef
    scopes: tuple[dict[str, Any], ...]
    jit: str = ""
    device: bool = False
    signature: ast.expr | None = None


@dataclass(slots=True)
class Budget:
    """Steps that are left to an evaluation."""

    steps: int = 200_000
    depth: int = 0

    def spend(self, node: ast.AST, steps: int = 1) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise HostError(node, "did-not-finish")


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


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


@dataclass(slots=True)
class Interpreter:
    """Evaluates expressions and statements over a chain of scopes, innermost first."""

    scopes: tuple[dict[str, Any], ...]
    budget: Budget = field(default_factory=Budget)

    # -- expressions -------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """The value of an expression; :class:`HostError` where it cannot be known."""
        self.budget.spend(node)
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise HostError(node, "unsupported-construct", type(node).__name__)
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        for scope in self.scopes:
            if node.id in scope:
                found = scope[node.id]
                if isinstance(found, Unknown):
                    raise HostError(node, "unknown-value", node.id)
                return found
        if node.id in _BUILTINS:
            return Path(node.id)
        raise HostError(node, "unknown-name", node.id)

    def _tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def _list(self, node: ast.List) -> Any:
        return list(self._items(node.elts))

    def _dict(self, node: ast.Dict) -> Any:
        keys = [self.value(key) for key in node.keys if key is not None]
        if len(keys) != len(node.keys):
            raise HostError(node, "unsupported-construct", "**")
        try:
            return dict(zip(keys, (self.value(value) for value in node.values), strict=True))
        except TypeError as error:
            raise HostError(node, "type-error", str(error)) from None

    def _items(self, nodes: list[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self._iterate(node.value)
            else:
                yield self.value(node)

    def _iterate(self, node: ast.expr) -> list[Any]:
        items = self.value(node)
        if not isinstance(items, tuple | list | range | str) or len(items) > MAX_ITEMS:
            raise HostError(node, "unsupported-construct", "iteration")
        return list(items)

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Path):
            return _path_value(f"{owner.name}.{node.attr}")
        raise HostError(node, "unknown-attribute", node.attr)

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if not isinstance(owner, tuple | list | dict | str | range):
            raise HostError(node, "unsupported-construct", "subscript")
        index = self._slice(node.slice) if isinstance(node.slice, ast.Slice) else self.value(node.slice)
        return self._guarded(node, lambda: owner[index])

    def _slice(self, node: ast.Slice) -> slice:
        low, high, step = (part and self.value(part) for part in (node.lower, node.upper, node.step))
        return slice(low, high, step)

    def _binop(self, node: ast.BinOp) -> Any:
        return self.operate(node, node.op, self.value(node.left), self.value(node.right))

    def operate(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        """``left op right`` within the bounds on sizes."""
        function = _BINARY.get(type(op))
        if function is None or not (_is_plain(left) and _is_plain(right)):
            raise HostError(node, "unsupported-construct", type(op).__name__)
        if isinstance(op, ast.Pow | ast.LShift) and isinstance(right, int) and abs(right) > MAX_BITS:
            raise HostError(node, "too-large")
        if isinstance(op, ast.Mult) and not (_is_number(left) and _is_number(right)):
            count = left if isinstance(left, int) else right
            if isinstance(count, int) and count > MAX_ITEMS:
                raise HostError(node, "too-large")
        result = self._guarded(node, lambda: function(left, right))
        if isinstance(result, int) and result.bit_length() > MAX_BITS:
            raise HostError(node, "too-large")
        return result

    def _guarded(self, node: ast.AST, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except (ArithmeticError, TypeError, ValueError, LookupError) as error:
            raise HostError(node, "host-error", f"{type(error).__name__}: {error}") from None

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not operand
        return self._guarded(node, lambda: _UNARY[type(node.op)](operand))

    def _boolop(self, node: ast.BoolOp) -> Any:
        result: Any = None
        for part in node.values:
            result = self.value(part)
            if bool(result) == isinstance(node.op, ast.Or):
                return result
        return result

    def _compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            compare = _COMPARE.get(type(op))
            if compare is None:
                raise HostError(node, "unsupported-construct", type(op).__name__)
            if not self._guarded(node, lambda f=compare, a=left, b=right: f(a, b)):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        arguments = list(self._items(node.args))
        keywords = {word.arg: self.value(word.value) for word in node.keywords if word.arg}
        if isinstance(function, Function):
            return self.call(node, function, arguments, keywords)
        if isinstance(function, Path):
            if function.name in JIT_PATHS and arguments and isinstance(arguments[0], Function):
                return _jitted(arguments[0], function.name, keywords)
            if function.name in _TABLES:
                return self._table(node, function.name, arguments, keywords)
            known = _BUILTINS.get(function.name)
            if known is not None and not keywords:
                for argument in arguments:
                    if isinstance(argument, Function | Path):
                        raise HostError(node, "unsupported-construct", function.name)
                    if isinstance(argument, range) and len(argument) > MAX_ITEMS:
                        raise HostError(node, "too-large")
                return self._guarded(node, lambda: known(*arguments))
        raise HostError(node, "unsupported-call", ast.unparse(node.func)[:80])

    def _table(self, node: ast.AST, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """A NumPy array made from plain values: a table that kernels read as a constant."""
        dtype = keywords.pop("dtype", None)
        if dtype is None and path in ("numpy.array", "numpy.asarray") and len(arguments) == 2:
            dtype = arguments.pop()
        if isinstance(dtype, Path):
            dtype = dtype.name.rsplit(".", 1)[1]
        if keywords or not all(_is_plain(argument) for argument in arguments):
            raise HostError(node, "unsupported-call", path)
        make = _TABLES[path]
        if path in ("numpy.zeros", "numpy.ones", "numpy.full", "numpy.arange", "numpy.eye", "numpy.linspace"):
            flat = [n for a in arguments for n in (a if isinstance(a, tuple | list) else (a,))]
            if any(isinstance(n, int | float) and abs(n) > MAX_ITEMS for n in flat):
                raise HostError(node, "too-large")
        array = self._guarded(node, lambda: make(*arguments) if dtype is None else make(*arguments, dtype=dtype))
        if array.dtype.hasobject or array.size > MAX_ITEMS:
            raise HostError(node, "unsupported-call", path)
        return array

    def call(
        self, node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Call a plain function of the submission with plain values."""
        if function.jit:
            raise HostError(node, "unsupported-call", function.node.name)
        if self.budget.depth >= MAX_DEPTH:
            raise HostError(node, "did-not-finish")
        local = self._bind(node, function, arguments, keywords)
        inner = Interpreter((local, *function.scopes), self.budget)
        self.budget.depth += 1
        try:
            inner.run(function.node.body)
        except _Return as result:
            return result.value
        finally:
            self.budget.depth -= 1
        return None

    def _bind(
        self, node: ast.AST, function: Function, arguments: list[Any], keywords: Mapping[str, Any]
    ) -> dict[str, Any]:
        spec = function.node.args
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        if spec.vararg or spec.kwarg or len(arguments) > len(names):
            raise HostError(node, "argument-count", function.node.name)
        local = dict(zip(names, arguments, strict=False))
        for name, value in keywords.items():
            if name in local or name not in names:
                raise HostError(node, "argument-count", function.node.name)
            local[name] = value
        defaults = dict(zip(reversed(names), reversed(spec.defaults), strict=False))
        for name in names:
            if name not in local:
                if name not in defaults:
                    raise HostError(node, "argument-count", function.node.name)
                local[name] = Interpreter(function.scopes, self.budget).value(defaults[name])
        return local

    # -- statements --------------------------------------------------------------------------

    def run(self, body: list[ast.stmt]) -> None:
        """Execute statements strictly: whatever cannot be followed raises :class:`HostError`."""
        for statement in body:
            self.budget.spend(statement)
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign() if node.value is not None:
                self.assign(node.target, self.value(node.value))
            case ast.AugAssign(target=ast.Name() as name):
                self.assign(
                    name, self.operate(node, node.op, self._name(_loaded(name)), self.value(node.value))
                )
            case ast.FunctionDef():
                self.scopes[0][node.name] = self.define(node)
            case ast.Return():
                raise _Return(None if node.value is None else self.value(node.value))
            case ast.If():
                self.run(node.body if self.value(node.test) else node.orelse)
            case ast.For():
                self._for(node)
            case ast.While():
                self._while(node)
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Import() | ast.ImportFrom():
                bind_import(node, self.scopes[0])
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.AnnAssign():
                pass
            case ast.Assert():
                if not self.value(node.test):
                    raise HostError(node, "assertion-failed")
            case _:
                raise HostError(node, "unsupported-construct", type(node).__name__)

    def _for(self, node: ast.For) -> None:
        for item in self._iterate(node.iter):
            self.budget.spend(node)
            self.assign(node.target, item)
            try:
                self.run(node.body)
            except _Continue:
                continue
            except _Break:
                return
        self.run(node.orelse)

    def _while(self, node: ast.While) -> None:
        while self.value(node.test):
            try:
                self.run(node.body)
            except _Continue:
                continue
            except _Break:
                return
        self.run(node.orelse)

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a name, or the names of a tuple, in the innermost scope."""
        if isinstance(target, ast.Name):
            self.scopes[0][target.id] = value
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple | list):
            if len(target.elts) != len(value):
                raise HostError(target, "unpack-count")
            for part, item in zip(target.elts, value, strict=True):
                self.assign(part, item)
        else:
            raise HostError(target, "unsupported-construct", "assignment")

    def define(self, node: ast.FunctionDef) -> Function:
        """The function that a ``def`` makes, with its jit decorator recognised."""
        function = Function(node, self.scopes)
        for decorator in reversed(node.decorator_list):
            call = decorator if isinstance(decorator, ast.Call) else None
            path = self._decorator_path(call.func if call else decorator)
            if path in JIT_PATHS:
                function = _jitted(function, path, {w.arg: w.value for w in call.keywords} if call else {})
                function.signature = call.args[0] if call and call.args else None
        return function

    def _decorator_path(self, node: ast.expr) -> str:
        try:
            found = self.value(node)
        except HostError:
            return ""
        return found.name if isinstance(found, Path) else ""


def _jitted(function: Function, path: str, keywords: Mapping[Any, Any]) -> Function:
    flag = keywords.get("device", False)
    device = flag.value is True if isinstance(flag, ast.Constant) else flag is True
    return Function(function.node, function.scopes, path, device or path != "numba.cuda.jit")


def _loaded(name: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(name.id, ast.Load()), name)


def bind_import(node: ast.Import | ast.ImportFrom, scope: dict[str, Any]) -> None:
    """Bind imported names to their dotted paths; nothing is imported."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            scope[alias.asname or alias.name] = _path_value(f"{node.module or ''}.{alias.name}")
        elif alias.asname:
            scope[alias.asname] = Path(alias.name)
        else:
            root = alias.name.split(".")[0]
            scope[root] = Path(root)


def _path_value(path: str) -> Any:
    """Constants of ``math`` and NumPy are values; every other dotted name stays a path."""
    path = path.replace("numba.types.", "numba.").replace("numba.core.types.", "numba.")
    return _CONSTANTS.get(path, Path(path))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex | np.generic)


def _is_plain(value: object) -> bool:
    return _is_number(value) or isinstance(value, tuple | list | str)


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
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b if _is_number(a) else _refuse(),
    ast.Pow: lambda a, b: a**b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: lambda a: -a,
    ast.UAdd: lambda a: +a,
    ast.Invert: lambda a: ~a,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


_TABLES: dict[str, Callable[..., Any]] = {
    f"numpy.{name}": getattr(np, name)
    for name in ("array", "asarray", "zeros", "ones", "full", "arange", "eye", "linspace")
}


def _refuse() -> Any:
    raise TypeError("formatting")


_BUILTINS: dict[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "abs": abs,
    "min": min,
    "max": max,
    "len": len,
    "round": round,
    "range": range,
    "tuple": tuple,
    "list": list,
    "sum": sum,
    "divmod": divmod,
    "sorted": sorted,
    "reversed": lambda items: list(reversed(items)),
    "enumerate": lambda items: list(enumerate(items)),
    "zip": lambda *parts: list(zip(*parts, strict=False)),
    **{
        f"math.{name}": getattr(math, name)
        for name in ("ceil", "floor", "sqrt", "log2", "log", "exp", "gcd", "trunc", "prod", "isqrt", "fabs")
    },
    **{
        f"{module}.{name}": getattr(np, name)
        for module in ("numpy", "numba")
        for name in (
            "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
        )
    },
    "numpy.ceil": lambda value: float(math.ceil(value)),
    "numpy.floor": lambda value: float(math.floor(value)),
}
