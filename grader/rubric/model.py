"""What a rubric says, as frozen structs. ``load`` builds them from YAML; docs/rubrics.md is the reference."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from grader.rubric.questions import Givens, Question

Points = Annotated[float, Meta(ge=0)]
Expression = str | int | float
Role = Literal["array", "int", "float"]

DTYPES = (
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)

_ARRAY = re.compile(r"(?P<out>out\s+)?(?P<dtype>[a-z]+\d+)\s*\[(?P<shape>[^\[\]]+)\]")
_SCALAR = re.compile(r"(?P<role>int|float)(\s*=\s*(?P<value>.+))?")


class ArgSpec(Struct, frozen=True):
    """One argument of the kernel: ``float32[M, K]``, ``out float32[M, N]``, ``int`` or ``float = 0.5``.

    A scalar without a value is the dimension of its own name.
    """

    role: Role
    dtype: str = ""
    shape: tuple[str, ...] = ()
    out: bool = False
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> ArgSpec:
        """Raises ``ValueError`` with one line that says which forms are read."""
        if scalar := _SCALAR.fullmatch(text.strip()):
            role: Role = "int" if scalar["role"] == "int" else "float"
            return cls(role, value=scalar["value"] or "")
        array = _ARRAY.fullmatch(text.strip())
        if array is None:
            raise ValueError(
                f"{text!r} is not an argument; write 'float32[M, K]', 'out float32[M, N]' or 'int'"
            )
        if array["dtype"] not in DTYPES:
            raise ValueError(f"{array['dtype']!r} is not a dtype here; the dtypes are {', '.join(DTYPES)}")
        shape = tuple(size.strip() for size in array["shape"].split(","))
        return cls("array", array["dtype"], shape, bool(array["out"]))


class LaunchSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """Block and grid as expressions, x first; or ``from``: the submission's function that returns them.

    ``arguments`` are the dimensions passed to that function, in order; without them, all of them.
    """

    block: tuple[Expression, ...] = ()
    grid: tuple[Expression, ...] = ()
    from_: str | None = field(default=None, name="from")
    arguments: tuple[str, ...] = ()


class KernelSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The kernel that is judged, how it is launched, and what it must compute.

    ``constants`` maps a module constant of the submission to the values that it may have.
    ``reference`` is an array expression for the one ``out`` argument, or one for each by name.
    """

    name: str
    args: dict[str, ArgSpec]
    launch: LaunchSpec
    reference: str | dict[str, str]
    constants: dict[str, tuple[int, ...]] = {}
    shared_bytes: Expression = 0

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the ``out`` arguments, in order."""
        return tuple(name for name, arg in self.args.items() if arg.out)

    @property
    def references(self) -> dict[str, str]:
        """The array expression of each output."""
        if isinstance(self.reference, str):
            return dict.fromkeys(self.outputs, self.reference)
        return self.reference

    @property
    def dims(self) -> tuple[str, ...]:
        """The named sizes of a launch, in the order in which shapes give them.

        First the ``int`` arguments without a value, then further names that array shapes use.
        """
        scalars = [name for name, arg in self.args.items() if arg.role == "int" and not arg.value]
        used = [
            word
            for arg in self.args.values()
            for size in arg.shape
            for word in re.findall(r"[A-Za-z_]\w*", size)
        ]
        names = dict.fromkeys(scalars + used)
        return tuple(name for name in names if name not in self.constants)


class ShownSuite(Struct, frozen=True, forbid_unknown_fields=True):
    """Shapes that students are told, each a list of sizes in the order of ``KernelSpec.dims``."""

    shapes: tuple[tuple[Expression, ...], ...]


class HiddenSuite(Struct, frozen=True, forbid_unknown_fields=True):
    """Families from which ``per_family`` shapes each are drawn, scaled by ``tile``."""

    families: tuple[str, ...]
    per_family: Annotated[int, Meta(ge=1, le=8)] = 2
    tile: Expression = "TILE"


class Suites(Struct, frozen=True, forbid_unknown_fields=True):
    """The launch shapes of an exercise."""

    shown: ShownSuite
    hidden: HiddenSuite | None = None


class Bound(Struct, frozen=True, forbid_unknown_fields=True):
    """A bound on a measured figure over the shapes of the family ``on``; exactly one of the two is given."""

    at_least: Expression | None = None
    at_most: Expression | None = None
    on: str = "aligned"

    def __post_init__(self) -> None:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("give one of at_least and at_most")


class SimpleCheck(Struct, frozen=True, forbid_unknown_fields=True):
    """A check without settings. ``requires`` names a check that must earn points for this one to earn any."""

    points: Points
    requires: str | None = None


class TrafficCheck(Struct, frozen=True, forbid_unknown_fields=True):
    """Arithmetic intensity: 2 M N K over the bytes that global loads ask for."""

    points: Points
    flop_per_loaded_byte: Bound
    requires: str | None = None


class CoalescingCheck(Struct, frozen=True, forbid_unknown_fields=True):
    """32-byte sectors per request of the global loads."""

    points: Points
    sectors_per_request: Bound
    requires: str | None = None


Check = SimpleCheck | TrafficCheck | CoalescingCheck


class Checks(Struct, frozen=True, forbid_unknown_fields=True):
    """The checks of a kernel exercise; one that is left out is not made and has no points."""

    result: SimpleCheck | None = None
    hazards: SimpleCheck | None = None
    bounds: SimpleCheck | None = None
    traffic: TrafficCheck | None = None
    coalescing: CoalescingCheck | None = None

    @property
    def present(self) -> dict[str, Check]:
        """The checks that the rubric asks for, by name, in the order of this class."""
        every: dict[str, Check | None] = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: check for name, check in every.items() if check is not None}


class TimingSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """Launch shapes to time on a GPU, in the order of ``KernelSpec.dims``; without any, two of our choice."""

    sizes: tuple[tuple[Expression, ...], ...] = ()


class Rubric(Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise's rubric. ``exercise`` and ``path`` are where it was read from, never written in it."""

    title: str
    kind: Literal["kernel", "worksheet", "quiz"]
    exercise: str = ""
    path: str = ""
    kernel: KernelSpec | None = None
    suites: Suites | None = None
    checks: Checks = Checks()
    timing: TimingSpec | None = None
    given: Givens = {}
    questions: tuple[Question, ...] = ()
    feedback: Literal["full", "category", "none"] = "full"
    hints: tuple[str, ...] = ()
    max_hint_level: Annotated[int, Meta(ge=0, le=3)] = 3
