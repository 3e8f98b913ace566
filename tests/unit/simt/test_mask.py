"""Masks: splitting, joining, and what is known without looking."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.simt.mask import DEAD, Dead, Mask, Narrowing, contains, union, without

SIZE = 6
BOOLS = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE).map(np.array)


def state(array: Any, parent: Any = None) -> Any:
    """The mask, ``None`` or ``DEAD`` that stands for an array."""
    if not array.any():
        return DEAD
    return None if array.all() else Mask(array, parent)


def plain(mask: Any) -> Any:
    if isinstance(mask, Dead):
        return np.zeros(SIZE, bool)
    return np.ones(SIZE, bool) if mask is None else np.broadcast_to(mask.array, (SIZE,))


@settings(max_examples=80, deadline=None)
@given(BOOLS, BOOLS)
def test_split_is_a_partition(active: Any, condition: Any) -> None:
    whole = state(active)
    if isinstance(whole, Dead):
        return
    yes, no = Narrowing().split(whole, condition)
    assert plain(yes).tolist() == (active & condition).tolist()
    assert plain(no).tolist() == (active & ~condition).tolist()
    assert contains(whole, yes) if not isinstance(yes, Dead) else True


@settings(max_examples=80, deadline=None)
@given(BOOLS, BOOLS, BOOLS)
def test_union_and_difference(whole: Any, left: Any, right: Any) -> None:
    outer = state(whole)
    if isinstance(outer, Dead):
        return
    a, b = state(left & whole, outer), state(right & whole, outer)
    assert plain(union(a, b, outer)).tolist() == ((left | right) & whole).tolist()
    assert plain(without(outer, a)).tolist() == (whole & ~left).tolist()


@settings(max_examples=80, deadline=None)
@given(BOOLS, BOOLS)
def test_contains(outer: Any, inner: Any) -> None:
    a, b = state(outer), state(inner)
    if isinstance(a, Dead) or isinstance(b, Dead):
        return
    assert contains(a, b) == bool((outer | ~inner).all())


def test_a_condition_that_is_the_same_for_all_makes_no_mask() -> None:
    narrowing = Narrowing()
    assert narrowing.split(None, True) == (None, DEAD)
    assert narrowing.split(None, np.zeros(4, bool)) == (DEAD, None)
    half = Mask(np.array([True, False]), None)
    assert narrowing.split(half, np.array([True, False])) == (half, DEAD)


def test_the_same_condition_gives_the_same_mask() -> None:
    narrowing, condition = Narrowing(), np.array([True, False, True])
    first, second = narrowing.split(None, condition), narrowing.split(None, condition)
    assert first[0] is second[0]
    assert first[1] is second[1]


def test_rejoined_halves_are_the_whole() -> None:
    outer = Mask(np.array([True, True, False]), None)
    yes, no = Narrowing().split(outer, np.array([True, False, True]))
    assert union(yes, no, outer) is outer
    assert isinstance(yes, Mask)
    assert yes.within(outer)
    assert not outer.within(yes)


def test_the_same_conditions_joined_give_the_same_array() -> None:
    narrowing = Narrowing()
    a, b = np.array([True, True, False]), np.array([True, False, False])
    both = narrowing.combine(a, b, True)
    assert both.tolist() == [True, False, False]
    assert narrowing.combine(a, b, True) is both
    assert narrowing.combine(a, b, False).tolist() == [True, True, False]
    assert narrowing.combine(a.copy(), b, True) is not both


def test_conditions_that_are_views_of_memory_are_joined_anew() -> None:
    narrowing, memory = Narrowing(), np.array([True, True])
    view, other = memory[:], np.array([True, True])
    assert narrowing.combine(view, other, True).tolist() == [True, True]
    memory[0] = False
    assert narrowing.combine(view, other, True).tolist() == [False, True]
    assert narrowing.combine(other, view, True).tolist() == [False, True]


def test_masks_of_the_same_threads_have_one_name() -> None:
    row, full = np.array([[True], [False]]), np.array([[True, True], [False, False]])
    names = [Mask(array, None).threads((2, 2)) for array in (row, full, ~full)]
    assert names[0] == names[1] != names[2]
