"""Wording for a launch configuration that cannot be used, or does not fit its kernel."""

from __future__ import annotations

from grader.diagnosis import grammar
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import listing, quote
from grader.diagnosis.wording import Wording

#: What is wrong with a configuration: the clause after its function's name, and the cure.
_CONFIG_RULES = {
    "missing": ("is not defined in this file", "write `def {name}(...)` that returns `(grid, block)`"),
    "host-error": ("could not be worked out", "keep {name} to whole-number arithmetic on its arguments"),
    "not-a-pair": ("does not return a pair (grid, block)", "return two tuples from {name}: `grid, block`"),
    "not-integers": (
        "returns a number that is not a whole one",
        "use `//` in {name}, which gives whole numbers, in place of `/`",
    ),
    "not-positive": (
        "returns a size below 1",
        "round the number of blocks up in {name}: `(size + TILE - 1) // TILE`",
    ),
    "axis-count": (
        "returns a grid or block without one to three axes",
        "give grid and block one to three axes each in {name}: x, then y, then z",
    ),
    "too-many-blocks": (
        "asks for more blocks than a grid may have",
        "divide by the tile in {name}: one block covers a whole tile",
    ),
}


def bad_launch_config(evidence: Evidence) -> Wording:
    """The message about a constant, a block's size, or what the function returns."""
    if evidence.text("rule") == "constant":
        return _bad_constant(evidence)
    if evidence.text("rule") == "block-size":
        return _block_size(evidence)
    function = quote(evidence.text("function") or "launch_config")
    got, detail = quote(evidence.text("got")), evidence.text("detail").replace("-", " ")
    what, cure = _CONFIG_RULES.get(
        evidence.text("rule"), ("gives no grid and block", "return `(grid, block)` from {name}")
    )
    reason = grammar.sentence(f"it returns {got}" if got else "", detail)
    return Wording(
        headline=f"{function} {what}" + (f": {reason}" if reason else ""),
        primary="this is where the configuration comes from",
        seen=(evidence.shape(), f"returned {got}" if got else "", detail),
        because="a launch needs the number of blocks and of threads in a block, each along x, y and z, "
        "as whole numbers from 1 up",
        hints=(
            f"what does {function} return for the smallest shape, worked out by hand?",
            "the grid counts blocks and comes first, the block counts threads; x comes before y",
            cure.format(name=function),
        ),
        all_the_same="such a launch is refused, and nothing is computed",
    )


def _bad_constant(evidence: Evidence) -> Wording:
    name, got = quote(evidence.text("name")) or "a constant", quote(evidence.text("got"))
    allowed = listing(evidence.texts("allowed"), "or")
    written, near = evidence.text("name") or "TILE", evidence.texts("near")
    value = near[0] if len(near) == 1 else (evidence.texts("allowed") or ("16",))[-1]
    beside = f"{listing([quote(one) for one in near])} {'holds' if len(near) == 1 else 'hold'} such a number"
    return Wording(
        headline=f"{name} is {got or 'not set'}, and this exercise takes {allowed or 'other values'}",
        primary=f"one of {allowed}" if allowed else "not an allowed value",
        seen=(
            f"found {got}" if got else f"{name} is not assigned at module level",
            beside if near else "",
            f"allowed: {allowed}",
        ),
        because="the grader reads the constant to choose the block and the shapes, "
        "so it must be a plain number at module level, one of those that the exercise lists",
        hints=(
            f"is {quote(near[0])} what this exercise calls {name}?"
            if len(near) == 1
            else f"what is {name} used for in the launch?",
            f"the grader looks for the name {name}, and for no other"
            if len(near) == 1
            else f"{name} has to be a literal number, written once at module level",
            f"write `{written} = {value}`" + (" below it" if len(near) == 1 else evidence.on_line()),
        ),
    )


def _block_size(evidence: Evidence) -> Wording:
    function = quote(evidence.text("function") or "launch_config")
    got, wanted = quote(evidence.text("got")) or "another size", quote(evidence.text("wanted"))
    tile = evidence.context.settings.get("TILE")
    threads = f" = ({tile}, {tile})" if tile is not None else ""
    return Wording(
        headline=f"{function} launches blocks of {got}, and the kernel is written for another size",
        primary=f"{got} as (x, y)",
        seen=(
            evidence.at_shape(),
            f"block {got}, where a tile is {tile} x {tile}" if tile is not None else "",
        ),
        because="in a tiled kernel each thread fills one slot of a tile and computes one element: a block "
        "with fewer threads leaves slots empty, one with more has threads without a slot",
        hints=(
            "how many slots has a tile, and how many threads fill them?",
            "the kernel computes rows and columns from the tile's width, whatever the block is",
            f"return {wanted}{threads} as the block{evidence.on_line()}",
        ),
        all_the_same="threads and slots do not match",
    )
