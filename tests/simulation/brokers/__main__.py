"""`python -m tests.simulation.brokers --seeds 5000`: brokers that replicate; see `tests.simulation.command` for what else may be said."""

from __future__ import annotations

import sys

from ..command import main
from .run import run
from .scenarios import SCENARIOS

if __name__ == "__main__":
    sys.exit(main("tests.simulation.brokers", "Brokers that replicate, simulated.", run, SCENARIOS))
