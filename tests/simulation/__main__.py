"""`python -m tests.simulation --seeds 10000`: simulates the quorum. `command` describes the other
options."""

from __future__ import annotations

import sys

from .command import main
from .run import run
from .scenarios import SCENARIOS

if __name__ == "__main__":
    sys.exit(main("tests.simulation", "The quorum, simulated.", run, SCENARIOS))
