"""Operators on the three guards (load of A, load of B, store of C) and on what else they decide."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.mutation.mutant import Change
from tests.mutation.styles import Place, Style
from tests.mutation.text import Text, code_of, mark

GUARDS = {"guard_a": "load_a", "guard_b": "load_b", "guard_c": "store"}


def _outside(guard: str) -> Place:
    """A guard that lets through what it should not."""
    if guard == "guard_c":
        return "out-of-bounds-write", ("store",)
    return "out-of-bounds-read", (GUARDS[guard],)


def _blocked(guard: str, text: Text) -> tuple[Place, ...]:
    """A guard that stops what it should let through: elements missing in C, or zeros in the tile."""
    lines = (guard, GUARDS[guard], guard.replace("guard", "zero"), guard.replace("guard", "call"))
    if guard == "guard_c":
        return (("unwritten-output", ("store", "guard_c")),)
    return (("wrong-result", tuple(one for one in lines if text.has(one))),)


def _missing(guard: str, text: Text) -> tuple[Place, ...]:
    """A load guard that is false for k that exist: the products of those k are missing from every sum."""
    return (("dropped-k-tail", _blocked(guard, text)[0][1]),)


def _tests(text: Text, guard: str) -> list[ast.Compare]:
    return [node for node in text.nodes(guard, ast.Compare) if isinstance(node, ast.Compare)]


def _whole(text: Text, guard: str) -> ast.expr:
    return next(node for node in text.nodes(guard, ast.BoolOp))  # type: ignore[return-value]


def _guards(style: Style) -> Iterator[str]:
    yield from (guard for guard in GUARDS if style.text.has(guard))


def drop(style: Style) -> Iterator[Change]:
    for guard in _guards(style):
        number = style.text.line(guard)
        if code_of(style.text.lines[number - 1]).startswith("if "):
            yield Change(guard, _without_if(style.text, number), (_outside(guard),))
        else:
            choice = next(n for n in style.text.nodes(guard, ast.IfExp) if isinstance(n, ast.IfExp))
            yield Change(guard, style.text.put(choice, style.text.code(choice.body)), (_outside(guard),))


def _without_if(text: Text, number: int) -> Text:
    """The body in place of the ``if``, and no ``else``."""
    body = text.last_of(number)
    end = body
    if text.lines[body].strip() == "else:":
        end = text.last_of(body + 1)
    kept = [line[4:] for line in text.lines[number:body]]
    return Text((*text.lines[: number - 1], *kept, *text.lines[end:]))


def weaken(style: Style) -> Iterator[Change]:
    """One of the two tests dropped; the last element let past; either test enough."""
    for guard in _guards(style):
        whole, tests = _whole(style.text, guard), _tests(style.text, guard)
        for kept, dropped in ((0, 1), (1, 0)):
            text = style.text.put(whole, style.text.code(tests[kept]))
            yield Change(f"{guard} without {style.text.code(tests[dropped])}", text, (_outside(guard),))
        for test in tests:
            code = style.text.code(test)
            text = style.text.put(test, code.replace("<", "<="))
            yield Change(f"{guard} {code.replace('<', '<=')}", text, (_outside(guard),))
        either = style.text.put(whole, style.text.code(whole).replace(" and ", " or "))
        yield Change(f"{guard} or", either, (_outside(guard),))


def strengthen(style: Style) -> Iterator[Change]:
    """The last row, column or k stopped, or the first."""
    for guard in _guards(style):
        for position, test in enumerate(_tests(style.text, guard)):
            along_k = (guard, position) in (("guard_a", 1), ("guard_b", 0))
            labels = _missing(guard, style.text) if along_k else _blocked(guard, style.text)
            if style.text.has("call_a") and guard == "guard_a":
                # One function loads both: what is a row of A is a k of B.
                labels = (*_missing(guard, style.text), *_blocked(guard, style.text))
            if style.text.has("turn") and guard != "guard_c":
                # The first tile is loaded elsewhere: its products are there, and those of the others are not.
                labels = (*_missing(guard, style.text), *_blocked(guard, style.text))
            code = style.text.code(test)
            yield Change(f"{guard} {code} - 1", style.text.put(test, f"{code} - 1"), labels)
            first = f"0 < {code}"
            if along_k:
                labels = _blocked(guard, style.text)
            yield Change(f"{guard} {first}", style.text.put(test, first), labels)


def reverse(style: Style) -> Iterator[Change]:
    """A test turned round: it reads or stores where nothing is, and leaves out what there is."""
    for guard in _guards(style):
        for test in _tests(style.text, guard):
            code = style.text.code(test).replace("<", ">=")
            labels = (_outside(guard), *_blocked(guard, style.text)[: guard == "guard_c"])
            yield Change(f"{guard} {code}", style.text.put(test, code), labels)


def wrong_size(style: Style) -> Iterator[Change]:
    """A test against another dimension: too weak where that is larger, too strong where it is smaller."""
    for guard in _guards(style):
        for test in _tests(style.text, guard):
            left = style.text.code(test.left)
            right = style.text.code(test.comparators[0])
            for other in {"M": "NK", "N": "MK", "K": "MN"}[right]:
                labels = (_outside(guard), *_blocked(guard, style.text)[: guard == "guard_c"])
                text = style.text.put(test, f"{left} < {other}")
                yield Change(f"{guard} {left} < {other}", text, labels)


def wrong_index(style: Style) -> Iterator[Change]:
    """One of the two tests made with the other's index."""
    for guard in _guards(style):
        tests = _tests(style.text, guard)
        for test, other in ((tests[0], tests[1]), (tests[1], tests[0])):
            left, right = style.text.code(other.left), style.text.code(test.comparators[0])
            labels = (_outside(guard), *_blocked(guard, style.text)[: guard == "guard_c"])
            yield Change(f"{guard} {left} < {right}", style.text.put(test, f"{left} < {right}"), labels)


def drop_else(style: Style) -> Iterator[Change]:
    """The slots outside the matrix keep what they held, or hold nothing yet."""
    zeros = [role for role in ("zero_a", "zero_b") if style.text.has(role)]
    unfilled = (("uninitialised-shared-read", ("dot",)), ("stale-shared-read", ("dot",)))
    if style.name == "conditional_loads":
        return
    for role in zeros:
        yield Change(role, _without(style.text, role), unfilled)
    if len(zeros) > 1:
        yield Change("both", _without(_without(style.text, zeros[0]), zeros[1]), unfilled)


def _without(text: Text, role: str) -> Text:
    number = text.line(role)
    if text.lines[number - 2].strip() == "else:":
        return text.drop(number).drop(number - 1)
    # The style that stores zeros first: the roles of its line pass to the guard below.
    lost = [one for one in ("begin_a", "begin_b") if number in text.at(one)]
    text = text.drop(number)
    guard = text.lines[number - 1]
    return text.set(number, f"{guard} {' '.join(lost)}") if lost else text


def other_else(style: Style) -> Iterator[Change]:
    """One in place of zero: harmless in one tile, as the other's zero makes the product nothing."""
    for role in ("zero_a", "zero_b"):
        if not style.text.has(role):
            continue
        line = style.text.lines[style.text.line(role) - 1]
        text = style.text.swap(role, "0.0", "1.0")
        # One function fills both tiles there, so that both hold ones.
        both = style.text.has("call_a")
        labels: tuple[Place, ...] = (("wrong-result", (role,)),) if both else ()
        assert text is not None, line
        yield Change(f"{role} one", text, labels)


def split(style: Style) -> Iterator[Change]:
    """The guard as two nested tests; as far as the else goes, only the inner one has it."""
    for guard in ("guard_a", "guard_b"):
        number = style.text.line(guard) if style.text.has(guard) else 0
        if not number or not code_of(style.text.lines[number - 1]).startswith("if "):
            continue
        body = style.text.last_of(number)
        if style.text.lines[body].strip() != "else:":
            continue
        tests = [style.text.code(test) for test in _tests(style.text, guard)]
        pad, end = style.text.indent(number), style.text.last_of(body + 1)
        # Rows and columns beyond the edge are nobody's; of the tests on k every thread needs the zero.
        outer, inner = tests if guard == "guard_a" else (tests[1], tests[0])
        for first, second, harmless in ((outer, inner, True), (inner, outer, False)):
            roles = [one for one in ("begin_a", "begin_b") if number in style.text.at(one)]
            inside = ["    " + line for line in style.text.lines[number:end]]
            head = [mark(f"{pad}if {first}:", *roles) if roles else f"{pad}if {first}:"]
            lines = (*head, mark(f"{pad}    if {second}:", guard), *inside)
            text = Text((*style.text.lines[: number - 1], *lines, *style.text.lines[end:]))
            unfilled = (("uninitialised-shared-read", ("dot",)), ("stale-shared-read", ("dot",)))
            shared = style.text.has("call_a")
            yield Change(f"{guard} {first} outside", text, () if harmless and not shared else unfilled)
