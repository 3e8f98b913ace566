"""Seeds of generated kernels that once told the machine and the simulator apart."""

SEEDS: tuple[int, ...] = ()
