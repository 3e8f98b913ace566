"""A kernel's profile as text: a row for each figure, a column for each kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from grader.perf.kernel_profile import KernelProfile, Profile
from grader.reporters.model_words import three, with_prefix
from grader.reporters.style import Style, display_width, pad

__all__ = ["render"]

_BINDS = {"alu": "the ALUs", "tensor-core": "the tensor cores", "hbm": "HBM", "shared": "shared memory"}
_NONE = "-"
#: The tiles of the exercises have sides of 4, 8, 16 or 32.
_WIDEST_TILE = 32
Cell = Callable[[KernelProfile], str]


def render(profile: Profile, style: Style) -> str:
    """Write a profile; it ends with a newline."""
    blocks = [
        _title(profile, style),
        _faults(profile, style),
        *_tables(profile, style),
        _notes(profile, style),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _title(profile: Profile, style: Style) -> list[str]:
    size, counted = (" x ".join(map(str, one)) for one in (profile.size, profile.counted))
    title = f"{profile.exercise} on {profile.device.title}, M x N x K = {size}"
    out = [style.paint("strong", line) for line in style.wrap(title, rest="  ")]
    if profile.size != profile.counted:
        out += style.wrap(
            f"Counted by the machine at {counted} and scaled: loads, shared memory and arithmetic by M N K, "
            f"stores by M N. {_exactness(profile)}"
        )
    else:
        out += style.wrap("Counted by the machine at that size.")
    return out


def _exactness(profile: Profile) -> str:
    scaled = zip(profile.size, profile.counted, strict=True)
    ragged = dict.fromkeys(str(side) for side, part in scaled if side != part and side % _WIDEST_TILE)
    if not ragged:
        return "For whole tiles that is exact."
    return (
        f"That is exact for whole tiles alone, and {', '.join(ragged)} is no multiple of {_WIDEST_TILE}: "
        "where the last tiles are ragged the figures are near."
    )


def _faults(profile: Profile, style: Style) -> list[str]:
    return [
        line
        for one in profile.kernels
        if one.faults
        for line in style.wrap(
            f"FAULTY: `{one.label}` has {', '.join(one.faults)}; grader check {profile.exercise} --file "
            f"{profile.path} says where. Its figures are those of a wrong kernel.",
            rest="  ",
        )
    ]


def _tables(profile: Profile, style: Style) -> list[list[str]]:
    """One table of all kernels where it fits the width, else one for each, or each figure below its name."""
    whole = _table(profile)
    if _fits(whole, style):
        return [whole]
    alone = [_table(replace(profile, kernels=(one,))) for one in profile.kernels]
    if all(_fits(table, style) for table in alone):
        return alone
    return [_stacked(replace(profile, kernels=(one,)), style) for one in profile.kernels]


def _fits(table: list[str], style: Style) -> bool:
    return max(map(display_width, table)) <= style.width


def _stacked(profile: Profile, style: Style) -> list[str]:
    [one] = profile.kernels
    rows = [
        line
        for name, cell in _rows(profile)
        for line in style.wrap(f"{name}: {cell(one)}", first="  ", rest="    ")
    ]
    return [one.label, *rows]


def _table(profile: Profile) -> list[str]:
    rows = [("", [one.label for one in profile.kernels])]
    rows += [(name, [cell(one) for one in profile.kernels]) for name, cell in _rows(profile)]
    lead = max(display_width(name) for name, _ in rows) + 2
    wide = [max(display_width(cells[at]) for _, cells in rows) for at in range(len(profile.kernels))]
    out = []
    for name, cells in rows:
        aligned = [" " * (width - display_width(cell)) + cell for cell, width in zip(cells, wide)]
        out.append(("  " + pad(name, lead) + "   ".join(aligned)).rstrip())
    return out


def _rows(profile: Profile) -> Iterator[tuple[str, Cell]]:
    yield "result of that launch", lambda one: "right" if one.right else "WRONG"
    yield "global loads asked for", lambda one: _bytes(one.load_bytes)
    yield "global stores asked for", lambda one: _bytes(one.store_bytes)
    yield "32-byte sectors moved", lambda one: _bytes(one.sector_bytes)
    yield "FLOP per loaded byte", lambda one: _NONE if one.intensity is None else three(one.intensity)
    yield "shared memory traffic", lambda one: _bytes(one.shared_bytes)
    yield "shared bytes per FLOP", lambda one: three(one.shared_bytes_per_flop) if one.wavefronts else _NONE
    yield (
        "bank conflicts per access",
        lambda one: f"{one.conflicts_per_request:.2g}" if one.wavefronts else _NONE,
    )
    for name in ("hbm", "shared", "alu", "tensor-core"):
        if any(limit.name == name and limit.seconds for one in profile.kernels for limit in one.times):
            yield f"time at {_BINDS[name]}", _limit(name)
    yield "likely to bind", lambda one: _BINDS[one.bound_by]
    yield from _compiled(profile)
    yield from _measured(profile)


def _compiled(profile: Profile) -> Iterator[tuple[str, Cell]]:
    if not any(one.compiled for one in profile.kernels):
        return
    yield "registers a thread", lambda one: str(one.compiled.registers) if one.compiled else _NONE
    yield "spilled bytes a thread", lambda one: str(one.compiled.spill_store_bytes) if one.compiled else _NONE
    yield "shared bytes a block", lambda one: f"{one.compiled.shared_bytes:,}" if one.compiled else _NONE
    yield "occupancy", _occupancy
    yield "limited by", _limited_by


def _occupancy(one: KernelProfile) -> str:
    found = one.compiled
    return f"{100 * found.occupancy:.0f} %" if found is not None and found.most_warps else _NONE


def _limited_by(one: KernelProfile) -> str:
    return one.compiled.limited_by.replace("-", " ") or _NONE if one.compiled is not None else _NONE


#: Figures of ncu, each of the launch that the machine counted, with how it is written.
_NCU: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "nanoseconds": ("measured time", lambda value: f"{three(value / 1e3)} us"),
    "dram_read_bytes": ("measured HBM reads", lambda value: with_prefix(value, "B")),
    "l2_read_sectors": ("measured L2 reads", lambda value: _bytes(32 * value)),
    "memory_percent": ("measured memory throughput", lambda value: f"{value:.0f} %"),
    "dram_percent": ("measured HBM throughput", lambda value: f"{value:.0f} %"),
    "sm_percent": ("measured SM throughput", lambda value: f"{value:.0f} %"),
    "occupancy_percent": ("measured occupancy", lambda value: f"{value:.0f} %"),
    "registers": ("measured registers", lambda value: f"{value:.0f}"),
}


def _measured(profile: Profile) -> Iterator[tuple[str, Cell]]:
    for name, (label, written) in _NCU.items():
        if any(name in one.measured for one in profile.kernels):
            yield label, _figure(name, written)


def _figure(name: str, written: Callable[[float], str]) -> Cell:
    return lambda one: written(one.measured[name]) if name in one.measured else _NONE


def _limit(name: str) -> Cell:
    def cell(one: KernelProfile) -> str:
        seconds = next((limit.seconds for limit in one.times if limit.name == name), 0.0)
        return f"{three(1e3 * seconds)} ms" if seconds else _NONE

    return cell


def _bytes(value: float) -> str:
    return with_prefix(value, "B") if value else "0"


def _notes(profile: Profile, style: Style) -> list[str]:
    notes = [
        f"A, B and C once each are {_bytes(profile.compulsory_bytes)}: no kernel moves less. The times are "
        "what each limit alone would take if L2 kept nothing; the longest is likely to bind (docs/model.md).",
    ]
    if any(one.wavefronts for one in profile.kernels):
        notes.append(
            "Shared accesses are counted as the source asks for them; the compiler may merge neighbouring "
            "loads."
        )
    if profile.not_compiled:
        notes.append(f"Registers and occupancy are missing: not compiled: {profile.not_compiled}.")
    if profile.not_measured:
        notes.append(f"Not measured with ncu: {profile.not_measured}.")
    elif profile.size != profile.counted:
        notes.append("What is called measured is of the launch that the machine counted, not scaled.")
    return [line for note in notes for line in style.wrap(note)]
