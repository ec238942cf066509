"""Measures what a test pays for a broker of its own, and how long a `reset()` takes.

    python -m benchmarks.suite [--tests 200] [--resets 100] [--json]

A suite runs in a process of its own: tests with the fixture `kafka_double`, each with a fresh
broker, and as many empty tests, in pairs whose order alternates. A figure is for a whole test, with
its set-up and teardown; CPU time is that of all threads of the process. The first pair is left out,
because it imports modules. Before each `reset()` the broker has a topic with one record. The
figures are medians with quartiles.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kafkadouble import KafkaDouble

from . import report

Spent = tuple[float, float]
"""ms of the clock, ms of CPU time."""

KINDS = {"empty": "def test_empty_{0}(): pass\n", "fresh": "def test_fresh_{0}(kafka_double): pass\n"}

CONFTEST = """
import json, time, pytest
spent = {"empty": [], "fresh": []}

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    took = ((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)
    spent[item.name.split("_")[1]].append(took)

def pytest_sessionfinish(exitstatus):
    with open("spent.json", "w") as file:
        json.dump(spent, file)
"""


def run_suite(tests: int) -> dict[str, list[Spent]]:
    """What each test took, by the kind of the test, in the order of the pairs."""
    source = "".join(KINDS[kind].format(number) for number in range(tests + 1) for kind in _order(number))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_suite.py").write_text(source)
        Path(folder, "conftest.py").write_text(CONFTEST)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "kafkadouble.pytest_plugin"]
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        spents: dict[str, list[Spent]] = json.loads(Path(folder, "spent.json").read_text())
    return {kind: spent[1:] for kind, spent in spents.items()}


def _order(number: int) -> list[str]:
    return list(KINDS) if number % 2 else list(KINDS)[::-1]


def resets(count: int) -> list[Spent]:
    """What each `reset()` took, after a first one that is left out."""
    found = []
    with KafkaDouble() as kafka:
        for _ in range(count + 1):
            kafka.produce("orders", "two pears")
            wall, cpu = time.perf_counter(), time.process_time()
            kafka.reset()
            found.append(((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000))
    return found[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tests", type=int, default=200)
    parser.add_argument("--resets", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    suite, reset = run_suite(arguments.tests), resets(arguments.resets)
    table = report.Table("suite", "ms for a test, ms for a reset(); medians")
    for index, clock in enumerate(("wall", "CPU")):
        fresh, empty = ([spent[index] for spent in suite[kind]] for kind in ("fresh", "empty"))
        table.add_runs(f"an empty test, {clock}", empty, {})
        table.add_runs(f"a test with a fresh broker, {clock}", fresh, {"an empty test": empty})
        table.add_runs(f"reset(), {clock}", [spent[index] for spent in reset], {})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
