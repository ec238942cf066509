"""`python -m tests.simulation.brokers --seeds 5000`: simulates brokers that replicate.
`tests.simulation.command` describes the other options."""

from __future__ import annotations

import sys

from ..command import main
from .rounds import SCENARIOS
from .run import run

if __name__ == "__main__":
    sys.exit(main("tests.simulation.brokers", "Brokers that replicate, simulated.", run, SCENARIOS))
