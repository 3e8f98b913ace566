"""The types that numba-cuda would infer, as far as kernels use them.

Scalars are named by NumPy's type character, so ``np.dtype(kind.code)`` is the dtype of every
array that holds values of that type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from grader.simt.typing_table import TABLE

NAMES = {
    "?": "bool",
    "b": "int8",
    "h": "int16",
    "i": "int32",
    "q": "int64",
    "B": "uint8",
    "H": "uint16",
    "I": "uint32",
    "Q": "uint64",
    "e": "float16",
    "f": "float32",
    "d": "float64",
    "F": "complex64",
    "D": "complex128",
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number. ``literal`` is its value where the compiler knows it, as numba's literal types do."""

    code: str
    literal: int | None = None

    @property
    def name(self) -> str:
        """What findings call the type."""
        return NAMES[self.code]

    @property
    def is_int(self) -> bool:
        """Whether it is a whole number or a bool."""
        return self.code in "?bhiqBHIQ"

    @property
    def is_float(self) -> bool:
        """Whether it is a real floating-point number."""
        return self.code in "efd"

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex number."""
        return self.code in "FD"


@dataclass(frozen=True, slots=True)
class Array:
    """An array: element code, number of dimensions, memory space. ``ident`` tells arrays apart."""

    code: str
    ndim: int
    space: str
    ident: int = -1

    @property
    def name(self) -> str:
        """What findings call the type."""
        return f"array({NAMES[self.code]}, {self.ndim}d)"


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of types; a list literal has this type too, with ``is_list`` set.

    ``fields`` names the items of a named tuple.
    """

    items: tuple[Kind, ...]
    is_list: bool = False
    fields: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What findings call the type."""
        return "tuple"


@dataclass(frozen=True, slots=True)
class Space:
    """A module, function or type that only has meaning to the compiler, by its dotted path."""

    path: str

    @property
    def name(self) -> str:
        """What findings call the type."""
        return self.path


@dataclass(frozen=True, slots=True)
class Device:
    """A device function of the submission; ``ident`` finds its definition."""

    ident: int
    label: str

    @property
    def name(self) -> str:
        """What findings call the type."""
        return "function"


@dataclass(frozen=True, slots=True)
class Text:
    """A string literal: only good for ``print`` and as a dtype."""

    value: str

    @property
    def name(self) -> str:
        """What findings call the type."""
        return "str"


@dataclass(frozen=True, slots=True)
class NoneKind:
    """The type of ``None`` and of a call that gives nothing."""

    @property
    def name(self) -> str:
        """What findings call the type."""
        return "none"


@dataclass(frozen=True, slots=True)
class Clash:
    """What a variable has after paths that give it types without a common one; an error if read."""

    left: Kind
    right: Kind

    @property
    def name(self) -> str:
        """What findings call the type."""
        return "clash"


Kind = Scalar | Array | Tuple | Space | Device | Text | NoneKind | Clash

ANY_ARRAY = -2
CONSTANT_ARRAY = -5
BOOL = Scalar("?")
INT32 = Scalar("i")
INT64 = Scalar("q")
FLOAT32 = Scalar("f")
FLOAT64 = Scalar("d")
NONE = NoneKind()


def literal(value: int) -> Scalar:
    """The type of an integer the compiler knows."""
    return Scalar("q" if -(2**63) <= value < 2**63 else "Q", value)


def plain(kind: Kind) -> Kind:
    """``kind`` without its literal value."""
    if isinstance(kind, Scalar) and kind.literal is not None:
        return Scalar(kind.code)
    return kind


@cache
def signature(operator: str, *codes: str) -> tuple[tuple[str, ...], str] | None:
    """Codes that the operands are converted to, and the code of the result; None where numba refuses."""
    entry = _entries(operator).get("".join(codes))
    return (tuple(entry[:-1]), entry[-1]) if entry else None


@cache
def _entries(operator: str) -> dict[str, str]:
    words = TABLE[operator].split()
    return {word[: word.index(":")]: word[word.index(":") + 1 :] for word in words}


def unify(left: Kind, right: Kind) -> Kind:
    """The type of a variable that comes from either of two paths."""
    if left == right or isinstance(left, Clash):
        return left
    if isinstance(right, Clash):
        return right
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return Scalar(np.promote_types(left.code, right.code).char.replace("l", "q").replace("L", "Q"))
    if isinstance(left, Array) and isinstance(right, Array):
        alike = (left.code, left.ndim, left.space) == (right.code, right.ndim, right.space)
        return Array(left.code, left.ndim, left.space, ANY_ARRAY) if alike else Clash(left, right)
    if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) == len(right.items):
        return Tuple(tuple(unify(a, b) for a, b in zip(left.items, right.items, strict=True)))
    return Clash(left, right)
