"""Run mutants on numba's simulator: JSON lines in, JSON lines out. A process of its own.

python -m tests.mutation.simulate < jobs
"""

from __future__ import annotations

import json
import os
import sys
import warnings

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
warnings.simplefilter("ignore")


def main() -> None:
    import numpy as np
    from numba import config

    from tests.mutation.shapes import SHAPES, TOLERANCE, block_of, grid_of, inputs, small

    config.ENABLE_CUDASIM = True
    for line in sys.stdin:
        job = json.loads(line)
        names: dict[str, object] = {"__name__": "mutant"}
        answer = "right"
        try:
            exec(compile(small(job["source"]), job["key"], "exec"), names)
            for sizes in SHAPES:
                a, b, wanted = inputs(sizes)
                c = np.full(wanted.shape, np.nan, np.float32)
                grid, block = grid_of(sizes), block_of(job["style"])
                if "launch_config" in names:
                    grid, block = names["launch_config"](*sizes[:2])  # type: ignore[operator]
                names["tiled_matmul"][grid, block](a, b, c, *sizes)  # type: ignore[index]
                if not np.allclose(c, wanted, rtol=TOLERANCE, atol=0):
                    answer = "wrong"
                    break
        except Exception as error:  # noqa: BLE001 - the kind of error is the result
            answer = f"error {type(error).__name__}"
        sys.stdout.write(json.dumps({"key": job["key"], "answer": answer}) + "\n")
        sys.stdout.flush()


main()
