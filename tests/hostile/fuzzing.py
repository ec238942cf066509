"""How long a fuzz campaign is, and how much memory the process takes."""

from __future__ import annotations

import os

FRAMES = int(os.environ.get("KAFKADOUBLE_FUZZ_FRAMES", "40000"))
SEED = int(os.environ.get("KAFKADOUBLE_FUZZ_SEED", "20261121"))
MB = 1 << 20


def resident() -> int:
    """Bytes of memory of this process, 0 where it cannot be measured."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
