"""How much of a snapshot is no longer true."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafkadouble.messages.framed import decode_record
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.changed_records import ChangedRecords, count_differing, records_in
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.image_records import encoded_records_of
from kafkadouble.server.metadata.replay import MetadataDelta, replay
from tests.server.metadata.cluster_story import Story, made

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
def test_changed_or_removed_records_count_and_new_ones_do_not(events: list[Any], count: int) -> None:
    after = folded(BEFORE, *events)
    assert count_differing(BEFORE, after) == count
    assert followed(BEFORE, events).ratio(after) == count / RECORDS


def followed(image: Image, events: list[Any], batch: int = 1) -> ChangedRecords:
    """A snapshot of `image`, and the events that come after it, so many in a batch."""
    found = ChangedRecords()
    found.restart(image)
    for at in range(0, len(events), batch):
        records = events[at : at + batch]
        before, image = image, folded(image, *records)
        found.follow(before, image, records)
    return found


CREATE = [made("TopicRecord", name="u", topic_id=B), made("PartitionRecord", topic_id=B, partition_id=0)]
CHANGE = made("PartitionChangeRecord", topic_id=B, partition_id=0, leader=3)
REMOVE = made("RemoveTopicRecord", topic_id=B)
OTHER = made("ConfigRecord", resource_type=2, resource_name="u", name="k", value="1")


@pytest.mark.parametrize(
    ("events", "count"),
    [
        (CREATE, 0),
        ([*CREATE, CHANGE], 1),
        ([*CREATE, CHANGE, made("PartitionChangeRecord", topic_id=B, partition_id=0, leader=4)], 1),
        ([*CREATE, REMOVE], 2),
        ([*CREATE, CHANGE, REMOVE], 2),
        ([*CREATE, OTHER, REMOVE], 3),  # a topic, a partition and a setting
        ([config("1", "new"), config("2", "new")], 1),
        ([config("1", "new"), config("2", "new"), config("1", "new")], 1),
        ([config("1", "new"), config(None, "new")], 1),
        ([config(None), config("1")], 0),  # one of the snapshot, as it was
        ([made("RegisterBrokerRecord", broker_id=2), made("RegisterBrokerRecord", broker_id=2, broker_epoch=2)], 1),
        ([made("AccessControlEntryRecord", id=B), made("RemoveAccessControlEntryRecord", id=B)], 1),
    ],
)
def test_metadata_record_added_and_changed_counts_once(events: list[Any], count: int) -> None:
    """KIP-630: a record that was added after the snapshot and then modified or deleted counts."""
    assert followed(BEFORE, events).ratio(folded(BEFORE, *events)) == count / RECORDS


def test_the_ratio_is_one_at_most_and_no_more_keys_are_held_than_the_snapshot_has_records() -> None:
    events = [config(value, f"new-{at}") for at in range(3 * RECORDS) for value in ("1", None)]
    found = followed(BEFORE, events)
    assert found.ratio(folded(BEFORE, *events)) == 1.0
    assert len(found._added) == RECORDS


def test_without_a_snapshot_everything_has_changed_and_nothing_is_held() -> None:
    records = ChangedRecords()
    assert records.ratio(EMPTY) == records.ratio(BEFORE) == 1.0
    records.follow(BEFORE, EMPTY, None)
    assert not records._added


def test_a_snapshot_forgets_what_was_counted() -> None:
    after = folded(BEFORE, *CREATE, CHANGE)
    found = followed(BEFORE, [*CREATE, CHANGE])
    found.restart(after)
    assert found.ratio(after) == 0.0
    found.follow(after, folded(after, REMOVE), [REMOVE])
    assert found.ratio(folded(after, REMOVE)) == 2 / (RECORDS + 2)


def test_records_of_which_no_batch_names_the_topics_are_looked_for_everywhere() -> None:
    """A transaction ends, the ELR of all topics is cleared, or the records are not known."""
    elr = made("PartitionRecord", topic_id=B, partition_id=0, eligible_leader_replicas=[1], last_known_elr=[2])
    added = folded(BEFORE, made("TopicRecord", name="u", topic_id=B), elr)
    for last in (made("ClearElrRecord", topic_name=""), made("ClearElrRecord", topic_name="u"), CHANGE):
        records = None if last is CHANGE else [last]
        found = ChangedRecords()
        found.restart(BEFORE)
        after = folded(added, last)
        found.follow(added, after, records)
        assert found.ratio(after) == 1 / RECORDS
    found = ChangedRecords()
    found.restart(BEFORE)
    found.follow(added, folded(added, CHANGE), [made("EndTransactionRecord")])
    assert found.ratio(folded(added, CHANGE)) == 1 / RECORDS


def test_changed_image_parts_are_named_by_their_records() -> None:
    """The search is limited to what a batch names, and finds what a search everywhere finds."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    for number in range(20):
        story, fold = Story(random.Random(f"{seed} {number}"), 33), MetadataDelta()
        near, far = ChangedRecords(), ChangedRecords()
        for at, record in enumerate(story.records(100)):
            before = fold.image
            fold.replay(record)
            if at == 30:
                near.restart(fold.image)
                far.restart(fold.image)
            near.follow(before, fold.image, [record])
            far.follow(before, fold.image, None)
            assert near._added == far._added


def test_count_of_records_missing_in_the_newer_snapshot() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    for number in range(20):
        story = Story(random.Random(f"{seed} {number}"), 33)
        images = [story.image for _ in story.records(60)]
        before, after = images[len(images) // 2], images[-1]
        old, new = (_by_key(image) for image in (before, after))
        assert records_in(before) == len(old)
        assert count_differing(before, after) == sum(1 for key, value in old.items() if new.get(key) != value)


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
    for value in encoded_records_of(image):
        record = decode_record(value)[0]
        kind = type(record).__name__
        found[(kind, *(repr(getattr(record, field)) for field in KEYS[kind]))] = value
    return found
