"""Wording for type errors about values: what may be indexed, assigned, returned, walked over."""

from __future__ import annotations

from collections.abc import Callable

from grader.diagnosis.type_parts import Parts, Rule


def _unset_variable(p: Parts) -> Rule:
    return (
        f"{p.name} is read above every line that sets it",
        "nothing has set it yet",
        "the compiler reads a kernel from top to bottom and has to know a variable's type where it is used",
        f"which line gives {p.name} its first value?",
        f"set {p.name} before the code{p.at}",
    )


def _plain_function(p: Parts) -> Rule:
    return (
        f"{p.name} is an ordinary Python function",
        "not compiled for the GPU",
        "a kernel may call only functions that are compiled with it",
        f"how does the compiler learn that {p.name} is needed on the GPU?",
        f"decorate {p.name} with `@cuda.jit(device=True)`",
    )


def _operand_type(p: Parts) -> Rule:
    return (
        f"{p.code} cannot be computed: its operands are {p.got or 'of types that do not fit'}",
        "no operation for these types",
        "each operator works on the types that the compiler has a machine instruction for",
        "what type does each operand have?",
        f"change an operand{p.at}, so that both are numbers that the operator takes",
    )


def _in_place_division(p: Parts) -> Rule:
    return (
        f"{p.code} cannot be compiled: {p.name} is a whole number, and `/` gives a float",
        "`/=` of whole numbers",
        "numba-cuda keeps the type of what stands before `/=` where both sides are whole numbers, and then "
        "cannot store the quotient in it",
        "is a whole number wanted here, or a fraction?",
        f"write `//=` for a whole number, or {p.name} `=` the quotient for a fraction{p.at}",
    )


def _index_type(p: Parts) -> Rule:
    return (
        f"an index in {p.code} is {p.got or 'no whole number'}",
        "not a whole number",
        "an index must be an integer; `/` gives a float, and so do `math.ceil` and `math.floor` in a kernel",
        "which operation gives a whole number here?",
        f"use `//` or `int(...)` for the index{p.at}",
    )


def _not_indexable(p: Parts) -> Rule:
    return (
        f"{p.code} takes an element of {p.got or 'a value'}, which has none",
        "not an array",
        "only arrays and tuples have elements",
        "what does the name before the brackets hold?",
        f"take the element from an array or a tuple{p.at}",
    )


def _not_iterable(p: Parts) -> Rule:
    return (
        f"a loop cannot walk over {p.code}, which is {p.got or 'a single value'}",
        "nothing to walk over",
        "a loop walks over a range, a tuple or an array",
        "how many times should the loop run?",
        f"walk over `range(...)`{p.at}",
    )


def _tuple_index(p: Parts) -> Rule:
    return (
        f"{p.code} has no such item: the tuple has {p.wanted or 'other'} items",
        "no such item",
        "where the items differ in type, which of them is taken has to be known when the kernel is compiled",
        "how many items does the tuple have?",
        f"take an item that exists, by a constant number{p.at}",
    )


def _unpack_count(p: Parts) -> Rule:
    return (
        f"{p.got or 'a value'} is unpacked into {p.wanted or 'another number of'} names",
        "the number of names",
        "a tuple is unpacked into exactly as many names as it has items",
        "how many values does the right side have?",
        f"write as many names as values{p.at}",
    )


def _immutable_tuple(p: Parts) -> Rule:
    return (
        f"{p.name} is a tuple, and its items cannot be changed",
        "a tuple cannot be changed",
        "a tuple keeps the items that it was made with",
        "does this have to be an array?",
        f"make a new tuple, or use `cuda.local.array`{p.at}",
    )


def _readonly_array(p: Parts) -> Rule:
    return (
        f"{p.name} is constant memory and cannot be written",
        "a constant array",
        "an array of the module is copied into the kernel as a constant when it is compiled",
        "where should the result go?",
        f"pass the array as an argument, and write to that{p.at}",
    )


def _element_type(p: Parts) -> Rule:
    return (
        f"{p.got or 'this value'} cannot be stored in an array of {p.wanted or 'another type'}",
        "the wrong type of value",
        "an element holds one number of its array's type",
        "what is the value's type, and what is the array's?",
        f"store a number{p.at}",
    )


def _array_assignment(p: Parts) -> Rule:
    return (
        f"{p.name} cannot be given a whole array at once",
        "an array on the right side",
        "inside a kernel an array is copied element by element; a slice takes a single number",
        "which thread should copy which element?",
        f"copy the elements in a loop, or one in each thread{p.at}",
    )


def _kernel_returns_value(p: Parts) -> Rule:
    return (
        "a kernel cannot return a value",
        "a kernel returns nothing",
        "thousands of threads run the kernel at once; its results are what they store in arrays",
        "where does the caller look for the result?",
        f"store the value in an array that is passed to the kernel, and write `return` alone{p.at}",
    )


def _grid_dimension(p: Parts) -> Rule:
    return (
        f"{p.code} needs the number 1, 2 or 3",
        "not a constant number of dimensions",
        "how many values `cuda.grid` gives has to be known when the kernel is compiled",
        "how many dimensions does the grid have?",
        f"write `cuda.grid(1)`, `cuda.grid(2)` or `cuda.grid(3)`{p.at}",
    )


def _dtype(p: Parts) -> Rule:
    return (
        f"{p.got or p.code} is no type of array elements",
        "not a type",
        "an array's element type must be one that the compiler knows, such as `float32`",
        "which type should the elements have?",
        f"write a type of numba or NumPy, such as `float32`{p.at}",
    )


def _half_precision_constant(p: Parts) -> Rule:
    return (
        f"{p.name} is a float16 made outside the kernel, which the compiler does not take",
        "a float16 from outside the kernel",
        "only inside a kernel can a number be made a float16; from the module come numbers of other types",
        "where does the kernel need this number as a float16?",
        f"keep an ordinary number in {p.name}, and call `np.float16` on it in the kernel{p.at}",
    )


def _negative_extent(p: Parts) -> Rule:
    return (
        f"{p.code} declares an array of negative extent",
        "a negative extent",
        "an extent counts elements",
        "how many elements are needed?",
        f"write a number of at least 1{p.at}",
    )


def _non_constant_array(p: Parts) -> Rule:
    return (
        f"{p.code} is no constant array",
        "not a NumPy array of the module",
        "`cuda.const.array_like` copies an array that exists when the kernel is compiled",
        "where is the table made?",
        f"make the table with NumPy at module level, and name it{p.at}",
    )


def _unsupported_python(p: Parts) -> Rule:
    return (
        f"{p.code} has no meaning inside a kernel",
        "Python that the compiler does not take",
        "a kernel is made of assignments, loops, branches and calls; lists, dictionaries, imports, `try` and "
        "`with` need a running Python",
        "how would this be written with numbers and arrays alone?",
        f"write it with variables and arrays{p.at}, or do it on the host",
    )


def _print_argument(p: Parts) -> Rule:
    return (
        f"`print` does not take {p.got or 'this'} inside a kernel",
        "nothing that a kernel prints",
        "inside a kernel `print` takes constant text, real numbers and tuples of numbers, one after another, "
        "and none of its options; it puts a space between them and ends the line",
        "which numbers have to be seen?",
        f"pass `print` texts in quotes and single numbers alone{p.at}",
    )


def _text_of_value(p: Parts) -> Rule:
    return (
        f"{p.name} makes text of a value, which a kernel cannot",
        "text made of a value",
        "the compiler for the GPU knows text that is written out in quotes, and has no way of putting a "
        "value into it; `print` takes constant texts and numbers, one after another",
        "which parts of the text are constant, and which are numbers?",
        f"to print it, pass its parts one after another: {p.wanted}{p.at}",
    )


RULES: dict[str, Callable[[Parts], Rule]] = {
    "unset-variable": _unset_variable,
    "plain-function": _plain_function,
    "operand-type": _operand_type,
    "in-place-division": _in_place_division,
    "index-type": _index_type,
    "not-indexable": _not_indexable,
    "not-iterable": _not_iterable,
    "tuple-index": _tuple_index,
    "unpack-count": _unpack_count,
    "immutable-tuple": _immutable_tuple,
    "readonly-array": _readonly_array,
    "element-type": _element_type,
    "array-assignment": _array_assignment,
    "kernel-returns-value": _kernel_returns_value,
    "grid-dimension": _grid_dimension,
    "dtype": _dtype,
    "half-precision-constant": _half_precision_constant,
    "negative-extent": _negative_extent,
    "non-constant-array": _non_constant_array,
    "print-argument": _print_argument,
    "text-of-value": _text_of_value,
    "unsupported-python": _unsupported_python,
}
