"""A kernel's profile beside the naive one and the exercise's solution: Lab 3 without a profiler.

The machine counts one launch of each; the device's rates turn the counts into times, of which the
longest is what is likely to bind; the compiler says what registers it takes. Where ncu and a GPU are
there, its figures of the same launch stand below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from grader import source
from grader.checks.launching import Pass
from grader.compilation import compile_kernel
from grader.counted_launch import constants_for, counted_launch, kernel_faults
from grader.exercises import Exercise
from grader.gpu.counters import counters_reason, measure
from grader.gpu.device_runs import Launch
from grader.gpu.options import Beside
from grader.perf.architectures import architecture_of
from grader.perf.devices import Device, device_names
from grader.perf.kernel_profile import KernelProfile, Profile, Time
from grader.rubric.load import load
from grader.rubric.model import KernelSpec, LaunchSpec, Rubric
from grader.rubric.suites import Shape
from grader.simt import Program, parse
from grader.simt.plan import Plan, plan
from grader.simt.requests import SECTOR_BYTES
from grader.simt.tally import MMA_FLOPS

__all__ = ["ProfileError", "profile"]

#: The longest side of a launch on the machine; what a larger size asks for is worked out from it.
COUNTED_SIDE = 256
_WAVEFRONT_BYTES = 128

NAIVE = """from numba import cuda, float32


@cuda.jit
def naive_matmul(A, B, C, M, N, K):
    col, row = cuda.grid(2)
    if row < M and col < N:
        acc = float32(0.0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
"""


class ProfileError(Exception):
    """What cannot be profiled, whatever the kernel; the text is one line that says why."""


@dataclass(frozen=True, slots=True)
class _Subject:
    label: str
    program: Program
    kernel: KernelSpec
    file: str


def profile(
    exercise: Exercise,
    path: Path,
    device: Device,
    size: tuple[int, int, int],
) -> Profile:
    """Profile the kernel at ``path`` beside the naive one and, where it is at hand, the solution.

    Raises ProfileError where the exercise is no matrix product or the size is none, LaunchError where a
    kernel cannot be launched or its result is wrong, and SourceError where the file cannot be read.
    """
    if min(size) < 1:
        raise ProfileError(f"no size is below 1: {'x'.join(map(str, size))}")
    rubric = load(exercise.rubric)
    kernel = rubric.kernel
    if kernel is None or set(kernel.dims) != {"M", "N", "K"}:
        raise ProfileError(f"{rubric.exercise} has no matrix product to profile")
    subjects = [_Subject("naive", parse(NAIVE), _naive(kernel), "naive.py")]
    subjects.append(_Subject("yours", parse(source.read(path).text), kernel, path.name))
    if exercise.solution is not None and exercise.solution.resolve() != path.resolve():
        text = exercise.solution.read_text(encoding="utf-8")
        subjects.append(_Subject("solution", parse(text), kernel, exercise.solution.name))
    counted = size if max(size) <= COUNTED_SIDE else _modest(size)
    found = [_profiled(rubric, one, device, size, counted) for one in subjects]
    return Profile(
        exercise=rubric.exercise,
        path=str(path),
        device=device,
        size=size,
        counted=counted,
        kernels=tuple(one for one, _, _ in found),
        not_compiled=next((reason for _, reason, _ in found if reason), ""),
        not_measured=next((reason for _, _, reason in found if reason), ""),
    )


def _modest(size: tuple[int, int, int]) -> tuple[int, int, int]:
    M, N, K = (min(side, COUNTED_SIDE) for side in size)
    return M, N, K


def _naive(kernel: KernelSpec) -> KernelSpec:
    """The exercise's arguments, for a kernel with one thread for each element of C."""
    launch = LaunchSpec(block=(16, 16), grid=("-(-N // 16)", "-(-M // 16)"))
    return msgspec.structs.replace(kernel, name="naive_matmul", launch=launch, constants={}, shared_bytes=0)


def _profiled(
    rubric: Rubric,
    subject: _Subject,
    device: Device,
    size: tuple[int, int, int],
    counted: tuple[int, int, int],
) -> tuple[KernelProfile, str, str]:
    """One kernel's figures, and why it was not compiled or not measured."""
    constants = constants_for(subject.program, subject.kernel)
    known = device.name if device.name in device_names() else "h100"
    shape = Shape("profile", dict(zip("MNK", counted, strict=True)), shown=False)
    config, done = counted_launch(subject.program, rubric, subject.kernel, shape, constants, known)
    sizes = {**constants, **shape.dims}
    arch = architecture_of(device)
    compiled = compile_kernel(
        subject.program, subject.kernel, config.block, Beside((arch,) if arch else ()), sizes, subject.file
    )
    result = compiled.results[0] if compiled.results else None
    no_compiler = "" if arch else f"NVIDIA's compiler does not know {device.title}"
    reason = no_compiler or compiled.reason or (result.error if result is not None else "")
    measured, why = _measured(subject, Launch(config.grid, config.block, done.arguments.values))
    figures = _figures(subject.label, done, device, size, counted)
    good = result if result is not None and not result.error else None
    # The naive kernel and the solution are right: they are graded by this repository's tests.
    faults = kernel_faults(rubric, subject.program, done) if subject.label == "yours" else ()
    return replace(figures, compiled=good, measured=measured, faults=faults), reason, why


def _figures(
    label: str, done: Pass, device: Device, size: tuple[int, int, int], counted: tuple[int, int, int]
) -> KernelProfile:
    counters = done.run.counters
    by_volume = math.prod(size) / math.prod(counted)
    by_area = size[0] * size[1] / (counted[0] * counted[1])
    shared_requests = counters.shared_load_requests + counters.shared_store_requests
    conflicts = counters.shared_load_bank_conflicts + counters.shared_store_bank_conflicts
    load_sectors = counters.global_load_sectors * by_volume
    profile_ = KernelProfile(
        label=label,
        right=done.right,
        flops=2 * math.prod(size),
        load_bytes=counters.global_load_bytes * by_volume,
        store_bytes=counters.global_store_bytes * by_area,
        sector_bytes=SECTOR_BYTES * (load_sectors + counters.global_store_sectors * by_area),
        shared_bytes=(counters.shared_load_bytes + counters.shared_store_bytes) * by_volume,
        wavefronts=(shared_requests + conflicts) * by_volume,
        conflicts_per_request=conflicts / shared_requests if shared_requests else 0.0,
        float_operations=by_volume * (counters.ffma_threads + counters.fadd_threads + counters.fmul_threads),
        double_operations=by_volume * (counters.dfma_threads + counters.dadd_threads + counters.dmul_threads),
        matrix_flops=by_volume * counters.mma_threads * MMA_FLOPS,
    )
    return _with_times(profile_, device)


def _with_times(figures: KernelProfile, device: Device) -> KernelProfile:
    """The time at each limit, as in :mod:`grader.perf.gemm`: no block finds in L2 what another loaded."""
    # A unit takes an addition as long as a multiply-add, which the peak counts as two.
    alu = 2 * figures.float_operations / device.fp32_flops
    if figures.double_operations and device.fp64_flops:
        alu += 2 * figures.double_operations / device.fp64_flops
    times = [
        Time("alu", alu),
        Time("hbm", figures.sector_bytes / device.hbm_bytes_per_second),
        Time("shared", figures.wavefronts * _WAVEFRONT_BYTES / device.shared_bytes_per_second),
    ]
    if figures.matrix_flops and device.bf16_matrix_flops:
        times.append(Time("tensor-core", figures.matrix_flops / device.bf16_matrix_flops))
    return replace(figures, times=tuple(times))


def _measured(subject: _Subject, launch: Launch) -> tuple[Mapping[str, float], str]:
    """Give what ncu measured of the launch, or why nothing."""
    if reason := counters_reason():
        return {}, reason
    planned = plan(subject.program, subject.kernel.name, file=subject.file)
    if not isinstance(planned, Plan):
        return {}, f"{subject.file} cannot be rebuilt for a GPU"
    (found,) = measure(planned.request(), [launch])
    return found.figures, found.problem
