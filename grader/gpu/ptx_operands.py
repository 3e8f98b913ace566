"""What the code of ``grader.gpu.ptx`` is made with: a call's operands, and inline PTX on them."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.cuda.core.errors import TypingError

I32, I64, F32 = ir.IntType(32), ir.IntType(64), ir.FloatType()
SHARED = 3  # number of the shared address space in NVVM IR


def require_arrays(name: str, bits: int, *arrays: Any, alike: bool = False) -> None:
    """TypingError unless all are C-contiguous arrays of elements of so many bits (and of one type)."""
    for array in arrays:
        if not isinstance(array, types.Array) or array.layout != "C" or array.dtype.bitwidth != bits:
            raise TypingError(f"{name}: {array} is no C-contiguous array of {bits}-bit elements")
    if alike and len({array.dtype for array in arrays}) > 1:
        raise TypingError(f"{name}: elements are {' and '.join(str(array.dtype) for array in arrays)}")


class Operands:
    """The operands of one call while code is generated for it.

    Operand k, where it is an array, and operand k + 1, its flat offset, name an element.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self._context, self._builder, self._types, self._args = context, builder, signature.args, args

    def integer(self, k: int, to: Any = types.int32) -> Any:
        """An integer operand as an i32 (or i64)."""
        return self._context.cast(self._builder, self._args[k], self._types[k], to)

    def address(self, k: int) -> Any:
        """A pointer to the element, of its own type."""
        return self._builder.gep(self._data(k), [self.integer(k + 1, types.int64)])

    def address_of_vector(self, k: int, count: int) -> Any:
        """A pointer to so many elements that begin there, as one vector."""
        pointer = self.address(k)
        return self._builder.bitcast(pointer, ir.PointerType(ir.VectorType(pointer.type.pointee, count)))

    def global_address(self, k: int) -> Any:
        """The element's address as an i64, which in global memory is the generic one."""
        return self._builder.ptrtoint(self.address(k), I64)

    def shared_address(self, k: int, offset: int | None = None) -> Any:
        """The element's address within shared memory, an i32; the offset may be another operand."""
        data = self._data(k)
        window = self._builder.addrspacecast(data, ir.PointerType(data.type.pointee, SHARED))
        base = self._builder.trunc(self._builder.ptrtoint(window, I64), I32)
        width = ir.Constant(I32, self._types[k].dtype.bitwidth // 8)
        return self._builder.add(
            base, self._builder.mul(self.integer(k + 1 if offset is None else offset), width)
        )

    def load(self, pointer: Any, count: int) -> list[Any]:
        """So many neighbouring elements, one by one, so that registers stay registers."""
        return [self._builder.load(self._element(pointer, e)) for e in range(count)]

    def store(self, pointer: Any, values: list[Any]) -> None:
        """The same the other way."""
        for e, value in enumerate(values):
            self._builder.store(value, self._element(pointer, e))

    def assemble(self, code: str, result: Any, constraints: str, *values: Any, pure: bool = False) -> Any:
        """Inline PTX. Unless it is pure, it keeps its place among accesses to memory."""
        kind = ir.FunctionType(result, [value.type for value in values])
        constraints += "" if pure else ",~{memory}" if constraints else "~{memory}"
        return self._builder.call(ir.InlineAsm(kind, code, constraints, side_effect=not pure), values)

    def parts(self, results: Any, count: int) -> list[Any]:
        """The values that inline PTX with several results gave."""
        return [self._builder.extract_value(results, e) for e in range(count)]

    def nothing(self) -> Any:
        """The result of a call that has none."""
        return self._context.get_dummy_value()

    def _data(self, k: int) -> Any:
        return self._context.make_array(self._types[k])(self._context, self._builder, self._args[k]).data

    def _element(self, pointer: Any, e: int) -> Any:
        return self._builder.gep(pointer, [ir.Constant(I32, e)])
