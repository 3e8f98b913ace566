"""Whatever needs numba itself: the one place that imports it, and where submitted code may run, sandboxed."""
