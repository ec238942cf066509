"""Runs the benchmarks of docs/performance.md and writes benchmarks/results.json:
`python -m benchmarks.measured`.

`make generate` makes the tables of the page from that file (`benchmarks/page.py`). Nothing else
should run on the machine meanwhile; its load before the run is written down with the figures.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).with_name("results.json")
NAMES = ("start", "latency", "throughput", "memory")


def machine() -> dict[str, object]:
    """The machine and its load."""
    cpuinfo = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    results: dict[str, object] = {"machine": machine()}
    for name in NAMES:
        print(name, flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", "--json"]
        results[name] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
