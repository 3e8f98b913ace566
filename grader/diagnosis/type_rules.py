"""Wording for type errors: one entry for each rule that the compiler for the GPU enforces."""

from __future__ import annotations

from collections.abc import Callable

from grader.diagnosis import name_rules, value_rules
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.type_parts import Parts, Rule
from grader.diagnosis.wording import Wording


def _argument_count(p: Parts) -> Rule:
    numbers = f": {p.got or 'too few or too many'} where {p.wanted or 'another number'} are taken"
    return (
        f"{p.name} is called with the wrong number of arguments{numbers}",
        "the number of arguments",
        "each parameter takes exactly one argument",
        "which parameters does the called function have?",
        f"pass {p.wanted or 'as many arguments as it has parameters'} to {p.name}{p.at}",
    )


def _counted(number: str, one: str, several: str) -> str:
    if not number:
        return f"another number of {several}"
    return f"{number} {one if number == '1' else several}"


def _index_rank(p: Parts) -> Rule:
    indices = _counted(p.got, "index", "indices")
    needed = _counted(p.wanted, "index", "indices") if p.wanted else "one index for each axis"
    return (
        f"{p.code} has {indices}; {p.name} has {_counted(p.wanted, 'axis', 'axes')}",
        "one index for each axis",
        "an element is reached with exactly one index for each axis of its array",
        "how many axes does the array have?",
        f"write {needed} for {p.name}{p.at}",
    )


def _unknown_name(p: Parts) -> Rule:
    return (
        f"{p.name} is not defined" + (f"; {p.near} is" if p.near else ""),
        "nothing of this name is known here",
        "a kernel sees its parameters, its own variables and the module's constants and functions; "
        "a name must be one of them",
        "where is this name given a value?",
        f"write {p.near} in place of {p.name}{p.at}"
        if p.near
        else f"define {p.name} before it is used{p.at}, or correct its spelling",
    )


def _unknown_attribute(p: Parts) -> Rule:
    return (
        f"{p.code} does not exist: {p.got or 'the object'} has no attribute {p.name}",
        "no such attribute",
        "inside a kernel only the attributes that the compiler knows exist",
        "is the attribute's name spelled as in the numba documentation?",
        f"correct the name after the dot{p.at}",
    )


def _no_common_type(p: Parts) -> Rule:
    types = p.got or "the types it has"
    return (
        f"{p.name} has no single type here: {types}",
        "types that do not fit together",
        "a variable of a kernel has one type throughout, worked out when it is compiled",
        "which types does it get on the different ways through the kernel?",
        f"give it the same type on every way that leads to the code{p.at}",
    )


def _not_callable(p: Parts) -> Rule:
    return (
        f"{p.name} cannot be called inside a kernel",
        "not a device function",
        "a kernel may call device functions (decorated with `@cuda.jit(device=True)`) and what numba "
        "offers for CUDA; an ordinary Python function exists only on the host",
        "is the called thing compiled for the GPU?",
        f"decorate {p.name} with `@cuda.jit(device=True)`, or write its work out{p.at}",
    )


def _argument_type(p: Parts) -> Rule:
    if p.declared:
        given = p.got or "an argument of another type"
        return (
            f"{p.declared} is declared to take {p.wanted or 'another type'} for {p.name}, and gets {given}",
            "these types are declared",
            "a kernel with declared types is compiled for these alone, and its arguments must be of them; C "
            "stands for an array that lies in memory row by row, as NumPy makes them, F for one that lies "
            "column by column",
            "which type does each argument have when the kernel is launched?",
            f"declare {given} for {p.name}{p.at}, or leave the types away",
        )
    return (
        f"{p.code} gets {p.got or 'a value of the wrong type'} where {p.wanted or 'another type'} is needed",
        "the wrong type of argument",
        "the compiler chooses the machine code by the types of the arguments, and there is none for these",
        "what type does each argument have?",
        f"pass {p.wanted or 'an argument of the type that is needed'}{p.at}",
    )


RULES: dict[str, Callable[[Parts], Rule]] = {
    "argument-count": _argument_count,
    "index-rank": _index_rank,
    "unknown-name": _unknown_name,
    "unknown-attribute": _unknown_attribute,
    "no-common-type": _no_common_type,
    "not-callable": _not_callable,
    "argument-type": _argument_type,
    **name_rules.RULES,
    **value_rules.RULES,
}


def _other_rule(p: Parts, rule: str) -> Rule:
    words = rule.replace("-", " ") or "its types do not fit"
    return (
        f"{p.code} does not compile for the GPU: {words}",
        words,
        "the kernel is compiled before it runs, and the types in it must fit together",
        "what type does each part of this expression have?",
        f"change the expression{p.at} so that the types fit",
    )


_ALL_THE_SAME = {
    False: "the real compiler refuses it, though numba's simulator may accept it",
    True: "numba compares no argument with a kernel's declared types, and would read memory as they say",
}


def type_error(evidence: Evidence) -> Wording:
    """Word a type error by the rule that it breaks."""
    rule, parts = evidence.text("rule"), Parts(evidence)
    write = RULES.get(rule)
    headline, label, because, question, action = write(parts) if write else _other_rule(parts, rule)
    found = f"found {parts.got}" if parts.got else ""
    wanted = f"wanted {parts.wanted}" if parts.wanted else ""
    return Wording(
        headline=headline,
        primary=label,
        seen=(", ".join(item for item in (found, wanted) if item) or evidence.place(),),
        because=because,
        hints=(question, f"look at {parts.code}{parts.at}: {label}", action),
        all_the_same=_ALL_THE_SAME[bool(parts.declared)],
    )
