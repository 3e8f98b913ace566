from __future__ import annotations

from types import SimpleNamespace

import numpy as np


class Array(np.ndarray):
    def fill(self, value):
        # There is no cache to flush: what only serves that is left as it is.
        if self.size < 1 << 20:
            super().fill(value)

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)
