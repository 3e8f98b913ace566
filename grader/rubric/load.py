"""Reading a rubric: YAML, strictly typed, then checked for sense. A wrong one is refused with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path as FilePath

import msgspec
import yaml

from grader.rubric.expressions import ExpressionError, evaluate, names_in
from grader.rubric.model import ArgSpec, Bound, KernelSpec, Rubric
from grader.rubric.questions import question_problems
from grader.rubric.suites import families_of, shown_shapes
from grader.rubric.typed_yaml import Path, RubricError, TypedYaml, refused

__all__ = ["RubricError", "load", "load_text"]


def load(path: FilePath | str) -> Rubric:
    """The rubric of a file. Raises ``RubricError``: file, line, what is wrong, the names allowed there."""
    path = FilePath(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RubricError(str(path), 1, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RubricError(str(path), 1, "is not UTF-8") from None
    return load_text(text, exercise=path.stem, path=str(path))


@lru_cache(maxsize=16)
def load_text(text: str, *, exercise: str, path: str = "rubric") -> Rubric:
    """The rubric that ``text`` holds; ``exercise`` is its exercise's name, which also seeds its suites.

    A worker that grades a class reads each of its rubrics once.
    """
    file = TypedYaml(text, path, {ArgSpec: ArgSpec.parse})
    for key in ("exercise", "path"):
        _refuse_key(file, key)
    rubric: Rubric = file.read(Rubric)
    rubric = msgspec.structs.replace(rubric, exercise=exercise, path=path)
    _check_kind(file, rubric)
    if rubric.kernel is not None:
        _check_kernel(file, rubric.kernel)
        _check_suites(file, rubric, rubric.kernel)
        _check_checks(file, rubric)
        _check_timing(file, rubric, rubric.kernel)
    _check_questions(file, rubric)
    return rubric


def _refuse_key(file: TypedYaml, key: str) -> None:
    for node, _ in file.root.value if isinstance(file.root, yaml.MappingNode) else ():
        if getattr(node, "value", None) == key:
            raise RubricError(
                file.file, node.start_mark.line + 1, f"{key!r} is taken from the file's name; leave it out"
            )


def _check_kind(file: TypedYaml, rubric: Rubric) -> None:
    if rubric.kind == "kernel":
        for key in ("kernel", "suites", "checks"):
            if (key,) not in file.line_of:
                raise RubricError(file.file, 1, f"a kernel exercise needs the key {key!r}")
        return
    for key in ("kernel", "suites", "checks", "timing"):
        if (key,) in file.line_of:
            raise file.error(
                (key,), f"{key!r} belongs to a rubric of kind kernel, and this one is a {rubric.kind}"
            )
    if not rubric.questions:
        raise RubricError(file.file, 1, f"a {rubric.kind} needs questions")


def _check_kernel(file: TypedYaml, kernel: KernelSpec) -> None:
    at: Path = ("kernel",)
    if not kernel.outputs:
        raise file.error((*at, "args"), "no argument is marked 'out'; write for example 'out float32[M, N]'")
    sizes = {*kernel.dims, *kernel.constants}
    for name, arg in kernel.args.items():
        for expression in (*arg.shape, arg.value):
            _check_names(file, (*at, "args", name), expression, sizes)
    for name, values in kernel.constants.items():
        if not values:
            raise file.error((*at, "constants", name), f"{name} needs at least one value")
    for output in kernel.references:
        if output not in kernel.outputs:
            what = f"the reference names {output!r}, which is not an output"
            raise refused(file.file, file.line_of[*at, "reference"], what, output, kernel.outputs)
    _check_references(file, kernel)
    _check_launch(file, kernel, sizes)


def _check_references(file: TypedYaml, kernel: KernelSpec) -> None:
    # Loaded here, since it needs NumPy, which the rubric of a worksheet can do without.
    from grader.rubric.reference import BadReference, check_reference

    names = {name for name, arg in kernel.args.items() if not arg.out}
    for output in kernel.outputs:
        if output not in kernel.references:
            raise file.error(("kernel", "reference"), f"the output {output} has no reference")
        try:
            check_reference(kernel.references[output], names)
        except BadReference as error:
            raise file.error(("kernel", "reference"), str(error)) from None


def _check_launch(file: TypedYaml, kernel: KernelSpec, sizes: Iterable[str]) -> None:
    launch, at = kernel.launch, ("kernel", "launch")
    if launch.from_ is not None:
        if launch.block or launch.grid:
            raise file.error(at, "give either 'from' or 'block' and 'grid'")
        for name in launch.arguments:
            if name not in kernel.dims:
                line = file.line_of[*at, "arguments"]
                raise refused(file.file, line, f"{name!r} is not a dimension", name, kernel.dims)
        return
    if launch.arguments:
        raise file.error(at, "'arguments' goes with 'from'")
    for key, axes in (("block", launch.block), ("grid", launch.grid)):
        if not 1 <= len(axes) <= 3:
            raise file.error((*at, key), f"{key!r} needs one to three expressions, x first")
        for index, expression in enumerate(axes):
            _check_names(file, (*at, key, index), str(expression), sizes)


def _check_suites(file: TypedYaml, rubric: Rubric, kernel: KernelSpec) -> None:
    assert rubric.suites is not None
    for index, shape in enumerate(rubric.suites.shown.shapes):
        if len(shape) != len(kernel.dims):
            what = (
                f"a shape needs {len(kernel.dims)} sizes, for {', '.join(kernel.dims)}, and has {len(shape)}"
            )
            raise file.error(("suites", "shown", "shapes", index), what)
        for size in shape:
            _check_names(file, ("suites", "shown", "shapes", index), str(size), kernel.constants)
    hidden = rubric.suites.hidden
    allowed = families_of(kernel.dims)
    for index, family in enumerate(hidden.families if hidden else ()):
        if family not in allowed:
            line = file.line_of["suites", "hidden", "families", index]
            raise refused(file.file, line, f"unknown family {family!r}", family, allowed)
    if hidden is not None:
        _check_names(file, ("suites", "hidden", "tile"), str(hidden.tile), kernel.constants)
    _for_every_setting(file, ("suites",), kernel, lambda constants: shown_shapes(rubric, constants))


def _check_checks(file: TypedYaml, rubric: Rubric) -> None:
    present = rubric.checks.present
    assert rubric.kernel is not None
    assert rubric.suites is not None
    if "result" not in present:
        raise file.error(("checks",), "the check 'result' is missing; every other check rests on it")
    families = ("shown", *(rubric.suites.hidden.families if rubric.suites.hidden else ()))
    for name, check in present.items():
        if check.requires is not None and (check.requires not in present or check.requires == name):
            line = file.line_of["checks", name, "requires"]
            raise refused(
                file.file, line, f"{check.requires!r} is no other check here", check.requires, present
            )
        for key in ("flop_per_loaded_byte", "sectors_per_request"):
            bound = getattr(check, key, None)
            if isinstance(bound, Bound):
                _check_bound(file, ("checks", name, key), bound, rubric.kernel, families)


def _check_bound(
    file: TypedYaml, at: Path, bound: Bound, kernel: KernelSpec, families: tuple[str, ...]
) -> None:
    if bound.on not in families:
        line = file.line_of.get((*at, "on"), file.line_of[at])
        raise refused(file.file, line, f"the suites hold no family {bound.on!r}", bound.on, families)
    text = str(bound.at_least if bound.at_least is not None else bound.at_most)
    _check_names(file, at, text, kernel.constants)
    _for_every_setting(file, at, kernel, lambda constants: evaluate(text, constants))


def _check_timing(file: TypedYaml, rubric: Rubric, kernel: KernelSpec) -> None:
    if rubric.timing is None:
        return
    # Loaded here, since it needs the reference, and so NumPy.
    from grader.rubric.timing import operands_of, timed_shapes

    try:
        operands_of(kernel)
    except ValueError as error:
        raise file.error(("timing",), str(error)) from None
    for index, shape in enumerate(rubric.timing.sizes):
        at: Path = ("timing", "sizes", index)
        if len(shape) != len(kernel.dims):
            what = f"a size needs {len(kernel.dims)} numbers, for {', '.join(kernel.dims)}"
            raise file.error(at, f"{what}, and has {len(shape)}")
        for size in shape:
            _check_names(file, at, str(size), kernel.constants)
    _for_every_setting(file, ("timing",), kernel, lambda constants: timed_shapes(rubric, constants))


def _for_every_setting(
    file: TypedYaml, at: Path, kernel: KernelSpec, compute: Callable[[dict[str, int]], object]
) -> None:
    for name, values in kernel.constants.items():
        for value in values:
            settings = {other: choices[0] for other, choices in kernel.constants.items()} | {name: value}
            try:
                compute(settings)
            except (ExpressionError, ValueError) as error:
                raise file.error(at, f"with {name} = {value}: {error}") from None


def _check_names(file: TypedYaml, at: Path, expression: str, known: Iterable[str]) -> None:
    if not expression:
        return
    try:
        used = names_in(expression)
    except ExpressionError as error:
        raise file.error(at, str(error)) from None
    for name in sorted(used - set(known)):
        line = file.error(at, "").line
        raise refused(file.file, line, f"{name!r} in {expression!r} is not a name here", name, sorted(known))


def _check_questions(file: TypedYaml, rubric: Rubric) -> None:
    for problem in question_problems(rubric.questions, rubric.given):
        at: Path = ("questions", problem.index) if problem.index >= 0 else ("given",)
        raise file.error(at, str(problem))
