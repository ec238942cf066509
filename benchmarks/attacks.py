"""Measures the latency of a well-behaved client while a broker is attacked.

    python -m benchmarks.attacks [--only "wide Fetch"] [--scale 1] [--json]

The client produces a record and fetches it, repeatedly, while each attack of
`tests.hostile.attacks` runs at full size in another process. The benchmark prints the median, the
99th percentile and the maximum of the client's times, the duration of the attack, and by how much
the broker's memory grew at most. Goal: a 99th percentile of 250 ms on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.hostile.attacks import ATTACKS, under_attack
from tests.hostile.sockets import MB, Broker, Client, Good, serving

LOOK_S = 0.02


class Felt(NamedTuple):
    """The figures of one attack."""

    attack: str
    pairs: int
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
    attack = ATTACKS[name]
    with serving(*attack.options) as broker:
        client = Client(broker)
        attack.prepare(client, scale)
        if attack.limit:
            broker.limit_descriptors(attack.limit)
        good = Good(broker)
        with watched(broker) as memory:
            began = time.monotonic()
            with under_attack(broker, name, scale):
                pass
            took = time.monotonic() - began
        good.end()
        client.close()
    pairs = [1000 * each for each in good.took]
    p99 = statistics.quantiles(pairs, n=100, method="inclusive")[98]
    return Felt(name, len(pairs), statistics.median(pairs), p99, max(pairs), took, (memory.most - memory.before) / MB)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=ATTACKS)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.json:
        print(f"{'attack':18} {'pairs':>6} {'median':>8} {'p99':>8} {'longest ms':>11} {'took s':>7} {'peak MB':>8}")
    found = []
    for name in [arguments.only] if arguments.only else ATTACKS:
        each = felt(name, arguments.scale)
        found.append(each._asdict())
        if not arguments.json:
            figures = f"{each.median_ms:8.1f} {each.p99_ms:8.1f} {each.longest_ms:11.1f} {each.attack_s:7.1f}"
            print(f"{name:18} {each.pairs:6} {figures} {each.peak_mb:8.1f}", flush=True)
    if arguments.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
