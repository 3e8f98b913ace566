"""Wording for type errors about names, calls and ``:=`` that numba's own reading of Python turns away."""

from __future__ import annotations

from collections.abc import Callable

from grader.diagnosis.type_parts import Parts, Rule


def _untyped_global(p: Parts) -> Rule:
    return (
        f"{p.name} cannot be named on its own inside a kernel"
        + (f": the compiler knows it as {p.wanted} alone" if p.wanted else ""),
        "no type for what this name holds",
        "the compiler needs a type for every name that a kernel takes from its module, and has none for what "
        "this one holds" + ("; behind `cuda.` it has one" if p.wanted else ""),
        f"where does {p.name} come from?",
        f"import `cuda` from numba, and write {p.wanted} in place of {p.name}{p.at}"
        if p.wanted
        else f"do without {p.name}{p.at}",
    )


def _walrus(p: Parts) -> Rule:
    return (
        f"{p.code} cannot be compiled: the value of `:=` is used where it stands",
        "`:=` in the midst of an expression",
        "numba loses the value of `:=` between the assignment and what uses it, unless the value is a plain "
        "variable",
        f"on which line could {p.name} be set before it is needed?",
        f"write {p.wanted} on a line of its own, before the code{p.at}",
    )


def _numpy_function(p: Parts) -> Rule:
    return (
        f"{p.name} has no version for kernels",
        "not compiled for the GPU",
        "numba compiles some of NumPy's functions for the GPU, and this is not among them",
        f"how else can a kernel compute what {p.name} computes?",
        f"write {p.wanted} in place of {p.name}{p.at}" if p.wanted else f"do without {p.name}{p.at}",
    )


def _array_method(p: Parts) -> Rule:
    return (
        f"{p.name} has no version for kernels",
        "not compiled for the GPU",
        "numba compiles some of what NumPy's arrays can do for the GPU, and this is not among it: a kernel "
        "has no memory for new arrays",
        f"which elements is {p.name} to give?",
        f"write {p.wanted}, which names the same elements, in place of {p.name}{p.at}"
        if p.wanted
        else f"do without {p.name}: work on single elements{p.at}",
    )


def _exception_value(p: Parts) -> Rule:
    return (
        f"{p.name} is a value of the running kernel, which an exception cannot carry",
        "known only when the kernel runs",
        "a kernel raises no exception to anybody: the compiler for the GPU keeps its arguments aside, and "
        "takes constants alone",
        f"is {p.name} a constant?",
        f"leave {p.name} out{p.at}, or print it before",
    )


def _keyword_argument(p: Parts) -> Rule:
    return (
        f"{p.name} takes no argument by its name inside a kernel",
        "an argument with a name",
        "the compiler knows this function's arguments by their order alone",
        f"in which order does {p.name} take its arguments?",
        f"leave out the argument's name and its `=`{p.at}",
    )


RULES: dict[str, Callable[[Parts], Rule]] = {
    "untyped-global": _untyped_global,
    "walrus": _walrus,
    "numpy-function": _numpy_function,
    "array-method": _array_method,
    "exception-value": _exception_value,
    "keyword-argument": _keyword_argument,
}
