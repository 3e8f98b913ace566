"""Wording for kernels that are right and slower than they need to be."""

from __future__ import annotations

from grader.diagnosis import grammar, picture, source
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.grammar import number, plural, quote
from grader.diagnosis.wording import Wording, Writer


def _float64_arithmetic(evidence: Evidence) -> Wording:
    code = evidence.code("this operation")
    variable = quote(evidence.text("variable"))
    origin = evidence.other_code("")
    literal = origin.strip("`").split("=")[-1].strip() if origin else ""
    float_literal = literal.replace(".", "", 1).isdigit()
    cause = f"because of {origin}{evidence.on_other_line()}" if origin else "by the types of its values"
    return Wording(
        headline=f"{code} is computed in float64, {cause}",
        primary=f"{variable or 'the result'} is float64 here",
        secondary="float64 comes from here",
        seen=(f"{variable} has the type {evidence.text('dtype') or 'float64'}" if variable else "",),
        because="a literal such as `0.0` is float64, and float32 with float64, or with an integer of 32 or "
        "64 bits, gives float64; most GPUs do many times fewer float64 operations a second, and a conversion "
        "is added to each",
        hints=(
            f"what type does {variable or 'the value'} start with?",
            f"a number with a point in it is float64: see {origin}{evidence.on_other_line()}"
            if origin
            else "a number with a point in it is float64, and so is float32 with an integer of 32 or 64 bits",
            f"write `numba.float32({literal})`{evidence.on_other_line()}"
            if float_literal
            else f"convert with `numba.float32(...)`{evidence.on_other_line() or evidence.on_line()}",
        ),
    )


def _uncoalesced_access(evidence: Evidence) -> Wording:
    requests, sectors = evidence.count("requests"), evidence.count("sectors")
    ideal = evidence.number("ideal_sectors")
    code = evidence.code("an access")
    each = f"{number(sectors / requests)} sectors" if requests and sectors is not None else "many sectors"
    fewest = f" where {number(ideal / requests)} would do" if requests and ideal else ""
    last = quote(_last_index(evidence))
    return Wording(
        headline=f"{code} fetches {each} of memory a request{fewest}",
        primary=f"each request of a warp touches {each}",
        seen=(
            evidence.shape(),
            f"{plural(requests, 'request')}, {plural(sectors, 'sector')} of 32 bytes"
            if requests is not None and sectors is not None
            else "",
            f"{plural(int(ideal), 'sector')} would do" if ideal else "",
        ),
        because="the 32 threads of a warp load together, in sectors of 32 bytes: neighbours in "
        "`threadIdx.x` should touch neighbours in memory, which are neighbours in the last index",
        hints=(
            "which index changes when `threadIdx.x` grows by one?",
            f"the last index of {code} is {last}; see whether it follows `threadIdx.x`"
            if last
            else f"see which index of {code} follows `threadIdx.x`",
            f"let `threadIdx.x` run along the last index of {evidence.array()}{evidence.on_line()}",
        ),
        picture=picture.lanes(requests, sectors, ideal / requests if requests and ideal else None),
    )


def _last_index(evidence: Evidence) -> str:
    found = ""
    for axis in range(4):
        found = source.index_text(evidence.lines, evidence.finding.primary, axis) or found
    return found


def _bank_conflict(evidence: Evidence) -> Wording:
    degree, conflicts = evidence.whole("degree"), evidence.count("conflicts")
    requests = evidence.count("requests")
    code, array = evidence.code("a shared access"), evidence.array("the shared array")
    queue = f"{degree} lanes of a warp" if degree is not None else "lanes of a warp"
    return Wording(
        headline=f"{queue} use one bank at {code} and wait for each other",
        primary=f"{queue} queue here",
        seen=(
            grammar.sentence(
                f"{plural(conflicts, 'extra pass', 'extra passes')}" if conflicts is not None else "",
                f"in {plural(requests, 'request')}" if requests is not None else "",
                joiner=" ",
            ),
        ),
        because="shared memory has 32 banks of 4 bytes side by side; lanes that want different words of one "
        "bank are served one after the other",
        hints=(
            "how far apart in memory are the words of two neighbouring lanes?",
            f"a row of {array} that is a multiple of 32 words long puts a whole column into one bank",
            f"make each row of {array} one element longer, say `(TILE, TILE + 1)` as a constant, "
            "or let `threadIdx.x` run along the last index",
        ),
        picture=("lanes in one bank  " + "#" * min(degree, 32), "lanes at a time    #")
        if degree is not None and degree > 1
        else (),
    )


def _idle_blocks(evidence: Evidence) -> Wording:
    blocks, needed = evidence.count("blocks"), evidence.count("needed")
    many = f"{plural(blocks, 'block')}" if blocks is not None else "many blocks"
    few = f"{plural(needed, 'block')} of {_threads(evidence)}" if needed is not None else "fewer blocks"
    intensity, wanted = evidence.number("intensity"), evidence.number("wanted")
    loads = f"{intensity:.2f} operations for each loaded byte" if intensity is not None else ""
    asked = f", where {wanted:.2f} are asked for" if loads and wanted is not None else ""
    return Wording(
        headline=f"the grid has {many}, and {few} do all the work",
        primary="so many blocks",
        seen=(evidence.at_shape(), loads + asked),
        because="a grid counts blocks, not elements: the blocks beyond the output take their turn on the "
        "device, may load tiles, and store nothing",
        hints=(
            "how many elements of the output does one block compute?",
            "each block covers as many columns as it has threads along x, and as many rows as along y",
            f"divide each size by the block's{evidence.on_line()}: `(size + TILE - 1) // TILE` blocks",
        ),
        all_the_same="the other blocks cost time, and may load what nobody uses",
    )


def _threads(evidence: Evidence) -> str:
    block = evidence.context.block
    return f"{block[0]} x {block[1]} threads" if block else "the block's size"


def _low_arithmetic_intensity(evidence: Evidence) -> Wording:
    intensity, wanted = evidence.number("intensity"), evidence.number("wanted")
    measured = f"{intensity:.2f}" if intensity is not None else "too few"
    goal = f", where {wanted:.2f} are asked for" if wanted is not None else ""
    return Wording(
        headline=f"the kernel does {measured} floating-point operations for each byte it loads{goal}",
        primary="these loads fetch the same values again and again",
        seen=(
            evidence.shape(),
            f"measured {measured}" + (f", asked for {wanted:.2f}" if wanted is not None else ""),
        ),
        because="2*M*N*K operations are fixed, the bytes are not: a value that a block loads once "
        "into shared memory serves a whole row or column of the block",
        hints=(
            "how often is each element of the inputs loaded from global memory?",
            "a tile of T x T in shared memory makes one load do for T threads, and the ratio about T / 4",
            "load each tile once a block into shared memory, and let the inner loop read only that",
        ),
    )


def _no_shared_reuse(evidence: Evidence) -> Wording:
    code, reads = evidence.code("a load from global memory"), evidence.number("reads_per_store")
    idle = reads == 0
    often = f"{reads:.2g} times" if reads is not None else "hardly at all"
    return Wording(
        headline=f"the shared tiles are filled and never read; {code} loads instead"
        if idle
        else f"each value stored in shared memory is read {often}",
        primary="loaded from global memory each time",
        secondary="stored here",
        seen=(evidence.shape(), f"reads for each stored value: {reads:.2g}" if reads is not None else ""),
        because="shared memory saves loads only where several threads read a value that one of them stored",
        hints=(
            "how many threads read each slot of the tile?",
            f"compare what the inner loop reads with what is stored in the tiles: see {code}",
            f"let the inner loop read the shared tile in place of {code}{evidence.on_line()}",
        ),
    )


def _compiled_for(evidence: Evidence) -> str:
    arch = evidence.text("arch")
    return f"compiled for {arch}" if arch else ""


def _register_spill(evidence: Evidence) -> Wording:
    spilled, registers = evidence.count("bytes"), evidence.count("registers")
    size = plural(spilled, "byte") if spilled is not None else "some registers"
    kernel = evidence.role("kernel", "the kernel")
    # A local array may never have been in registers: it stands in the stack frame, and nothing is spilled.
    whole = evidence.flag("stack")
    kept = f"keeps {size} a thread of {kernel} in" if whole else f"spills {size} a thread of {kernel} to"
    return Wording(
        headline=f"the compiler {kept} memory",
        primary="its values are not all in registers"
        if whole
        else "these values do not fit into the registers",
        seen=(
            f"{plural(registers, 'register')} a thread" if registers is not None else "",
            f"{'in local memory' if whole else 'spilled'}: {size}",
            _compiled_for(evidence),
        ),
        because="a thread has at most 255 registers; what does not fit is kept in local memory, which is "
        "ordinary device memory and hundreds of times slower",
        hints=(
            "how many values does one thread keep at the same time?",
            "a thread tile of TM x TN needs TM * TN sums and TM + TN operands in registers"
            + ("; an array is in registers only where every index is known once loops are unrolled" * whole),
            "make the thread tile or the depth of the k-tile smaller, and compile again",
        ),
        all_the_same="the result is right; the time is not",
    )


def _low_occupancy(evidence: Evidence) -> Wording:
    warps, most = evidence.count("warps"), evidence.count("limit")
    resource = evidence.text("resource").replace("-", " ")
    share = grammar.part(warps, most, "warp") if warps is not None else "few warps"
    return Wording(
        headline=f"{share} fit on a multiprocessor at a time"
        + (f", limited by {resource}" if resource else ""),
        primary="",
        seen=(
            f"{share} resident",
            f"limited by {resource}" if resource else "",
            _compiled_for(evidence),
        ),
        because="a multiprocessor hides the wait for memory by running other warps; "
        "with few of them it stands idle",
        hints=(
            "what does one block use up: threads, registers, shared memory?",
            f"{resource or 'one resource'} runs out first; the others are still free",
            f"let each block use less {resource or 'of what runs out first'}, or make the blocks smaller",
        ),
        picture=picture.bar(warps, most, "warps in flight", "places empty"),
        all_the_same="the result is right; with enough work in each thread even the time may be",
    )


WRITERS: dict[str, Writer] = {
    "float64-arithmetic": _float64_arithmetic,
    "uncoalesced-access": _uncoalesced_access,
    "bank-conflict": _bank_conflict,
    "idle-blocks": _idle_blocks,
    "low-arithmetic-intensity": _low_arithmetic_intensity,
    "no-shared-reuse": _no_shared_reuse,
    "register-spill": _register_spill,
    "low-occupancy": _low_occupancy,
}
