"""What the compiler made of a kernel: as rows of a terminal, and as the properties of a JUnit case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.records import Compilation, Report
from grader.reporters.style import Style, counted, display_width, pad

__all__ = ["compilation_rows", "compiled_lines", "compiled_properties", "compiled_rows"]

_KINDS = {
    "arch": "this compiler has no such architecture",
    "refused": "numba refuses it",
    "unknown-name": "no module holds",
    "recursion": "the functions call each other for ever",
    "compiler": "the compiler fails",
}


def compiled_rows(report: Report, style: Style) -> list[str]:
    """Give a row for each architecture, or the reason why there is none; nothing where none was asked for."""
    if report.not_compiled:
        return style.wrap(f"not compiled: {report.not_compiled}", first="  ")
    return compilation_rows(report.compiled, style)


def compilation_rows(results: Sequence[Compilation], style: Style) -> list[str]:
    """Give a row for each architecture: registers, spills, memory, occupancy and what limits it."""
    wide = max((display_width(style.plain(one.arch)) for one in results), default=0)
    out = []
    for one in results:
        lead = f"  {pad(style.plain(one.arch), wide)}   "
        out += style.wrap(_figures(one), first=lead, rest=" " * len(lead))
    return out


def compiled_lines(report: Report) -> list[str]:
    """Give what :func:`compiled_rows` gives as plain lines, for a text that its reader wraps."""
    if report.not_compiled:
        return [f"not compiled: {report.not_compiled}"]
    return [f"{one.arch}: {_figures(one)}" for one in report.compiled]


def compiled_properties(report: Report) -> Iterator[tuple[str, str]]:
    """Give names and values: ``compiled.sm_90.registers`` and the like."""
    if report.not_compiled:
        yield "not_compiled", report.not_compiled
    for one in report.compiled:
        name = f"compiled.{one.arch}"
        if one.error:
            yield f"{name}.error", one.error
            continue
        yield f"{name}.registers", str(one.registers)
        yield f"{name}.spill_store_bytes", str(one.spill_store_bytes)
        yield f"{name}.shared_bytes", str(one.shared_bytes)
        if one.most_warps:
            yield f"{name}.occupancy", f"{one.occupancy:.4g}"


def _figures(one: Compilation) -> str:
    if one.error:
        where = f"line {one.line}: " if one.line is not None else ""
        return f"does not compile: {where}{_KINDS.get(one.error_kind, 'the compiler fails')}: {one.error}"
    parts = [counted(one.registers, "register")]
    if one.spill_store_bytes or one.spill_load_bytes:
        parts.append(f"spills {one.spill_store_bytes} bytes out and {one.spill_load_bytes} in")
    if one.stack_bytes:
        parts.append(f"{counted(one.stack_bytes, 'byte')} of stack")
    if one.shared_bytes:
        parts.append(f"{counted(one.shared_bytes, 'byte')} shared")
    parts.append(f"{counted(one.constant_bytes, 'byte')} constant")
    if one.most_warps:
        limit = one.limited_by.replace("-", " ")
        parts.append(f"{one.warps} of {one.most_warps} warps resident, limited by {limit}")
    return ", ".join(parts)
