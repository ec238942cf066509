"""The version of each record at each metadata.version, and what is dropped: what is replayed is
what a reader reads.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.framed import decode_record
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.metadata_log import batch_of, decode_batches, encoded_records
from kafkadouble.server.metadata.metadata_versions import NAMES
from kafkadouble.server.metadata.record_versions import (
    KINDS,
    OMITTED_KINDS,
    record_version,
    records_at_level,
    unsupported_fields,
)
from kafkadouble.server.metadata.replay import REPLAYS, TRANSACTIONS, MetadataDelta
from kafkadouble.wire.batch import seal
from kafkadouble.wire.errors import UsageError
from tests.server.images import image_of_snapshot

from .cluster_story import Story, made

LEVELS = sorted(NAMES)
ID, OTHER = Uuid(bytes([1]) * 16), Uuid(bytes([2]) * 16)

VERSIONS = [  # level, RegisterBroker, Partition and PartitionChange
    (7, 1, 0), (8, 2, 0), (16, 2, 0), (17, 3, 1), (22, 3, 1), (23, 3, 2), (29, 3, 2), (30, 4, 2), (33, 4, 2),
]  # fmt: skip


@pytest.mark.parametrize(("level", "broker", "partition"), VERSIONS)
def test_the_versions_are_kafkas_at_each_level(level: int, broker: int, partition: int) -> None:
    assert record_version(made("RegisterBrokerRecord"), level) == broker
    assert record_version(made("PartitionRecord"), level) == partition
    assert record_version(made("PartitionChangeRecord"), level) == partition


def test_every_other_kind_has_one_version_but_one() -> None:
    ruled = ("RegisterBrokerRecord", "PartitionRecord", "PartitionChangeRecord", "BrokerRegistrationChangeRecord")
    kinds = [entry for entry in registry.entries("metadata", "metadata") if entry.name not in ruled]
    assert {entry.name for entry in kinds} >= (REPLAYS.keys() | TRANSACTIONS.keys()) - set(ruled)
    for entry in kinds:
        assert entry.message.versions == (0, 0)
        assert {record_version(entry.message(), level) for level in LEVELS} == {0}


def test_the_kinds_came_with_the_levels_of_kafka() -> None:
    assert KINDS == {
        "ZkMigrationStateRecord": 8,
        "UserScramCredentialRecord": 11,
        "RemoveUserScramCredentialRecord": 11,
        "BeginTransactionRecord": 13,
        "EndTransactionRecord": 13,
        "AbortTransactionRecord": 13,
        "DelegationTokenRecord": 14,
        "RemoveDelegationTokenRecord": 14,
        "RegisterControllerRecord": 15,
        "ClearElrRecord": 23,
        "UnregisterControllerRecord": 33,
    }


FULL: dict[str, dict[str, Any]] = {
    "RegisterBrokerRecord": {"log_dirs": [ID], "cordoned_log_dirs": [OTHER]},
    "BrokerRegistrationChangeRecord": {"log_dirs": [ID], "cordoned_log_dirs": [OTHER]},
    "PartitionRecord": {"directories": [ID], "eligible_leader_replicas": [1], "last_known_elr": [2]},
    "PartitionChangeRecord": {"directories": [ID], "eligible_leader_replicas": [1], "last_known_elr": [2]},
}
SINCE = {
    "log_dirs": 17,
    "directories": 17,
    "cordoned_log_dirs": 30,
    "eligible_leader_replicas": 23,
    "last_known_elr": 23,
}


@pytest.mark.parametrize("kind", FULL)
@pytest.mark.parametrize("level", LEVELS)
def test_fields_that_a_level_does_not_know_fall_away(kind: str, level: int) -> None:
    record = made(kind, **FULL[kind])
    [value] = encoded_records([record], level)
    read, version = decode_record(value)
    assert version <= record_version(record, level)
    assert records_at_level([record], level) == [read]
    known = {name for name in FULL[kind] if level >= SINCE[name]}
    assert {name for name in FULL[kind] if getattr(read, name)} == known
    assert unsupported_fields(record, level) == [name for name in FULL[kind] if name not in known]
    assert record == made(kind, **FULL[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_record_type_above_the_metadata_version_is_an_error_or_omitted(kind: str) -> None:
    assert records_at_level([made(kind)], KINDS[kind]) == [made(kind)]
    if kind in OMITTED_KINDS:
        assert encoded_records([made(kind)], KINDS[kind] - 1) == []
    else:
        with pytest.raises(UsageError, match=f"{KINDS[kind] - 1} has no {kind}: it came with {KINDS[kind]}"):
            encoded_records([made(kind)], KINDS[kind] - 1)


def test_a_batch_has_the_level_of_the_image_or_else_of_its_own_records_or_else_the_newest() -> None:
    level = made("FeatureLevelRecord", name="metadata.version", feature_level=7)
    other = made("FeatureLevelRecord", name="group.version", feature_level=1)
    partition = made("PartitionRecord", topic_id=ID, partition_id=0, directories=[ID])

    def read(records: list[Any], level: int | None) -> Any:
        batch = batch_of(records, 5, 1234, level)
        seal(batch)
        [found] = decode_batches(batch)
        assert found.end.offset == 5 + len(found.records)
        return list(found.records)

    assert read([partition], 17) == [partition]
    assert read([partition], None) == [partition]
    assert read([other, level, partition], 17) == [other, level, partition]
    assert read([other, level, partition], None) == [other, level, *records_at_level([partition], 7)]
    newest = made("FeatureLevelRecord", name="metadata.version", feature_level=33)
    assert read([other, newest, partition], None) == [other, newest, partition]
    begin, end = made("BeginTransactionRecord", name="b"), made("EndTransactionRecord")
    assert read([begin, other, level, end], None) == [other, level]


@pytest.mark.parametrize("level", LEVELS)
def test_a_log_written_at_a_level_from_todays_decisions_is_the_live_image_and_its_snapshot(level: int) -> None:
    """A decision is written with all that the level can express; the live image, the log and the
    snapshot agree.
    """
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    for number in range(8):
        live, replayed = MetadataDelta(), MetadataDelta()
        for record in sayable(Story(random.Random(f"{seed} {number}"), LEVELS[-1]), level):
            for each in records_at_level([record], level):
                live.replay(each)
            for value in encoded_records([record], level):
                replayed.replay(decode_record(value)[0])
        assert replayed.image == live.image
        assert image_of_snapshot(live.image) == live.image


def sayable(story: Story, level: int) -> Iterator[Any]:
    """A current history at `level`, without kinds of records that the level does not have; it ends
    at the first transaction if there are none.
    """
    for record in story.records(60):
        kind = type(record).__name__
        if kind == "BeginTransactionRecord" and level < KINDS[kind]:
            return
        if kind == "FeatureLevelRecord" and record.name == "metadata.version":
            record.feature_level = level
        if level >= KINDS.get(kind, 0) or kind in OMITTED_KINDS:
            yield record
