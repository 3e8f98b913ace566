"""How the machine's time grows with the work: the exponent of M N K in a fit over several sizes."""

from __future__ import annotations

import numpy as np
from measure import Figure, Result, machine_product, median_seconds

TARGET = 1.1


def run(small: bool) -> Result:
    sizes = (32, 64, 96) if small else (128, 192, 256, 384, 512)
    times = [median_seconds(machine_product(n, n, n, 32), 1 if small else 3) for n in sizes]
    exponent = float(np.polyfit(np.log([n**3 for n in sizes]), np.log(times), 1)[0])
    met = None if small else exponent <= TARGET
    figures = [Figure(f"{n}^3", seconds, "s") for n, seconds in zip(sizes, times)]
    figures.append(Figure("exponent of M N K", exponent, "", f"at most {TARGET}", met))
    return Result("scaling of the machine, TILE 32", figures)
