from __future__ import annotations

import pytest

from grader.skeletons import SkeletonError, derive_skeleton

SOLUTION = """\
import math

def kernel(A):
    # region student: the loads
    #| # Load one element of each tile.
    #|
    #| for k in range(4):
    #|     pass
    # A comment of the solution.
    for k in range(4):
        A[k] = k
    # endregion
    return A
"""


WORKSHEET = """\
# Maths
<!-- region student: flops -->
<!-- skeleton
```yaml
flops:
```
-->
```yaml
flops: 2
```
<!-- endregion -->
end
"""


def test_a_region_becomes_its_skeleton_text() -> None:
    assert derive_skeleton(SOLUTION) == (
        "import math\n\ndef kernel(A):\n    # Load one element of each tile.\n\n    for k in range(4):\n"
        "        pass\n    return A\n"
    )


def test_a_worksheet_marks_its_regions_with_html_comments() -> None:
    assert derive_skeleton(WORKSHEET) == "# Maths\n```yaml\nflops:\n```\nend\n"


@pytest.mark.parametrize(
    ("lines", "line", "what"),
    [
        (["x = 1"], 1, "no student region is marked"),
        (["# region student: a", "#| pass", "x = 1"], 1, "this region is never closed"),
        (["y", "# endregion"], 2, "endregion without a region"),
        (
            ["# region student: a", "#| p", "# region student: b"],
            3,
            "a region opens inside the region of line 1",
        ),
        (["# region student: a", "x", "# endregion"], 1, "this region has no skeleton text at its head"),
        (
            ["# region student: a", "#| p", "# endregion"],
            1,
            "this region has no solution after its skeleton text",
        ),
        (
            ["# region student: a", "#| p", "x", "#| q", "# endregion"],
            4,
            "skeleton text after the region's code has begun",
        ),
        (
            ["<!-- region student -->", "<!-- skeleton", "a", "<!-- endregion -->"],
            2,
            "this skeleton comment is never closed",
        ),
    ],
)
def test_regions_that_make_no_skeleton_are_refused(lines: list[str], line: int, what: str) -> None:
    with pytest.raises(SkeletonError) as caught:
        derive_skeleton("\n".join(lines) + "\n")
    assert (caught.value.line, caught.value.what) == (line, what)
    assert str(caught.value) == f"line {line}: {what}"
