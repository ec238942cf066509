"""Attacks on a broker, at a part of their full size, beside a well-behaved client: it gets correct
answers, and the broker ends in the same state.

`python -m benchmarks.attacks` measures how long the client waits.
"""

from __future__ import annotations

import sys
import threading

import pytest

from .attacks import ATTACKS, under_attack
from .sockets import ALL_TOPICS, MB, Broker, Client, Good, serving

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="ATTACKS ARE NOT TRIED: only Linux tells memory and descriptors of another process"
)

SCALE = 0.04
SCALES = {"churn": 0.1, "descriptors": 0.2}
MOST_MORE = 300 * MB


def descriptors_return(broker: Broker, before: int) -> None:
    for _ in range(2000):
        if broker.open_files() <= before:
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"{broker.open_files()} files are open, {before} before")


@pytest.mark.parametrize("name", ATTACKS)
def test_a_well_behaved_client_is_served_under_attack(name: str) -> None:
    attack, scale = ATTACKS[name], SCALES.get(name, SCALE)
    with serving(*attack.options) as broker:
        client = Client(broker)
        attack.prepare(client, scale)
        if attack.limit:
            broker.limit_descriptors(attack.limit)
        good = Good(broker)
        files, memory = broker.open_files(), broker.resident()
        with under_attack(broker, name, scale):
            pass
        good.end()  # raises when an answer was wrong
        assert client.ask(ALL_TOPICS, 9).topics
        client.close()
        descriptors_return(broker, files)
        assert broker.resident() - memory < MOST_MORE
        if attack.limit:
            assert len([line for line in broker.log if "connected" not in line]) < 50
