"""What the machine does not follow, in words: the constructs that have no source text of their own."""

from __future__ import annotations

from typing import Final

CONSTRUCTS: Final = {
    "spin-wait": "a loop that waits for another thread to change memory",
    "atomics-of-mixed-sizes": "atomic operations of two widths on the same bytes",
    "recursion": "a function that calls itself",
    "grid-sync": "a barrier across the whole grid",
    "split-warp-barrier": "a `syncwarp` that the lanes of one warp reach on different lines",
    "copy-count": "an asynchronous copy of fewer than no elements, or of more than it moves",
    "part-of-a-warpgroup": "a `wgmma` to which only some warps of a warpgroup come",
    "wgmma-offset-of-each-thread": "a `wgmma` for which threads of one warpgroup name different tiles",
    "wgmma-of-less-than-a-tile": "a `wgmma` on a shared array that is smaller than its tile",
    "wgmma-sums-not-in-registers": "a `wgmma` whose sums are no part of a local array at a fixed offset",
    "wgmma-of-other-sums-under-way": "a `wgmma` on sums of which another one, still under way, has a part",
    "wgmma-operands-not-fenced": "a `wgmma` of what a thread wrote to shared memory without "
    "`fence_proxy_async` since",
    "wgmma-operands-overwritten": "a `wgmma` whose operands are overwritten before it is waited for",
}
"""By the code that the machine gives."""

__all__ = ["CONSTRUCTS"]
