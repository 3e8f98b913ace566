"""The reference checker: one thread after another in plain Python, every access of an interval recorded.

Written for these tests alone and apart from the machine: nothing of ``grader`` is imported. A kernel's
text is rewritten so that each thread is a generator that stops at barriers, and each subscript calls a
recorder. Between two stops of a block the accesses of all its threads are compared word by word:

    race        two threads, one word, one interval, a write among them (equal plain writes are none)
    grid race   the same of two blocks on global memory, over the whole launch
    bounds      an index outside its axis
    undefined   a value that nobody stored reaches the output, a branch, an index or a loop's end
    divergence  threads of one block stop at different barriers
    refused     what the compiler refuses: a shape that is no constant, a name that is never set
    endless     more steps than any of these kernels needs

A barrier of a warp is passed over: it orders no two warps, and every tile here belongs to several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.mutation.reference_rewrite import Refused

MOST_STEPS = 60_000


class Endless(Exception):
    """The launch takes more steps than it can need."""


class Undefined:
    """A value that nobody stored, or that was made of one."""

    def _mixed(self, *_: object) -> Undefined:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __truediv__ = _mixed
    __float__ = None  # type: ignore[assignment]


NOTHING = Undefined()


@dataclass
class Store:
    """An array as a flat list of words; ``space`` is shared (a block's), global, or local (a thread's)."""

    name: str
    shape: tuple[int, ...]
    words: list[Any]
    space: str
    cast: Callable[[Any], Any]

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass
class Launch:
    """What one launch showed."""

    faults: set[str] = field(default_factory=set)
    steps: int = 0
    readers: dict[tuple[str, int], set[Any]] = field(default_factory=dict)
    writers: dict[tuple[str, int], dict[Any, Any]] = field(default_factory=dict)
    grid_readers: dict[tuple[str, int], set[Any]] = field(default_factory=dict)
    grid_writers: dict[tuple[str, int], dict[Any, Any]] = field(default_factory=dict)

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Endless

    def close(self) -> None:
        """The end of an interval: two threads at one word, one of them writing, is a race."""
        for word, writes in self.writers.items():
            threads = set(writes) | self.readers.get(word, set())
            if len(threads) < 2:
                continue
            if len(writes) > 1 and not _alike([value for _, value in writes.values()]):
                self.faults.add("race")
            plain = [t for t, (reads, _) in writes.items() if not reads]
            others = self.readers.get(word, set())
            if any(reader != writer for reader in others for writer in writes) or len(plain) < len(writes):
                self.faults.add("race")
        self.readers.clear()
        self.writers.clear()

    def close_grid(self) -> None:
        for word, writes in self.grid_writers.items():
            if len(writes) > 1 and not _alike(list(writes.values())):
                self.faults.add("race")
            if any(reader != writer for reader in self.grid_readers.get(word, ()) for writer in writes):
                self.faults.add("race")


def _alike(values: list[Any]) -> bool:
    first = values[0]
    return all(one is first or (not isinstance(one, Undefined) and one == first) for one in values)


class Thread:
    """What the rewritten kernel calls: memory, and its own coordinates."""

    def __init__(self, launch: Launch, block: Any, rank: int) -> None:
        self.launch, self.block, self.rank = launch, block, rank

    def at(self, array: Store, index: Any) -> int | None:
        """The word's place, numba's wrapping of negative indices included; None outside the memory."""
        parts = index if isinstance(index, tuple) else (index,)
        place = 0
        for size, part in zip(array.shape, parts, strict=True):
            if isinstance(part, Undefined):
                self.launch.faults.add("undefined")
                return None
            number = int(part)
            number = number + size if number < 0 else number
            if not 0 <= number < size:
                self.launch.faults.add("bounds")
            place = place * size + number
        return place if 0 <= place < len(array.words) else None

    def load(self, array: Store, index: Any) -> Any:
        self.launch.step()
        place = self.at(array, index)
        if place is None:
            return NOTHING
        if array.space != "local":
            self._read(array, place)
        return array.words[place]

    def _read(self, array: Store, place: int) -> None:
        word = (array.name, place)
        self.launch.readers.setdefault(word, set()).add(self.rank)
        if array.space == "global":
            self.launch.grid_readers.setdefault(word, set()).add(self.block)

    def store(self, array: Store, index: Any, value: Any, reads: bool = False) -> None:
        self.launch.step()
        place = self.at(array, index)
        if place is None:
            return
        kept = value if isinstance(value, Undefined) else array.cast(value)
        array.words[place] = kept
        if array.space == "local":
            return
        if reads:
            self._read(array, place)
        word = (array.name, place)
        self.launch.writers.setdefault(word, {})[self.rank] = (reads, kept)
        if array.space == "global":
            self.launch.grid_writers.setdefault(word, {})[self.block] = kept

    def truth(self, value: Any) -> Any:
        self.launch.step()
        if isinstance(value, Undefined):
            self.launch.faults.add("undefined")
            return False
        return value


def run(
    names: dict[str, Any], grid: tuple[int, ...], block: tuple[int, ...], a: Any, b: Any, sizes: Any
) -> tuple[Launch, Store]:
    """Launch the rewritten kernel; ``a`` and ``b`` are arrays, the output starts undefined."""
    launch = Launch()
    m, n, k = sizes
    inputs = [
        Store(name, x.shape, [float(v) for v in x.reshape(-1)], "global", float)
        for name, x in (("A", a), ("B", b))
    ]
    out = Store("C", (m, n), [NOTHING] * (m * n), "global", float)
    blocks = _dims(grid)
    try:
        for place in _coordinates(blocks):
            _run_block(launch, names, place, _dims(block), blocks, (*inputs, out, m, n, k))
    except Endless:
        launch.faults.add("endless")
    except Refused:
        launch.faults.add("refused")
    except (NameError, TypeError, ValueError, ZeroDivisionError, IndexError) as error:
        launch.faults.add("refused" if isinstance(error, NameError) else "error")
    launch.close_grid()
    return launch, out


def _dims(axes: tuple[int, ...] | int) -> tuple[int, int, int]:
    x, y, z = (*(axes if isinstance(axes, tuple) else (axes,)), 1, 1)[:3]
    return x, y, z


def _coordinates(dims: tuple[int, int, int]) -> Iterator[SimpleNamespace]:
    for z in range(dims[2]):
        for y in range(dims[1]):
            for x in range(dims[0]):
                yield SimpleNamespace(x=x, y=y, z=z)


def _run_block(
    launch: Launch, names: dict[str, Any], place: Any, block: Any, grid: Any, args: tuple[Any, ...]
) -> None:
    arrays: dict[int, Store] = {}
    threads = []
    for rank, own in enumerate(_coordinates(block)):
        me = Thread(launch, (place.x, place.y, place.z), rank)
        cuda = SimpleNamespace(
            blockIdx=place,
            threadIdx=own,
            gridDim=SimpleNamespace(x=grid[0], y=grid[1], z=grid[2]),
            blockDim=SimpleNamespace(x=block[0], y=block[1], z=block[2]),
            shared=SimpleNamespace(array=_shared(arrays)),
            local=SimpleNamespace(array=_local),
            grid=lambda _dims, own=own: (place.x * block[0] + own.x, place.y * block[1] + own.y),
        )
        threads.append([me, cuda, None, None])
    _interleave(launch, names, threads, args)


def _shared(arrays: dict[int, Store]) -> Callable[..., Store]:
    """Threads declare the same arrays in the same order: each thread counts its own declarations."""

    def declare(shape: Any, dtype: Any = float) -> Store:
        number = declare.count  # type: ignore[attr-defined]
        declare.count += 1  # type: ignore[attr-defined]
        if number not in arrays:
            sizes = shape if isinstance(shape, tuple) else (shape,)
            arrays[number] = Store(f"shared{number}", sizes, [NOTHING] * math.prod(sizes), "shared", dtype)
        return arrays[number]

    declare.count = 0  # type: ignore[attr-defined]
    return declare


def _local(shape: tuple[int, ...], dtype: Any = float) -> Store:
    return Store("local", shape, [NOTHING] * math.prod(shape), "local", dtype)


def _interleave(
    launch: Launch, names: dict[str, Any], threads: list[list[Any]], args: tuple[Any, ...]
) -> None:
    """Each thread to its next stop, in turn, until all have ended."""
    for one in threads:
        one[2] = _start(names, one, args)
    alive = list(threads)
    while alive:
        for one in alive:
            one[3] = _advance(names, one)
        alive = [one for one in alive if one[3] is not None]
        if len({one[3] for one in alive}) > 1:
            launch.faults.add("divergence")
        launch.close()


def _start(names: dict[str, Any], one: list[Any], args: tuple[Any, ...]) -> Generator[Any, None, None] | None:
    names["cuda"], names["_me"] = one[1], one[0]
    result = names["tiled_matmul"](*args)
    return result if hasattr(result, "send") else None


def _advance(names: dict[str, Any], one: list[Any]) -> Any:
    if one[2] is None:
        return None
    names["cuda"], names["_me"] = one[1], one[0]
    return next(one[2], None)
