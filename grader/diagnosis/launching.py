"""Wording for the launch: grid, block, shared memory, and steps of zero."""

from __future__ import annotations

from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import number, plural
from grader.diagnosis.grid_size import grid_too_small
from grader.diagnosis.launch_config import bad_launch_config
from grader.diagnosis.unfinished import did_not_finish
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
    "grid-too-small": grid_too_small,
    "did-not-finish": did_not_finish,
    "zero-step": _zero_step,
}
