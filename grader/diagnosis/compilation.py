"""Wording for what stops a kernel before its launch: the text and its types."""

from __future__ import annotations

import difflib

from grader.diagnosis import source
from grader.diagnosis.constructs import CONSTRUCTS
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import listing, plural, quote
from grader.diagnosis.type_rules import type_error
from grader.diagnosis.wording import Wording, Writer


def _syntax_error(evidence: Evidence) -> Wording:
    message = evidence.text("message").rstrip(". ") or "invalid syntax"
    line = evidence.line
    shown = quote(source.line_text(evidence.lines, line or 0)) or "the file"
    question, action = _syntax_advice(message, line)
    before = f"the end of line {line - 1}" if line is not None and line > 1 else "what stands before it"
    return Wording(
        headline=f"{shown} is not valid Python: {message}",
        primary=message,
        seen=(f"Python stops reading{evidence.on_line(' at line ')}: {message}",),
        because="a file that Python cannot read holds no kernel; nothing after this place was looked at",
        hints=(question, f"the mistake may lie earlier than the place shown: look at {before} too", action),
    )


def _syntax_advice(message: str, line: int | None) -> tuple[str, str]:
    at = f"line {line}" if line is not None else "the line shown"
    if "was never closed" in message or "does not match" in message or "unmatched" in message:
        return ("which bracket has no partner?", f"give every bracket on {at} its partner")
    if "unterminated" in message:
        return ("where does the text in quotes end?", f"close the quotes on {at}")
    if "expected ':'" in message:
        return ("how does Python know that a block begins?", f"add `:` at the end of {at}")
    if "indent" in message:
        return ("which lines belong to the block?", f"indent {at} as far as the other lines of its block")
    if "'='" in message or "'=='" in message:
        return ("is this an assignment or a comparison?", f"write `==` to compare, `=` to assign, on {at}")
    return (
        "what would Python expect at the place shown?",
        f"correct {at}; `python -m py_compile` on the file shows when it reads well",
    )


def _missing_kernel(evidence: Evidence) -> Wording:
    kernel = evidence.text("kernel") or evidence.context.names.get("kernel", "")
    wanted, candidates = quote(kernel) or "the kernel", evidence.texts("candidates")
    # Outside an exercise the kernel's name is the caller's own choice.
    exercise = bool(evidence.context.names)
    by_name = "the exercise launches its kernel by name" if exercise else "the kernel is launched by its name"
    because = f"{by_name}, so nothing could be launched"
    seen = f"functions in the file: {listing([quote(name) for name in candidates]) or 'none'}"
    if evidence.text("decorator") or evidence.text("rebound"):
        return _no_longer_a_kernel(evidence, wanted, seen)
    if decorator := evidence.text("unbound"):
        name = decorator.partition(".")[0].partition("(")[0]
        return Wording(
            headline=f"{quote(name)} is not imported, so {wanted} is no kernel",
            primary=f"the file never gets the name {quote(name)}",
            seen=(seen,),
            because=f"`@{decorator}` is looked up when the file is loaded, and Python does not find it",
            hints=(
                "which names does the top of the file import?",
                f"where should {quote(name)} come from?",
                "put `from numba import cuda` at the top of the file",
            ),
        )
    if kernel and kernel in candidates:
        return Wording(
            headline=f"{wanted} is an ordinary function, not a kernel",
            primary="no `@cuda.jit` above this function",
            seen=(seen,),
            because="only a function decorated with `@cuda.jit` is compiled for the GPU and can be launched",
            hints=(
                "what makes a Python function a kernel?",
                f"compare the line above {wanted} with that of a kernel that runs",
                f"put `@cuda.jit` on its own line above `def {kernel}`",
            ),
        )
    near = difflib.get_close_matches(kernel, candidates, n=1)
    action = f"rename {quote(near[0])} to {wanted}" if near else f"define {wanted}, with `@cuda.jit` above it"
    if near and not exercise:
        action = f"launch {quote(near[0])}, or rename it to {wanted}"
    return Wording(
        headline=f"no kernel named {wanted} is in this file" + (f"; {quote(near[0])} is" if near else ""),
        primary="",
        seen=(seen,),
        because=because,
        hints=(
            "what is the kernel called in the exercise's text?" if exercise else "how is the name spelled?",
            f"the grader looks for {wanted}",
            action,
        ),
    )


def _no_longer_a_kernel(evidence: Evidence, wanted: str, seen: str) -> Wording:
    decorator, rebound = quote(evidence.text("decorator")), quote(evidence.text("rebound"))
    if decorator:
        return Wording(
            headline=f"{wanted} is decorated with {decorator}, and such a function cannot be launched",
            primary=f"{decorator} makes no kernel",
            seen=(f"the decorator of {wanted}: {decorator}",),
            because="only a function that plain `@cuda.jit` compiles is a kernel: a device function can be "
            "called from a kernel alone, and `jit` and `njit` compile for the CPU",
            hints=(
                "which decorator makes a kernel, and which a function that kernels call?",
                f"{wanted} is launched with a grid and a block, so it has to be a kernel",
                f"write `@cuda.jit` above {wanted} in place of {decorator}",
            ),
        )
    return Wording(
        headline=f"{wanted} holds no kernel: {rebound}{evidence.on_line()} comes last",
        primary=f"after this, {wanted} holds no kernel",
        seen=(seen,),
        because="the exercise launches its kernel by name, and a name holds what it was bound to last",
        hints=(
            f"what does {wanted} hold when the file has been read to its end?",
            "an assignment replaces what a name held; `del` takes the name away",
            f"remove {rebound}{evidence.on_line()}, or give the name a kernel there",
        ),
    )


def _changed_signature(evidence: Evidence) -> Wording:
    kernel = evidence.role("kernel", "the kernel")
    wanted, got = evidence.texts("wanted"), evidence.texts("got")
    wanted_text = quote(f"({', '.join(wanted)})") if wanted else "the exercise's parameters"
    got_text = quote(f"({', '.join(got)})") if got else "other parameters"
    return Wording(
        headline=f"{kernel} takes {got_text}, but the exercise passes {wanted_text}",
        primary="these parameters",
        seen=(f"wanted {wanted_text}", f"found {got_text}"),
        because="a launch hands over its arguments by position, so each must meet the parameter meant for it",
        hints=(
            "which parameters did the skeleton have, and in which order?",
            f"compare the `def` line of {kernel} with the exercise",
            f"make the parameters of {kernel} {wanted_text}, in that order",
        ),
    )


def _not_started(evidence: Evidence) -> Wording:
    kernel = evidence.role("kernel", "the kernel")
    return Wording(
        headline=f"not started yet: {kernel} is still the skeleton",
        primary="the part to write",
        seen=(_left_to_write(evidence),),
        because="an exercise earns points for what is written in its marked parts",
        hints=(
            "what does the task above the marked part ask for?",
            "start with the first marked part; the grader names the next thing to look at",
            "write one marked part, run the check again, then the next",
        ),
    )


def _left_to_write(evidence: Evidence) -> str:
    left = evidence.count("placeholders")
    if left is None:
        return f"the marked part{evidence.on_line()} is as it was handed out"
    return f"{plural(left, 'place')} still to fill in, the first{evidence.on_line()}"


def _forbidden_call(evidence: Evidence) -> Wording:
    name = quote(evidence.text("name") or evidence.text("call")) or evidence.code("this call")
    allowed = evidence.texts("allowed")
    instead = f"; it allows {listing([quote(item) for item in allowed])}" if allowed else ""
    return Wording(
        headline=f"{name} may not be called in this exercise",
        primary="not allowed here",
        seen=(f"called{evidence.on_line()}",) if evidence.line is not None else (),
        because=f"the exercise asks for the work that this call would do{instead}",
        hints=(
            "which part of the work would this call take over?",
            f"the kernel has to do without {name}",
            f"replace {name}{evidence.on_line()} with your own loop and indexing",
        ),
    )


def _unsupported_construct(evidence: Evidence) -> Wording:
    construct = evidence.text("construct")
    known = CONSTRUCTS.get(construct)
    named = known or evidence.code(quote(construct) or "a construct in this file")
    held = evidence.text("name")
    if held:  # of the module: a value that host code makes
        hints = (
            f"which number does {quote(held)} hold?",
            "the grader works out the module's numbers from plain arithmetic, `math`, NumPy and simple "
            "functions, and not from classes, files or the environment",
            f"if {quote(held)} is a number, write it as one at module level, such as `{held} = 16`",
        )
    else:
        hints = (
            "can the same be written with indexing, arithmetic, `if`, `for` and `while`?",
            "a kernel may use what numba compiles for CUDA; the grader follows most of that, but not this",
            f"rewrite {named}{evidence.on_line()} in plainer terms, and check again",
        )
    return Wording(
        headline=f"the grader cannot follow {named}",
        primary=known or "outside what the grader interprets",
        seen=(f"the grader stopped{evidence.on_line(' at line ')}",),
        because="the grader interprets the part of Python that kernels are written in and never runs a "
        "file; this lies outside that part, so the kernel is judged neither right nor wrong",
        hints=hints,
    )


_SHAPE_REASONS = {
    "arithmetic": ("arithmetic on a name", "give the result a name of its own at module level"),
    "runtime-value": ("a value known only when the kernel runs", "use a module constant in its place"),
    "list": ("a list", "write a tuple in place of the list"),
    "attribute": ("an attribute", "use a plain module constant in its place"),
    "argument": ("an argument of the kernel", "use a module constant in its place"),
    "call": ("the result of a call", "write the number, or a module constant that holds it"),
}


def _constant_action(evidence: Evidence, cure: str) -> str:
    expression = evidence.text("expression")
    if evidence.text("reason") == "arithmetic" and expression:
        cure = f"write `WIDTH = {expression}` at module level, above the kernel, and use `WIDTH`"
    return cure + evidence.on_line()


def _non_constant_shared_shape(evidence: Evidence) -> Wording:
    expression = quote(evidence.text("expression")) or evidence.code("the shape")
    what, cure = _SHAPE_REASONS.get(evidence.text("reason"), ("not a constant", "use a module constant"))
    return Wording(
        headline=f"{expression} is {what}, and the shape of a shared array must be a constant",
        primary=what,
        seen=(f"the shape {expression}{evidence.on_line()}",),
        because="shared memory is set aside when the kernel is compiled: the shape may be made of literals "
        "and of module or closure integers, and of nothing that is computed or known only later",
        hints=(
            "is this value known before the kernel runs?",
            f"a number is a constant, and so is a name such as `TILE = 16`; {what} is not",
            _constant_action(evidence, cure),
        ),
        all_the_same="the real compiler refuses it, though numba's simulator accepts it",
    )


WRITERS: dict[str, Writer] = {
    "syntax-error": _syntax_error,
    "missing-kernel": _missing_kernel,
    "changed-signature": _changed_signature,
    "not-started": _not_started,
    "forbidden-call": _forbidden_call,
    "unsupported-construct": _unsupported_construct,
    "type-error": type_error,
    "non-constant-shared-shape": _non_constant_shared_shape,
}
