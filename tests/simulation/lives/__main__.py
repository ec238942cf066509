"""`python -m tests.simulation.lives --seeds 1000`: simulates nodes with files over many restarts.
`tests.simulation.command` describes the other options."""

from __future__ import annotations

import sys

from ..command import main
from .run import run
from .scenarios import SCENARIOS

if __name__ == "__main__":
    sys.exit(main("tests.simulation.lives", "Whole lives of nodes with files, simulated.", run, SCENARIOS))
