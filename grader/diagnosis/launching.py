"""Wording for the launch: grid, block, shared memory, and a kernel that does not end."""

from __future__ import annotations

import ast

from grader.diagnosis import picture, source
from grader.diagnosis.evidence import Evidence, loop_values
from grader.diagnosis.grammar import axis_name, listing, number, plural, quote, span_of_numbers
from grader.diagnosis.launch_config import bad_launch_config
from grader.diagnosis.passing import whole_tiles
from grader.diagnosis.wording import Wording, Writer


def _block_too_large(evidence: Evidence) -> Wording:
    threads, limit = evidence.count("threads"), evidence.count("limit") or 1024
    block = evidence.context.block
    extent = " x ".join(str(size) for size in block if size > 1) if block else ""
    asked = plural(threads, "thread") if threads is not None else "too many threads"
    device = evidence.text("device")
    return Wording(
        headline=f"a block of {asked} is too large: a block holds at most {number(limit)}",
        primary=f"{asked} a block",
        seen=(
            f"block {extent or 'size'}: {asked}",
            f"limit{f' on {device}' if device else ''}: {number(limit)}",
        ),
        because="all threads of a block live on one multiprocessor, which holds a fixed number of them",
        hints=(
            "how many threads does the block have, all axes multiplied?",
            "one thread for each element of a tile means TILE * TILE threads",
            f"choose a tile of at most 32 x 32 (32 * 32 = {number(32 * 32)} threads)"
            if limit >= 1024
            else f"make the product of the block's axes at most {number(limit)}",
        ),
        all_the_same="such a launch is refused, and nothing is computed",
    )


def _grid_too_large(evidence: Evidence) -> Wording:
    grid, limit = evidence.numbers("grid"), evidence.numbers("limit")
    over = [at for at, (asked, most) in enumerate(zip(grid, limit, strict=False)) if asked > most]
    device, axis = evidence.text("device"), over[0] if over else None
    side = "xyz"[axis] if axis is not None and axis < 3 else "one axis"
    asked = plural(grid[axis], "block") if axis is not None else "more blocks than there may be"
    most = number(limit[axis]) if axis is not None else "fewer"
    return Wording(
        headline=f"the grid has {asked} along {side}, where the device takes at most {most}",
        primary=f"{asked} along {side}",
        seen=(
            evidence.shape(),
            f"grid ({_plain_sizes(grid)}) as x, y, z" if grid else "",
            f"limit{f' on {device}' if device else ''}: ({_plain_sizes(limit)})" if limit else "",
        ),
        because="a device counts the blocks of a grid with 31 bits along x, and with 16 bits along y and z",
        hints=(
            f"how many blocks does the launch ask for along {side}, and how many elements has each to do?",
            "only x takes more than 65,535 blocks",
            "put the longest extent along x, or let each block do more than one tile in a loop",
        ),
        all_the_same="such a launch is refused, and nothing is computed",
    )


def _plain_sizes(sizes: tuple[int, ...]) -> str:
    """Sizes one after the other: "1, 70,000" would be read as three, so no separators here."""
    return ", ".join(str(size) for size in sizes)


def _shared_memory_too_large(evidence: Evidence) -> Wording:
    asked, limit = evidence.count("bytes"), evidence.count("limit")
    size = f"{number(asked)} bytes" if asked is not None else "more bytes than there are"
    most = f"{number(limit)} bytes" if limit is not None else "a fixed number of bytes"
    device = evidence.text("device")
    return Wording(
        headline=f"the shared arrays need {size} a block; a block may have {most}",
        primary=f"shared arrays of a block: {size}",
        seen=(f"asked for {size}", f"limit{f' on {device}' if device else ''}: {most}"),
        because="shared memory is a small store on each multiprocessor, divided among its blocks",
        hints=(
            "how many elements do the shared arrays have together, and how many bytes is each?",
            "a float32 takes 4 bytes, a float64 8; a tile of T x T takes T * T of them",
            f"make the tiles smaller, or their elements float32, until their sum is at most {most}",
        ),
        all_the_same="such a launch is refused, and nothing is computed",
    )


def _grid_too_small(evidence: Evidence) -> Wording:
    array, axis = evidence.array("the output"), evidence.whole("axis")
    reached, size = evidence.count("reached"), evidence.count("size")
    noun = axis_name(axis, 2 if axis in (0, 1) else None) if axis is not None else "index"
    missing = _missing(noun, reached, size)
    side = {0: "y", 1: "x"}.get(axis if axis is not None else -1, "that axis")
    name = evidence.context.dimension_of_size(size) if size is not None else None
    rounded = "(M + TILE - 1) // TILE".replace("M", name or "size")
    return Wording(
        headline=f"the grid is too small: no thread computes {missing} of {array}",
        primary="the last thread's index stops short of the end",
        seen=(
            evidence.at_shape(),
            f"{noun}s of {array}: {size}, reached: {reached}" if None not in (size, reached) else "",
            f"grid {evidence.context.grid}, block {evidence.context.block} as (x, y, z)"
            if evidence.context.grid and evidence.context.block
            else "",
        ),
        because="each element belongs to one thread; where the grid has no thread, nothing is ever stored",
        hints=(
            f"how many blocks does it take to cover {size if size is not None else 'all'} {noun}s?",
            "dividing with `//` rounds down, so a last block that is only partly full is lost",
            f"round the number of blocks up: `{rounded}` along {side}",
        ),
        picture=picture.coverage(reached, size, noun),
        why_passed=whole_tiles(
            [name] if name else ["M", "N"],
            evidence.context.settings,
            "there the division leaves no remainder, so rounding down loses nothing",
        ),
    )


def _missing(noun: str, reached: int | None, size: int | None) -> str:
    if reached is None or size is None or reached >= size:
        return f"the last {noun}s"
    plural_noun = noun if size - reached == 1 else f"{noun}s"
    return f"{plural_noun} {span_of_numbers(reached, size - 1)}"


def _did_not_finish(evidence: Evidence) -> Wording:
    operations = evidence.count("operations")
    budget = plural(operations, "operation") if operations is not None else "its budget of operations"
    chain = source.enclosing(evidence.lines, evidence.finding.primary)
    loop = source.innermost(chain, ast.While, ast.For)
    if isinstance(loop, ast.For):
        return _ran_out(evidence, quote(source.head(evidence.lines, loop)), budget)
    head = quote(source.head(evidence.lines, loop)) if isinstance(loop, ast.While) else "a loop"
    outer = loop_values(tuple(pair for pair in evidence.finding.loops if pair[0] != "while"))
    fixed = source.unchanged_names(loop) if isinstance(loop, ast.While) else ()
    names = listing([quote(name) for name in fixed], "or")
    return Wording(
        headline=f"{head} was still running after {budget}",
        primary=f"nothing in the loop changes {names}" if names else "this loop does not end in time",
        seen=(evidence.shape(), f"stopped after {budget}" + (f", when {outer}" if outer else "")),
        because="a kernel ends when every thread has left its loops; "
        "a thread that stays in one holds its block for ever",
        hints=(
            f"what makes {head} stop?",
            f"follow the names in its test: is {names} ever assigned inside?"
            if names
            else "follow the names in its test through one round: do they come nearer to the end?",
            f"change {names} inside the loop that starts{evidence.on_line()}, so that the test becomes false"
            if names
            else f"make each round of the loop{evidence.on_line()} come nearer to its end",
        ),
    )


def _ran_out(evidence: Evidence, head: str, budget: str) -> Wording:
    """For a ``for`` loop: it has an end that each round comes nearer to, so only the budget was too small."""
    outer = loop_values(tuple(pair for pair in evidence.finding.loops if pair[0] != "while"))
    return Wording(
        headline=f"{head} was not done when the budget of {budget} was used up",
        primary="the budget ran out in this loop",
        seen=(evidence.shape(), f"stopped after {budget}" + (f", when {outer}" if outer else "")),
        because="this loop has an end, but a launch may take only so many rounds of its loops, which is far "
        "more than a kernel needs that divides the work among its threads; whether the result would be right "
        "is not known",
        hints=(
            f"how many rounds of {head} does one thread make, all loops around it counted?",
            "how many threads are launched, and how many of them have work to do?",
            "give each thread one element of the output, or a few, in place of a loop over all of them"
            f"{evidence.on_line(': see line ')}",
        ),
    )


def _zero_step(evidence: Evidence) -> Wording:
    code, threads = evidence.code("the range"), evidence.count("threads")
    many = plural(threads, "thread") if threads is not None else "some threads"
    return Wording(
        headline=f"{code} steps by 0: {many} {'ends' if threads == 1 else 'end'} there",
        primary=f"a step of 0{evidence.in_round()}",
        seen=(evidence.shape(), f"{many} ended at this range"),
        because="a range cannot step by 0: the compiled kernel checks for it and ends the thread, which does "
        "nothing of what follows, and no error is told",
        hints=(
            f"what is the step of {code} for the first thread, and in the first round?",
            "the third argument of `range` is how far each round goes on; it must not be 0",
            f"make the step at least 1{evidence.on_line()}",
        ),
    )


WRITERS: dict[str, Writer] = {
    "bad-launch-config": bad_launch_config,
    "block-too-large": _block_too_large,
    "grid-too-large": _grid_too_large,
    "shared-memory-too-large": _shared_memory_too_large,
    "grid-too-small": _grid_too_small,
    "did-not-finish": _did_not_finish,
    "zero-step": _zero_step,
}
