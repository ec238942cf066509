"""Offsets of many transactions, topics and groups: work that grows as their number."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.offset_and_metadata import OffsetAndMetadata
from kafkadouble.server.groups.offset_metadata_manager import OffsetKey, OffsetMetadataManager
from kafkadouble.server.groups.offset_records import offset_record
from kafkadouble.server.groups.service.deletion import delete_topics
from kafkadouble.server.metadata.image import TopicImage
from kafkadouble.server.metadata.persistent_map import PersistentMap
from tests.server.groups.bench import GROUP, Bench
from tests.support.executed_lines import LINEAR, growth

SIZE = 100


def offset(number: int) -> OffsetAndMetadata:
    return OffsetAndMetadata(number, number, -1, "", 0)


def with_transactions(size: int) -> OffsetMetadataManager:
    """Each of so many open transactions has one offset."""
    offsets = OffsetMetadataManager()
    for number in range(size):
        offsets.put(number, OffsetKey(f"g{number}", "t", number), offset(number))
    return offsets


def test_looking_for_twice_the_pending_offsets_takes_twice_the_lines() -> None:
    def work(size: int) -> Callable[[], Any]:
        offsets = with_transactions(size)
        return lambda: [offsets.is_pending(OffsetKey("g", "t", index)) for index in range(size)]

    assert growth(work, SIZE) <= LINEAR


def test_the_pending_offsets_of_twice_the_groups_take_twice_the_lines() -> None:
    def work(size: int) -> Callable[[], Any]:
        offsets = with_transactions(size)
        return lambda: [offsets.keys_of_group(f"g{number}") for number in range(size)]

    assert growth(work, SIZE) <= LINEAR


def test_removing_twice_the_pending_offsets_takes_twice_the_lines() -> None:
    def work(size: int) -> Callable[[], Any]:
        offsets = with_transactions(size)

        def remove_all() -> None:
            for number in range(size):
                offsets.remove(OffsetKey(f"g{number}", "t", number))

        return remove_all

    assert growth(work, SIZE) <= LINEAR


def test_deleting_twice_the_topics_takes_twice_the_lines() -> None:
    def work(size: int) -> Callable[[], Any]:
        bench = Bench()
        shard = bench.shard()
        for number in range(size):
            shard.write([offset_record(OffsetKey(GROUP, f"t{number}", 0), offset(number))])
        topics = [TopicImage(f"t{number}", Uuid(number.to_bytes(16, "big")), PersistentMap()) for number in range(size)]
        return lambda: delete_topics(shard, topics)

    assert growth(work, SIZE) <= LINEAR


@pytest.mark.parametrize("seed", range(20))
def test_pending_offsets_are_those_of_open_transactions(seed: int) -> None:
    chance, offsets = random.Random(seed), OffsetMetadataManager()
    stable: set[OffsetKey] = set()
    pending: dict[int, set[OffsetKey]] = {}
    for number in range(300):
        key = OffsetKey(chance.choice("gh"), chance.choice("tu"), chance.randrange(3))
        producer_id, step = chance.randrange(-1, 4), chance.randrange(4)
        if step < 2:
            offsets.put(producer_id, key, offset(number))
            (stable if producer_id < 0 else pending.setdefault(producer_id, set())).add(key)
        elif step == 2:
            offsets.remove(key)
            for keys in (stable, *pending.values()):
                keys.discard(key)
        else:
            committed = chance.random() < 0.5
            offsets.end_transaction(producer_id, committed)
            stable |= pending.pop(producer_id, set()) if committed else set()
            if not committed:
                pending.pop(producer_id, None)
        everywhere = {key for keys in pending.values() for key in keys}
        assert {key for key, _ in offsets.stable} == stable
        for group_id in "gh":
            expected = {key for key in everywhere if key.group_id == group_id}
            assert offsets.pending_keys_of_group(group_id) == expected
        assert offsets.is_pending(key) == (key in everywhere)
