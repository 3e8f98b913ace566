"""Run a batch of kernels on numba's simulator: JSON lines in, JSON lines out. A process of its own."""

from __future__ import annotations

import json
import os
import sys
import warnings

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
warnings.simplefilter("ignore")


def main() -> None:
    import numpy as np

    for line in sys.stdin:
        case = json.loads(line)
        names: dict[str, object] = {}
        dtypes = {"F": np.float64, "fout": np.float64}
        arrays = {name: np.array(v, dtypes.get(name, np.int64)) for name, v in case["data"].items()}
        try:
            exec(compile(case["source"], f"kernel{case['seed']}", "exec"), names)
            names["kernel"][tuple(case["grid"]), tuple(case["block"])](*arrays.values())  # type: ignore[index]
            answer = {name: array.tolist() for name, array in arrays.items()}
        except Exception as error:  # noqa: BLE001  the test reports whatever it is
            answer = {"error": repr(error)}
        sys.stdout.write(json.dumps({"seed": case["seed"], "answer": answer}) + "\n")
        sys.stdout.flush()


main()
