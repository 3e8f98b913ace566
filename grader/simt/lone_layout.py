"""Axes for a loop's iterations, such that quotients and remainders of its index are linear in them.

``for n in range(TILE * TILE)`` with ``n // TILE`` and ``n % TILE`` is two loops written as one: over
axes for the rows and the columns, both are linear, as thread numbers are once their axes are split.
"""

from __future__ import annotations


def layout(indices: range, divisors: list[int]) -> tuple[int, ...]:
    """Axes, outermost first, for as many of the first iterations as can be laid out along them."""
    axes: tuple[int, ...] = ()
    step, inner = abs(indices.step), 1
    for divisor in sorted(set(divisors)):
        period, rest = divmod(divisor, step)
        if rest or period <= inner or period % inner:
            continue
        start = indices.start % divisor
        at = (start if indices.step > 0 else divisor - 1 - start) // step
        count = min(len(indices), period - at)
        if count < period:  # up to the end of a period that has begun, or does not end
            return (count // inner, *axes)
        axes, inner = (period // inner, *axes), period
    return (len(indices) // inner, *axes)


__all__ = ["layout"]
