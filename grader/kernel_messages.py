"""From findings and a confirmed cause to the messages of a report, in the order in which to fix them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.checks.evidence import Seen
from grader.checks.places import function_node, parameters
from grader.checks.repair import Confirmed
from grader.checks.repairs import Repair
from grader.checks.traffic import TRAFFIC
from grader.diagnosis import Context, MendedPart, explain, rank
from grader.diagnosis.grammar import listing
from grader.records import Diagnostic, Dim3, FamilyResult, Finding, ShapeResult
from grader.rubric.model import Rubric
from grader.simt import Program

__all__ = ["base_context", "curtailed", "diagnose"]

_REPAIRS = {
    "barrier": "a barrier after line {line}",
    "lift-barrier": "the barrier of line {line} moved out of its `if`",
    "keep-threads": "the threads that return on line {line} kept until the last barrier",
    "fill-zero": "a zero stored where the test on line {line} is false",
    "guard-store": "the store on line {line} under a test of its indices",
    "guard-load": "the load on line {line} under a test of its indices",
    "round-up": "the division on line {line} rounded up",
    "tile-count": "the loop on line {line} run once for each k-tile",
    "swap-grid": "the two axes of the grid on line {line} exchanged",
    "swap-launch": "the grid and the block on line {line} exchanged",
    "swap-indices": "the two indices on line {line} exchanged",
    "assign-output": "the sum stored on line {line} and not added",
    "suspect-type": "`{text}` as the type on line {line}",
    "suspect-conversion": "`{text}` kept as it is on line {line}",
    "suspect-sum": "`{text}` on line {line}",
    "suspect-start": "`{text}` to start from on line {line}",
    "suspect-again": "line {line} taken out",
    "suspect-once": "line {line} moved before the loop",
    "suspect-output": "`{text}` stored on line {line}",
    "suspect-guard": "the test on line {line} made that of the array's own bounds",
    "suspect-range": "`{text}` on line {line}",
    "suspect-step": "`{text}` on line {line}",
    "suspect-grid-order": "`{text} = cuda.grid(2)` on line {line}",
    "block-size": "`{text}` as the block on line {line}",
    "suspect-mirrored": "`{text}` on line {line}",
    "suspect-axes": "x and y exchanged on line {line} and on the one beside it",
    "suspect-offset": "`{text}` on line {line}",
    "suspect-shape": "`{text}` as the shape on line {line}",
    "suspect-alias": "`{text}` on line {line}",
    "suspect-test": "`{text}` as the limit on line {line}",
    "suspect-rebinding": "the statement on line {line} taken out",
    "suspect-each-round": "`{text}` moved from line {line} into the loop",
    "suspect-flip": "`{text}` on line {line}",
    "suspect-buffers": "`{text}` as the number of buffers on line {line}",
    "suspect-lane": "`{text}` as the lane on line {line}",
    "suspect-blank": "`{text}` on line {line}",
    "suspect-index": "`{text}` as the index on line {line}",
}
MOST_NOTES = 6


def diagnose(
    rubric: Rubric,
    path: str,
    program: Program,
    seen: Sequence[Seen],
    early: Sequence[Finding],
    families: Sequence[FamilyResult],
    settings: Mapping[str, int],
    confirmed: Confirmed | None,
) -> tuple[Diagnostic, ...]:
    """Every finding explained; the confirmed cause first, then by rank, a few notes last."""
    if rubric.feedback == "none":
        return ()
    base = base_context(rubric, path, program, families, settings)
    by_finding = {id(one.finding): one for one in seen}
    repair = _words(confirmed.repairs) if confirmed is not None and confirmed.repairs else None
    causes = confirmed.findings if confirmed is not None else ()
    # Exchanged indices are found by the experiment itself: they are shown on the first failing shape.
    shown = next((one for one in seen if one.finding.severity == "error"), None) if causes else None
    messages: list[Diagnostic] = []
    for finding in _ordered([*early, *(one.finding for one in seen)], confirmed):
        context = _context(base, finding, by_finding.get(id(finding)) or shown)
        if any(finding is cause for cause in causes):
            context = _tested(context, confirmed, repair)
            codes = frozenset(one.code for one in confirmed.repairs) if confirmed is not None else frozenset()
            context = replace(context, repair_codes=codes)
        hidden = context.shape is not None and not context.shape.shown
        messages.append(replace(explain(finding, context), on_hidden_shape=hidden))
    return tuple(curtailed(one) for one in messages) if rubric.feedback == "category" else tuple(messages)


def _tested(context: Context, confirmed: Confirmed | None, repair: str | None) -> Context:
    """The context with what the experiments showed; a race that no warp order showed is not confirmed."""
    shown = confirmed.shown if confirmed is not None else None
    if confirmed is not None and confirmed.part is not None:
        part = confirmed.part
        mended = MendedPart(part.shapes, part.failing, part.elements, part.wrong)
        return replace(context, confirmed="part", repair=repair, mended=mended)
    if shown is None:
        causes = _faults(confirmed) if confirmed is not None else 1
        return replace(context, confirmed="experiment", repair=repair, causes=causes)
    if shown.wrong and shown.mended:
        return replace(context, confirmed="schedule", repair=repair, orders=shown.orders)
    if shown.wrong:
        return replace(context, confirmed="order", orders=shown.orders)
    return replace(context, orders=shown.orders)


def _faults(confirmed: Confirmed) -> int:
    """How many faults had to be repaired: one finding may stand for accesses that each need a repair."""
    if len(confirmed.findings) < 2:
        return 1
    return max(len(confirmed.findings), len({(one.code, one.line, one.text) for one in confirmed.repairs}))


def _ordered(findings: list[Finding], confirmed: Confirmed | None) -> list[Finding]:
    """The causes, then the rest by rank, a few notes last.

    Where an experiment showed that mending the causes mends all, other errors are their consequences and left
    out, but for those of traffic, which no result shows. Where it mends a part, only what it is a part of is.
    """
    causes = confirmed.findings if confirmed is not None else ()
    whole = confirmed.whole if confirmed is not None else None
    mended = confirmed is not None and bool(confirmed.repairs) and whole is None
    rest = [one for one in rank(findings) if not any(one is cause for cause in (*causes, whole))]
    urgent = [one for one in rest if one.severity != "note"]
    if mended:
        urgent = [one for one in urgent if one.severity != "error" or one.name in TRAFFIC]
    notes = [one for one in rest if one.severity == "note"]
    return [*causes, *urgent, *notes[:MOST_NOTES]]


def base_context(
    rubric: Rubric, path: str, program: Program, families: Sequence[FamilyResult], settings: Mapping[str, int]
) -> Context:
    """What every message on a submission may draw on."""
    shapes = [shape for family in families for shape in family.shapes]
    return Context(
        path=path,
        source_lines=program.lines,
        settings=settings,
        families=tuple(families),
        failing=tuple(shape for shape in shapes if not shape.passed and shape.ran),
        passing=tuple(shape for shape in shapes if shape.passed),
        names=_names(rubric, program),
    )


def _context(base: Context, finding: Finding, seen: Seen | None) -> Context:
    if seen is None:
        # Of the text alone: nothing was launched, so no shape passed or failed by it.
        return replace(base, failing=(), passing=(), families=())
    trial = seen.trial
    result = ShapeResult(
        trial.shape.family, trial.shape.dims, trial.shape.shown, trial.right, trial.wrong, trial.elements
    )
    context = replace(base, shape=result)
    if trial.config is not None:
        context = replace(context, grid=_dim3(trial.config.grid), block=_dim3(trial.config.block))
    return replace(context, failing=(), passing=()) if finding.name in TRAFFIC else context


def _dim3(axes: tuple[int, ...]) -> Dim3:
    x, y, z = (*axes, 1, 1)[:3]
    return x, y, z


def _names(rubric: Rubric, program: Program) -> dict[str, str]:
    """The kernel's own names for the roles that messages speak of."""
    kernel = rubric.kernel
    if kernel is None:
        return {}
    node = function_node(program, kernel.name)
    own = parameters(node) if node is not None else ()
    arrays = {name: (own[i] if i < len(own) else name) for i, name in enumerate(kernel.args)}
    names = {"kernel": kernel.name, "out": arrays[kernel.outputs[0]]}
    names["reference"] = kernel.references[kernel.outputs[0]]
    inputs = [arrays[name] for name, arg in kernel.args.items() if arg.role == "array" and not arg.out]
    return names | dict(zip(("left", "right"), inputs, strict=False))


def _words(repairs: Sequence[Repair]) -> str:
    said = dict.fromkeys(_REPAIRS[one.code].format(line=one.line, text=one.text) for one in repairs)
    return listing(tuple(said))


def curtailed(message: Diagnostic) -> Diagnostic:
    """What is left where a rubric's feedback is "category": the name and what it means in general."""
    return Diagnostic(message.name, message.severity, message.headline)
