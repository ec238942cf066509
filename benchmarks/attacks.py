"""Measures the latency of a well-behaved client while a server is attacked.

    python -m benchmarks.attacks [--only "wide Fetch"] [--runs 5] [--scale 1] [--json]

The client produces a record and fetches it, repeatedly, while each attack of
`tests.hostile.attacks` runs at full size in another process, and then all kinds of them together.
The benchmark prints the median, the 99th percentile and the maximum of the client's times, the
duration of the attack, and by how much the server's memory grew at most: each the median of the
runs. Goal: a 99th percentile of 250 ms on a quiet machine; a row beyond it has a mark. `--only`
takes the beginning of names.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from tests.hostile.attacks.running import attacked, under_attack
from tests.hostile.attacks.table import ATTACKS, TOGETHER, TOGETHER_SCALE
from tests.hostile.sockets import MB, Broker, Client, Good

LOOK_S = 0.02
GOAL_MS = 250
ALL = "all together"


class Felt(NamedTuple):
    """The figures of one attack."""

    attack: str
    pairs: float
    median_ms: float
    p99_ms: float
    longest_ms: float
    attack_s: float
    peak_mb: float


class Memory:
    """Watches the memory of a broker and keeps the maximum."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.before = broker, broker.resident()
        self.most = self.before
        self._over = threading.Event()

    def watch(self) -> None:
        while not self._over.wait(LOOK_S):
            self.most = max(self.most, self.broker.resident())

    def stop(self) -> None:
        self._over.set()


@contextmanager
def watched(broker: Broker) -> Iterator[Memory]:
    memory = Memory(broker)
    thread = threading.Thread(target=memory.watch)
    thread.start()
    yield memory
    memory.stop()
    thread.join()


def felt(name: str, scale: float) -> Felt:
    """One run of an attack, or of all kinds together."""
    names = TOGETHER if name == ALL else (name,)
    with attacked(names) as (broker, ports):
        client = Client(broker)
        for prepare in dict.fromkeys(ATTACKS[name].prepare for name in names):
            prepare(client, scale)
        if limit := max(ATTACKS[name].limit for name in names):
            broker.limit_descriptors(limit)
        good = Good(broker)
        with watched(broker) as memory:
            began = time.monotonic()
            with ExitStack() as running:
                for each in names:
                    size = scale * (TOGETHER_SCALE if name == ALL else 1)
                    running.enter_context(under_attack(ports[ATTACKS[each].port], each, size))
            took = time.monotonic() - began
        good.end()
        client.close()
    pairs = [1000 * each for each in good.took]
    p99 = statistics.quantiles(pairs, n=100, method="inclusive")[98]
    return Felt(name, len(pairs), statistics.median(pairs), p99, max(pairs), took, (memory.most - memory.before) / MB)


def median(runs: Sequence[Felt]) -> Felt:
    """The median of each figure."""
    return Felt(runs[0].attack, *(statistics.median(figures) for figures in list(zip(*runs, strict=True))[1:]))


def row(each: Felt) -> str:
    figures = (
        f"{each.median_ms:8.1f} {each.p99_ms:8.1f} {each.longest_ms:11.1f} {each.attack_s:7.1f} {each.peak_mb:8.1f}"
    )
    beyond = "  ! beyond the goal" if each.p99_ms > GOAL_MS else ""
    return f"{each.attack:44} {each.pairs:6.0f} {figures}{beyond}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="attacks whose names begin with this")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    names = [name for name in (*ATTACKS, ALL) if name.startswith(arguments.only)]
    if not names:
        parser.error(f"no attack begins with {arguments.only!r}")
    if not arguments.json:
        print(f"{'attack':44} {'pairs':>6} {'median':>8} {'p99':>8} {'longest ms':>11} {'took s':>7} {'peak MB':>8}")
    found = []
    for name in names:
        each = median([felt(name, arguments.scale) for _ in range(arguments.runs)])
        found.append(each._asdict())
        if not arguments.json:
            print(row(each), flush=True)
    if arguments.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
