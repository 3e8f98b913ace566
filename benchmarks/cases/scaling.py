"""How the machine's time grows with the work: a + b M N K, with b the same from small to large."""

from __future__ import annotations

from measure import Figure, Result, machine_product, median_seconds

TARGET_SPREAD = 1.3
TARGET_START = 0.020


def run(small: bool) -> Result:
    sizes = (32, 64) if small else (256, 384, 512, 768, 1024)
    start = median_seconds(machine_product(32, 32, 32, 32), 1 if small else 9)
    products = [machine_product(n, n, n, 32) for n in sizes]
    # A small product is over in a moment of whatever else goes on: as many of each as take equally long.
    repeats = [1 if small else max(3, 3 * (768 // n) ** 3) for n in sizes]
    times = [median_seconds(product, count) for product, count in zip(products, repeats)]
    per_product = [(seconds - start) / n**3 * 1e9 for n, seconds in zip(sizes, times)]
    spread = max(per_product) / min(per_product) if min(per_product) > 0 else float("inf")
    figures = [Figure(f"{n}^3", seconds, "s") for n, seconds in zip(sizes, times)]
    figures += [Figure(f"b at {n}^3", b, "ns") for n, b in zip(sizes, per_product)]
    met_start = None if small else start <= TARGET_START
    met_spread = None if small else spread <= TARGET_SPREAD
    figures.append(Figure("a, one block of 32^3", start, "s", f"at most {TARGET_START}", met_start))
    figures.append(Figure("greatest b over least", spread, "times", f"at most {TARGET_SPREAD}", met_spread))
    return Result("scaling of the machine, TILE 32: a + b M N K", figures)
