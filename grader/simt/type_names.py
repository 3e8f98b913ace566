"""The names that numba (0.68), numba-cuda (0.30) and NumPy have for types of numbers, and their codes.

What ``from MODULE import *`` brings is here too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from grader.simt.cuda_names import MODULE

# After each code the names of its type: those of numba and numba.cuda, and those of numba.types alone.
_NUMBA = {
    "?": ("b1 bool bool_ boolean", "c_bool np_bool_ py_bool"),
    "b": ("char i1 int8", "c_int8 np_char np_int8"),
    "h": ("i2 int16 short", "c_int16 np_int16 np_short"),
    "i": ("i4 int32 intc", "c_int32 np_int32 np_intc"),
    "q": (
        "i8 int64 int_ intp long_ longlong ssize_t",
        "c_int64 c_intp np_int64 np_int_ np_intp np_long np_longlong py_int",
    ),
    "B": ("byte u1 uchar uint8", "c_uint8 np_uchar np_uint8"),
    "H": ("u2 uint16 ushort", "c_uint16 np_uint16 np_ushort"),
    "I": ("u4 uint32 uintc", "c_uint32 np_uint32 np_uintc"),
    "Q": (
        "size_t u8 uint uint64 uintp ulong ulonglong",
        "c_uint64 c_uintp np_uint np_uint64 np_uintp np_ulong np_ulonglong",
    ),
    "e": ("", "c_float16 f2 float16 np_float16"),
    "f": ("f4 float32", "c_float32 np_float32 np_float_"),
    "d": ("double f8 float64", "c_float64 np_double np_float64 py_float"),
    "F": ("c8 complex64", "np_complex64"),
    "D": ("c16 complex128", "np_complex128 py_complex"),
}
#: The codes of the types that ``numba`` and ``numba.cuda`` name.
NUMBA = {name: code for code, (names, _) in _NUMBA.items() for name in names.split()}
#: The codes of the types that ``numba.types`` names.
NUMBA_TYPES = NUMBA | {name: code for code, (_, names) in _NUMBA.items() for name in names.split()}
_NUMPY = (
    "bool bool_ byte cdouble complex128 complex64 csingle double float16 float32 float64 half int16 int32 "
    "int64 int8 int_ intc intp long longlong short single ubyte uint uint16 uint32 uint64 uint8 uintc "
    "uintp ulong ulonglong ushort"
)


def _code(dtype: np.dtype[Any]) -> str:
    """The character of a type, with one letter for each width."""
    return {"l": "q", "L": "Q"}.get(dtype.char, dtype.char)


#: The codes of the types that this NumPy names.
NUMPY = {name: _code(np.dtype(getattr(np, name))) for name in _NUMPY.split() if hasattr(np, name)}
# numba itself lacks some of these names (float16): that import fails before any kernel is compiled.
_MODULES = {"numba": NUMBA_TYPES, "numba.types": NUMBA_TYPES, "numpy": NUMPY}
#: Modules that hold the very objects of another.
_SAME = {"numba.core.types": "numba.types", "numba.cuda.types": "numba.types", "numba.cuda.np": "numpy"}
_LONGEST = 16


def same_path(path: str) -> str:
    """The first of the paths of one thing: ``numba.float32`` of ``numba.cuda.types.float32``.

    The types of CuPy are those of NumPy.
    """
    for module, same in _SAME.items():
        if path == module or path.startswith(f"{module}."):
            path = same + path[len(module) :]
    module, _, name = path.rpartition(".")
    if module in ("numba.types", "numba.cuda") and name in NUMBA:
        return f"numba.{name}"
    return f"numpy.{name}" if module == "cupy" and name in NUMPY else path


def code_of_path(path: str) -> str | None:
    """The code of the type at a dotted path, such as ``numba.float32``; None where no type of numbers is."""
    module, _, name = path.rpartition(".")
    return _MODULES.get(module, {}).get(name)


def code_of_text(text: str) -> str | None:
    """The code of the type that a text names, which numba has NumPy read: ``"f4"``, ``"float32"``."""
    try:
        dtype = np.dtype(text) if len(text) <= _LONGEST else None
    except TypeError:
        return None
    if dtype is None or dtype.fields or dtype.subdtype or not dtype.isnative:
        return None
    return _code(dtype) if dtype.kind in "?biufc" and dtype.char not in "gG" else None


_NUMBA_STAR = (
    "ByteCodeSupportError CompilerError ConstantInferenceError DeprecationError ForbiddenConstruct "
    "ForceLiteralArg IRError InternalError InternalTargetMismatchError LiteralTypingError LoweringError "
    "NonexistentTargetError NotDefinedError NumbaAssertionError NumbaAttributeError NumbaDebugInfoWarning "
    "NumbaDeprecationWarning NumbaError NumbaExperimentalFeatureWarning NumbaIRAssumptionWarning "
    "NumbaIndexError NumbaInvalidConfigWarning NumbaKeyError NumbaNotImplementedError "
    "NumbaParallelSafetyWarning NumbaPedanticWarning NumbaPendingDeprecationWarning "
    "NumbaPerformanceWarning NumbaRuntimeError NumbaSystemWarning NumbaTypeError NumbaTypeSafetyWarning "
    "NumbaValueError NumbaWarning RedefinedError RequireLiteralValue TypingError UnsupportedBytecodeError "
    "UnsupportedError UnsupportedParforsError UnsupportedRewriteError UntypedAttributeError "
    "VerificationError cfunc deferred_type experimental ffi ffi_forced_object from_dtype gdb "
    "gdb_breakpoint gdb_init get_num_threads get_parallel_chunksize guvectorize jit jit_module "
    "literal_unroll njit none objmode optional parallel_chunksize prange set_num_threads "
    "set_parallel_chunksize stencil typeof vectorize void"
)
_TYPES_STAR = "deferred_type ffi ffi_forced_object none optional void"
#: What a star brings from each module: not ``cuda`` from numba, which lists its names.
STARS: dict[str, frozenset[str]] = {
    "numba": frozenset(_NUMBA_STAR.split()) | frozenset(NUMBA),
    "numba.types": frozenset(_TYPES_STAR.split()) | frozenset(NUMBA),
    "numba.cuda": MODULE,
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
    "numpy": frozenset(np.__all__),
}


def starred(module: str) -> tuple[frozenset[str], bool]:
    """The names that ``from module import *`` brings, and whether these are all."""
    known = STARS.get(same_path(module))
    return known or frozenset(), known is not None and module != "numba.cuda.types"
