"""Many records folded at once are the same records folded one by one."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.broken_log import BrokenLog
from kafkadouble.server.metadata.bulk_replay import replay_all
from kafkadouble.server.metadata.record_versions import NEWEST
from kafkadouble.server.metadata.replay import MetadataDelta
from tests.server.metadata.cluster_story import Story, made

A, B = Uuid(b"a" * 16), Uuid(b"b" * 16)


def partition(of: Uuid, index: int, leader: int = 1) -> Any:
    return made("PartitionRecord", topic_id=of, partition_id=index, replicas=(1,), isr=(1,), leader=leader)


def one_by_one(records: list[Any]) -> MetadataDelta:
    fold = MetadataDelta()
    for record in records:
        fold.replay(record)
    return fold


def at_once(records: list[Any]) -> MetadataDelta:
    fold = MetadataDelta()
    replay_all(fold, records)
    return fold


@pytest.mark.parametrize("seed", range(20))
def test_a_bulk_replay_gives_the_same_image(seed: int) -> None:
    records = list(Story(Random(seed), NEWEST).records(300))
    assert at_once(records).image == one_by_one(records).image


def test_partitions_of_topics_that_take_turns() -> None:
    topics = [made("TopicRecord", name=name, topic_id=of) for name, of in (("a", A), ("b", B))]
    records = [*topics, *(partition(of, index) for index in range(3) for of in (A, B)), partition(A, 1, leader=9)]
    assert at_once(records).image == one_by_one(records).image
    assert at_once(records).image.topics[A].partitions[1].leader == 9


def test_a_transaction_that_has_not_ended_shows_nothing() -> None:
    topic = made("TopicRecord", name="a", topic_id=A)
    records = [topic, partition(A, 0), made("BeginTransactionRecord"), partition(A, 1), partition(A, 2)]
    found = at_once(records)
    assert found.in_transaction
    assert len(found.image.topics[A].partitions) == 1
    replay_all(found, [made("EndTransactionRecord"), partition(A, 3)])
    assert len(found.image.topics[A].partitions) == 4


def test_partitions_of_no_topic_are_a_broken_log() -> None:
    with pytest.raises(BrokenLog):
        at_once([made("TopicRecord", name="a", topic_id=A), partition(A, 0), partition(B, 0)])
