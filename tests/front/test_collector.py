"""How the process of `serve` collects garbage."""

import subprocess
import sys

import pytest

from kafkadouble.cli.serving import collector
from kafkadouble.cli.serving.collector import BUSY, IDLE_S, LOOKS, SLACK, Collector

SCRIPT = """
import asyncio, gc
from kafkadouble.cli.serving.collector import collecting

traversed = []

def watch(phase, info):
    if phase == "start" and info["generation"] == 2:
        traversed.append(sum(len(gc.get_objects(each)) for each in range(3)))

async def main():
    gc.callbacks.append(watch)
    kept = []
    with collecting():
        for _ in range(10):
            kept.append([[number] for number in range(100_000)])
    print(len(traversed), max(traversed))

asyncio.run(main())
"""


def test_garbage_collection_of_a_server_process_skips_old_objects() -> None:
    """A million objects stay, and no collection of the oldest generation sees more than some that
    are new."""
    words = [sys.executable, "-c", SCRIPT]
    count, most = map(int, subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())
    assert count > 2
    assert most < 300_000


def test_objects_before_a_full_collection_do_not_put_the_next_ones_off() -> None:
    """Python waits until a quarter of what a full collection has kept is new, and then traverses
    all of that in one pause."""
    full = "            gc.unfreeze(); gc.collect(); made.begin(); traversed.clear()"
    script = SCRIPT.replace("collecting():", "collecting() as made:").replace(
        "        for _ in range(10):", f"        for number in range(10):\n            if number == 8:\n    {full}"
    )
    words = [sys.executable, "-c", script]
    count, most = map(int, subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())
    assert count > 1
    assert most < 120_000


class FakeGc:
    """Counts what is done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def freeze(self) -> None:
        self.done.append("freeze")

    def unfreeze(self) -> None:
        self.done.append("unfreeze")

    def collect(self) -> None:
        self.done.append("collect")


BEGUN = ["freeze", "collect"]
"""The second is a collection of nothing, from which Python counts."""


class Blocks:
    """The memory that Python's objects use."""

    used = 1000

    def getallocatedblocks(self) -> int:
        return self.used


class Cpu:
    """The CPU time of a process that uses so much between two looks."""

    def __init__(self) -> None:
        self.each, self.used = 0.0, 0.0

    def __call__(self) -> float:
        self.used += self.each
        return self.used


@pytest.fixture
def fake_gc(monkeypatch: pytest.MonkeyPatch) -> FakeGc:
    made = FakeGc()
    monkeypatch.setattr(collector, "gc", made)
    return made


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> Blocks:
    made = Blocks()
    monkeypatch.setattr(collector, "sys", made)
    return made


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Cpu:
    made = Cpu()
    monkeypatch.setattr(collector, "process_time", made)
    return made


def looking(made: Collector, times: int) -> None:
    for _ in range(times):
        made.look()


@pytest.mark.usefixtures("blocks")
def test_collector_freezes_survivors_of_the_oldest_generation(fake_gc: FakeGc) -> None:
    made = Collector()
    made.on_gc("start", {"generation": 2})
    made.on_gc("stop", {"generation": 1})
    assert fake_gc.done == []
    made.on_gc("stop", {"generation": 2})
    assert fake_gc.done == ["freeze"]


@pytest.mark.usefixtures("cpu")
def test_memory_that_has_doubled_for_long_is_collected_once(fake_gc: FakeGc, blocks: Blocks) -> None:
    made = Collector()
    made.begin()
    blocks.used = 2 * Blocks.used + SLACK
    looking(made, 2 * LOOKS)
    assert fake_gc.done == BEGUN
    blocks.used += 1
    looking(made, LOOKS - 1)
    assert fake_gc.done == BEGUN
    looking(made, 3 * LOOKS)
    assert fake_gc.done == [*BEGUN, "unfreeze", "collect", *BEGUN]


@pytest.mark.usefixtures("cpu")
def test_memory_that_is_used_for_a_short_time_is_not_collected(fake_gc: FakeGc, blocks: Blocks) -> None:
    made = Collector()
    made.begin()
    for _ in range(3):
        blocks.used = 10 * SLACK
        looking(made, LOOKS - 1)
        blocks.used = SLACK
        looking(made, 1)
    assert fake_gc.done == BEGUN


def test_a_busy_process_puts_the_collection_off(fake_gc: FakeGc, blocks: Blocks, cpu: Cpu) -> None:
    made = Collector()
    made.begin()
    cpu.each, blocks.used = IDLE_S, BUSY * (2 * Blocks.used + SLACK)
    looking(made, 2 * LOOKS)
    assert fake_gc.done == BEGUN
    blocks.used += 1
    looking(made, LOOKS)
    assert fake_gc.done == [*BEGUN, "unfreeze", "collect", *BEGUN]


def test_the_collection_is_made_when_the_process_is_idle(fake_gc: FakeGc, blocks: Blocks, cpu: Cpu) -> None:
    made = Collector()
    made.begin()
    cpu.each, blocks.used = IDLE_S, BUSY * SLACK
    looking(made, 2 * LOOKS)
    assert fake_gc.done == BEGUN
    cpu.each = 0
    looking(made, LOOKS)
    assert fake_gc.done == [*BEGUN, "unfreeze", "collect", *BEGUN]
