"""What a kernel may not name on its own: numba-cuda (0.30) types it behind ``cuda.`` alone, or nowhere.

A name of the module stands for an object, and numba has a type for only some of them: ``syncthreads``
and ``grid`` after ``from numba.cuda import ...``, but not ``shared``, whose type only ``cuda.shared`` has.
"""

from __future__ import annotations

import ast
from typing import Any

from grader.simt.context import Context
from grader.simt.cuda_names import misspelt
from grader.simt.host import Path
from grader.simt.type_names import code_of_path

#: Of ``numba.cuda``: what kernels use, and has a type behind ``cuda.`` alone.
_DOTTED_WORDS = (
    "activemask atomic blockDim blockIdx brev cbrt clz const ffs fma gridDim laneid lanemask_lt local "
    "match_all_sync match_any_sync nanosleep popc selp shared syncwarp threadIdx threadfence "
    "threadfence_block threadfence_system warpsize"
)
_DOTTED = frozenset(_DOTTED_WORDS.split())
#: Of ``numba.cuda``: what has no type in a kernel at all, being for the host.
_HOST_WORDS = (
    "Archive BaseCUDAMemoryManager CUSource Cubin Fatbin GetIpcHandleMixin HostOnlyCUDAMemoryManager In "
    "InOut IpcHandle LTOIR LinkableCode MappedMemory MemoryPointer Object Out PTXSource PinnedMemory "
    "Reduce as_cuda_array close compile compile_all compile_for_current_device compile_ptx "
    "compile_ptx_for_current_device cuda_error current_context declare_device default_stream "
    "defer_cleanup detect device_array device_array_like event event_elapsed_time external_stream "
    "from_cuda_array_interface get_current_device gpus guvectorize is_available is_bfloat16_supported "
    "is_cuda_array is_float16_supported is_fp8_supported is_supported_version jit legacy_default_stream "
    "list_devices managed_array mapped mapped_array mapped_array_like open_ipc_array "
    "per_thread_default_stream pinned pinned_array pinned_array_like prepare_shape_strides_dtype "
    "profile_start profile_stop profiling reduce require_context runtime select_device "
    "set_memory_manager stream synchronize to_device vectorize"
)
HOST_ONLY = frozenset(_HOST_WORDS.split())
_BUILTINS = frozenset({"all", "any", "dict", "list", "object", "reversed", "set"})


def check_global(context: Context, node: ast.Name, value: Any) -> None:
    """Stop where numba has no type for what a name of the module holds."""
    if isinstance(value, tuple):
        for item in value:
            # A tuple of the module may hold types, and no functions.
            if isinstance(item, Path) and code_of_path(item.name) is None:
                context.fail(node, "untyped-global", name=node.id)
    if not isinstance(value, Path):
        return
    module, _, rest = value.name.partition("numba.cuda.")
    first = rest.partition(".")[0]
    if not module and first in _DOTTED:
        context.fail(node, "untyped-global", name=node.id, wanted=f"cuda.{rest}")
    parent, _, last = value.name.rpartition(".")
    absent = parent == "math" and misspelt(parent, last) is not None
    if absent or value.name in (*_BUILTINS, "numba.prange") or (not module and first in HOST_ONLY):
        context.fail(node, "untyped-global", name=node.id)
