"""A child that runs a submission under numba's simulator: the one place where a student's code is executed.

It runs alone in a sandbox and imports nothing of ours. On its standard input come the length of a
JSON header (8 bytes, big end first), the header, and the arrays' bytes; on its standard output go the
output arrays' bytes and nothing else. It is not told what they should be, and whatever it sends is
compared by the parent.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Read one request, run it, write the outputs."""
    results = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    sys.path[:0] = sys.argv[1:]
    stream = sys.stdin.buffer
    header = json.loads(stream.read(int.from_bytes(stream.read(8), "big")))

    import numpy as np

    launches = []
    for launch in header["launches"]:
        arguments: list[Any] = []
        for argument in launch["arguments"]:
            if "value" in argument:
                arguments.append(argument["value"])
                continue
            kind = np.dtype(argument["dtype"])
            size = int(np.prod(argument["shape"], dtype=np.int64)) * kind.itemsize
            arguments.append(np.frombuffer(stream.read(size), kind).reshape(argument["shape"]).copy())
        launches.append((launch, arguments))
    namespace: dict[str, Any] = {"__name__": "submission", "__file__": header["file"]}
    exec(compile(header["source"], header["file"], "exec"), namespace)  # noqa: S102 - what this child is for
    kernel = namespace[header["kernel"]]
    for launch, arguments in launches:
        kernel[tuple(launch["grid"]), tuple(launch["block"])](*arguments)
        for index in launch["outputs"]:
            os.write(results, np.ascontiguousarray(arguments[index]).tobytes())


if __name__ == "__main__":
    main()
