"""A race in the orders of the warps: shown, mended, or with nothing to show."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from grader.checks.launch_config import Config
from grader.checks.launching import Launcher, Trial
from grader.checks.warp_orders import Shown, show_race
from grader.rubric.suites import Shape
from grader.simt import Program, parse

READ = "shared-read-before-barrier"
TRIAL = Trial(Shape("shown", {"M": 2}, True), Config((1,), (64,)), ())
REPAIRED = parse("")


@dataclass
class Orders:
    """Stands for a launcher: what each order of the warps gives, before the repair and after."""

    before: dict[str, bool | None]
    after: dict[str, bool | None]
    repaired: bool = False

    def with_program(self, program: Program) -> Orders:
        return Orders(self.before, self.after, repaired=True)

    def cover(self, shape: Shape, config: Config) -> None:
        return None

    def launch(self, shape: Shape, config: Config, *, schedule: str, **_: Any) -> Any:
        right = (self.after if self.repaired else self.before).get(schedule, True)
        return SimpleNamespace(run=SimpleNamespace(completed=right is not None), right=right)


def shown(
    before: dict[str, bool | None], after: dict[str, bool | None], repaired: Program | None = REPAIRED
) -> Shown:
    return show_race(cast(Launcher, Orders(before, after)), repaired, [TRIAL], READ)


def test_an_order_that_shows_the_race_and_its_repair() -> None:
    assert shown({"ascending": False}, {}) == Shown(1, wrong=True, mended=True)
    assert shown({"descending": False}, {}) == Shown(2, wrong=True, mended=True)


def test_a_repair_that_leaves_an_order_wrong_is_none() -> None:
    assert shown({"ascending": False}, {"ascending": False}) == Shown(1, wrong=True, mended=False)
    assert shown({"ascending": False}, {"ascending": None}) == Shown(1, wrong=True, mended=False)


def test_without_a_repair_the_race_is_shown_and_not_mended() -> None:
    assert shown({"ascending": False}, {}, None) == Shown(1, wrong=True, mended=False)


def test_a_launch_that_does_not_end_shows_nothing_and_is_not_counted() -> None:
    stuck: dict[str, bool | None] = dict.fromkeys(("ascending", "descending", "middle-first"))
    assert shown({}, {}) == Shown(3, wrong=False, mended=False)
    assert shown(stuck, {}) == Shown(0, wrong=False, mended=False)
    assert shown({**stuck, "middle-first": True}, {}) == Shown(1, wrong=False, mended=False)
