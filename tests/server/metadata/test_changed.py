"""How much of a snapshot is no longer true."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafkadouble.messages.framed import decode_record
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.changed import changed, ratio, records_in
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.image_records import values_of
from kafkadouble.server.metadata.replay import replay

from .cluster_story import Story, made

A, B = Uuid(bytes([1]) * 16), Uuid(bytes([2]) * 16)


def folded(image: Image, *records: Any) -> Image:
    for record in records:
        image = replay(image, record)
    return image


def config(value: str | None, name: str = "k") -> Any:
    return made("ConfigRecord", resource_type=2, resource_name="t", name=name, value=value)


BEFORE = folded(
    EMPTY,
    made("FeatureLevelRecord", name="metadata.version", feature_level=33),
    made("RegisterBrokerRecord", broker_id=1),
    made("TopicRecord", name="t", topic_id=A),
    made("PartitionRecord", topic_id=A, partition_id=0),
    made("PartitionRecord", topic_id=A, partition_id=1),
    config("1"),
    made("ProducerIdsRecord", next_producer_id=1000),
    made("AccessControlEntryRecord", id=A),
)
RECORDS = 8


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([], 0),
        ([made("NoOpRecord")], 0),
        ([made("TopicRecord", name="u", topic_id=B), made("PartitionRecord", topic_id=B, partition_id=0)], 0),
        ([made("PartitionRecord", topic_id=A, partition_id=2)], 0),
        ([config("x", "new")], 0),
        ([made("PartitionChangeRecord", topic_id=A, partition_id=1, leader=3)], 1),
        ([made("PartitionChangeRecord", topic_id=A, partition_id=1, leader=3)] * 3, 1),
        ([made("RemoveTopicRecord", topic_id=A)], 4),  # a topic, two partitions and a setting
        ([config("2")], 1),
        ([config("2"), config("1")], 0),
        ([config(None)], 1),
        ([made("RegisterBrokerRecord", broker_id=1, broker_epoch=2)], 1),
        ([made("ProducerIdsRecord", next_producer_id=2000)], 1),
        ([made("RemoveAccessControlEntryRecord", id=A)], 1),
        ([made("FeatureLevelRecord", name="metadata.version", feature_level=32)], 1),
    ],
)
def test_what_was_changed_or_is_gone_counts_and_what_is_new_does_not(events: list[Any], count: int) -> None:
    after = folded(BEFORE, *events)
    assert changed(BEFORE, after) == count
    assert ratio(BEFORE, after) == count / RECORDS


def test_of_nothing_nothing_has_changed() -> None:
    assert ratio(EMPTY, BEFORE) == 0.0
    assert ratio(BEFORE, EMPTY) == 1.0


def test_it_is_the_number_of_records_that_the_newer_one_is_not_written_with() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    for number in range(20):
        story = Story(random.Random(f"{seed} {number}"), 33)
        images = [story.image for _ in story.records(60)]
        before, after = images[len(images) // 2], images[-1]
        old, new = (_by_key(image) for image in (before, after))
        assert records_in(before) == len(old)
        assert changed(before, after) == sum(1 for key, value in old.items() if new.get(key) != value)


KEYS = {
    "FeatureLevelRecord": ("name",),
    "RegisterBrokerRecord": ("broker_id",),
    "RegisterControllerRecord": ("controller_id",),
    "TopicRecord": ("topic_id",),
    "PartitionRecord": ("topic_id", "partition_id"),
    "ConfigRecord": ("resource_type", "resource_name", "name"),
    "ClientQuotaRecord": ("entity", "key"),
    "ProducerIdsRecord": (),
    "AccessControlEntryRecord": ("id",),
    "UserScramCredentialRecord": ("name", "mechanism"),
    "DelegationTokenRecord": ("token_id",),
}


def _by_key(image: Image) -> dict[Any, bytes]:
    found = {}
    for value in values_of(image):
        record = decode_record(value)[0]
        kind = type(record).__name__
        found[(kind, *(repr(getattr(record, field)) for field in KEYS[kind]))] = value
    return found
