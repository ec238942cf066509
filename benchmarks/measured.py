"""Runs the benchmarks of docs/performance.md and writes benchmarks/results.json:
`python -m benchmarks.measured`, or only some: `python -m benchmarks.measured suite fault_rules`.

`make generate` makes the tables of the page from that file (`benchmarks/page.py`). Nothing else
should run on the machine meanwhile; the load before each benchmark is written down with its
figures. With `--before TREE`, another checkout of this repository, `fault_rules` also measures a
server of that tree.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")
NAMES = ("start", "suite", "latency", "fault_rules", "throughput", "memory")


def machine() -> dict[str, object]:
    """What all figures of the file are from."""
    cpuinfo = Path("/proc/cpuinfo")
    models = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def measure(name: str, *arguments: str) -> dict[str, Any]:
    """The figures of one benchmark, with the date and the load average before it."""
    load = round(os.getloadavg()[0], 1)
    command = [sys.executable, "-m", f"benchmarks.{name}", "--json", *arguments]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"date": datetime.now(UTC).date().isoformat(), "load": load, **found}


def commit(tree: Path) -> str:
    command = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--before", type=Path, metavar="TREE")
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"no benchmark of the page: {', '.join(sorted(unknown))}")
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if arguments.names else {}
    if results.setdefault("machine", machine()) != machine():
        parser.error("the other results are from another machine: measure all")
    for name in names:
        print(name, flush=True)
        if name == "fault_rules" and arguments.before:
            found = measure(name, "--before", str(arguments.before.resolve()))
            results[name] = {**found, "before": commit(arguments.before)}
        else:
            results[name] = measure(name)
    ordered = {name: results[name] for name in ("machine", *NAMES) if name in results}
    RESULTS.write_text(json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main()
