"""More dynamic shared memory for a kernel than the 48 KiB that a launch grants without being asked.

Numba passes the size of a block's dynamic shared memory on to the driver, but does not raise the
kernel's limit, and the driver then refuses the launch.
"""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver


def allow(kernel: Any, args: tuple[Any, ...], nbytes: int) -> None:
    """Let ``kernel``, as compiled for ``args``, be launched with ``nbytes`` of dynamic shared memory.

    It is compiled here if it has not been yet. RuntimeError where the device has not that much.
    """
    compiled = kernel.compile(tuple(kernel.typeof_pyval(arg) for arg in args))
    function = compiled._codelibrary.get_cufunc().handle
    _, device = driver.cuCtxGetDevice()
    wanted = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    if isinstance(function, driver.CUkernel):
        (error,) = driver.cuKernelSetAttribute(wanted, nbytes, function, device)
    else:
        (error,) = driver.cuFuncSetAttribute(function, wanted, nbytes)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"the device refuses {nbytes} bytes of dynamic shared memory: {error.name}")
