"""The batches of a double in memory are freed when it is stopped, reset or restored, and not when
Python's garbage collector next runs: it counts objects and not their bytes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.server.log.memory_chunk import MemoryChunk

SIZE = 1_000_000


@contextmanager
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def held() -> int:
    """The bytes of batches in memory."""
    return sum(each.size for each in gc.get_objects() if isinstance(each, MemoryChunk))


def filled(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    for _ in range(3):
        kafka.produce("orders", bytes(SIZE))


def end(kafka: KafkaDouble, how: str) -> None:
    empty = kafka.snapshot()
    filled(kafka)
    assert held() > 3 * SIZE
    if how == "restore":
        kafka.restore(empty)
    elif how == "down and reset":
        kafka.down()
        kafka.reset()
    else:
        getattr(kafka, how)()


@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.parametrize("how", ["stop", "reset", "restore", "down and reset"])
def test_batches_are_freed_at_once(how: str, brokers: int) -> None:
    with without_collector(), KafkaDouble(brokers=brokers) as kafka:
        before = held()
        end(kafka, how)
        assert held() < before + SIZE


def test_a_snapshot_keeps_its_batches() -> None:
    with KafkaDouble() as kafka:
        filled(kafka)
        snapshot = kafka.snapshot()
        kafka.stop()
        kafka.start()
        kafka.restore(snapshot)
        assert [record.value for record in kafka.records("orders")] == [bytes(SIZE)] * 3
