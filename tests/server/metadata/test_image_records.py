"""An image is written as records whose replay is that image: every kind of record, every
metadata.version.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.framed import decode_record, encode_record
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.formats.names import parse_checkpoint
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata import image_snapshots, record_versions
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.image_records import UnwritableMetadata, encoded_records_of, records_of
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.server.metadata.metadata_versions import NAMES
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.metadata.replay import REPLAYS, TRANSACTIONS, MetadataDelta, replay
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_reader import BytesSource, RecordsSnapshotReader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from tests.server.harness import Harness

from .cluster_story import Story, made

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
LEVELS = sorted(NAMES)
ID = Uuid(bytes([1]) * 16)


def folded(values: Any) -> Image:
    """The fold of records as a log would hold them."""
    image = EMPTY
    for value in values:
        image = replay(image, decode_record(value)[0])
    return image


def written_and_read(image: Image) -> Image:
    """By way of a snapshot."""
    store, id = MemorySnapshotStore(), image.end
    part = store.create(id)
    assert part is not None
    write_at_once(part, SnapshotHeader(0), encoded_records_of(image), 7, most=500)
    reader = store.open(id)
    assert reader is not None
    return image_snapshots.load_image(reader)


@pytest.mark.parametrize("level", LEVELS)
def test_the_fold_of_the_records_is_the_image(level: int) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    for number in range(8):
        story = Story(random.Random(f"{seed} {number}"), level)
        fold = MetadataDelta()
        for record in story.records(60):
            fold.replay(record)
        assert fold.image == story.image
        assert folded(encoded_records_of(fold.image)) == fold.image


@pytest.mark.parametrize("level", [LEVELS[0], 17, 23, 30, LEVELS[-1]])
def test_the_log_so_far_the_live_image_and_a_snapshot_are_the_same_at_every_offset(level: int) -> None:
    """Except inside a metadata transaction, which is invisible, and during which no snapshot is
    written.
    """
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    live, records = MetadataDelta(), list(Story(random.Random(seed), level).records(120))
    open_transactions = 0
    for offset, record in enumerate(records):
        live.replay(record)
        open_transactions += {"BeginTransactionRecord": 1}.get(type(record).__name__, 0)
        open_transactions -= type(record).__name__ in ("EndTransactionRecord", "AbortTransactionRecord")
        if open_transactions or offset % 5:
            continue
        image = live.image._replace(end=OffsetAndEpoch(offset + 1, 3))
        loaded = MetadataDelta(written_and_read(image))
        assert loaded.image == image
        for later in records[offset + 1 :]:
            loaded.replay(later)
        replayed = MetadataDelta()
        for each in records:
            replayed.replay(each)
        assert loaded.image._replace(end=EMPTY.end) == replayed.image


def test_a_story_has_every_kind_of_record() -> None:
    record_names = {
        type(record).__name__ for seed in range(60) for record in Story(random.Random(seed), 33).records(100)
    }
    unused = {
        "FenceBrokerRecord",
        "UnfenceBrokerRecord",
        "ZkMigrationStateRecord",
    }  # not written since 3.3 or 4.0
    assert record_names == (REPLAYS.keys() | TRANSACTIONS.keys()) - unused


def test_a_nodes_own_log_and_its_snapshot_are_the_same_at_every_batch() -> None:
    cluster = Harness()
    cluster.create("a", "b.c", partitions=3, configs={"retention.ms": "1"})
    cluster.create("d")
    fold, end = MetadataDelta(), EMPTY.end
    log = cluster.node.controller.log
    batches = [batch for chunk in log.batches(0) for batch in decode_batches(chunk)]
    assert len(batches) > 5
    for records, end in batches:
        for record in records:
            fold.replay(record)
        if fold.image.features:
            image = fold.image._replace(end=end)
            assert written_and_read(image) == image
    assert fold.image._replace(end=end) == cluster.image


@pytest.mark.parametrize(
    ("log", "snapshot"),
    [
        ("cluster_metadata-0", "00000000000000000034-0000000001.checkpoint"),
        ("log_directory/__cluster_metadata-0", "00000000000000000053-0000000001.checkpoint"),
    ],
)
def test_image_records_equal_those_of_a_real_kafka(log: str, snapshot: str) -> None:
    """The same records in the same versions; only the order of what Kafka has in hash maps
    differs.
    """
    id = parse_checkpoint(snapshot)
    assert id is not None
    fold = MetadataDelta()
    for records, end in decode_batches((GOLDEN / log / "00000000000000000000.log").read_bytes()):
        if end.offset > id.offset:
            break
        for record in records:
            fold.replay(record)
    reader = RecordsSnapshotReader(id, BytesSource((GOLDEN / log / snapshot).read_bytes()))
    theirs = [value for some in reader.values() for value in some]
    assert sorted(map(_sorted_inside, encoded_records_of(fold.image))) == sorted(map(_sorted_inside, theirs))
    assert _kinds(encoded_records_of(fold.image)) == _kinds(theirs)
    assert image_snapshots.load_image(reader) == fold.image._replace(end=id)


def _sorted_inside(value: bytes) -> bytes:
    """The record with its features by name."""
    record, version = decode_record(value)
    features = getattr(record, "features", None)
    if features is not None:
        # a registration
        record.features = sorted(features, key=lambda feature: feature.name)  # type: ignore[attr-defined]
    return encode_record(record, version)


def _kinds(values: Iterable[bytes]) -> list[str]:
    """The kinds of records, each where it comes first."""
    return list(dict.fromkeys(type(decode_record(value)[0]).__name__ for value in values))


def image_with_everything() -> Image:
    for seed in range(100):
        story = Story(random.Random(seed), 33)
        for _ in story.records(300):
            pass
        if len(_kinds(encoded_records_of(story.image))) == 11:
            return story.image
    raise AssertionError("no story has everything")


def test_the_level_comes_first_and_then_kafkas_order() -> None:
    image = image_with_everything()
    assert _kinds(encoded_records_of(image)) == [
        "FeatureLevelRecord",
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "TopicRecord",
        "PartitionRecord",
        "ConfigRecord",
        "ClientQuotaRecord",
        "ProducerIdsRecord",
        "AccessControlEntryRecord",
        "UserScramCredentialRecord",
        "DelegationTokenRecord",
    ]
    # it has
    features = [record.name for record, _ in records_of(image) if type(record).__name__ == "FeatureLevelRecord"]  # type: ignore[attr-defined]
    assert features[0] == "metadata.version"
    assert features[1:] == sorted(features[1:])


@pytest.mark.parametrize(
    ("level", "broker", "partition"),
    [(7, 1, 0), (8, 2, 0), (16, 2, 0), (17, 3, 1), (22, 3, 1), (23, 3, 2), (29, 3, 2), (30, 4, 2), (33, 4, 2)],
)
def test_records_have_the_versions_that_kafka_writes_at_the_level(level: int, broker: int, partition: int) -> None:
    image = EMPTY
    for record in (
        made("FeatureLevelRecord", name="metadata.version", feature_level=level),
        made("RegisterBrokerRecord", broker_id=1),
        made("TopicRecord", name="t", topic_id=ID),
        made("PartitionRecord", topic_id=ID, partition_id=0),
    ):
        image = replay(image, record)
    record_versions = {type(record).__name__: version for record, version in records_of(image)}
    assert record_versions["RegisterBrokerRecord"] == broker
    assert record_versions["PartitionRecord"] == partition


SECRETS: dict[str, Any] = {"salt": b"", "stored_key": b"", "server_key": b""}
TOO_NEW = [
    (16, made("RegisterBrokerRecord", broker_id=1, log_dirs=[ID]), "the log directories of broker 1"),
    (29, made("RegisterBrokerRecord", broker_id=1, cordoned_log_dirs=[ID]), "the cordoned log directories of broker 1"),
    (14, made("RegisterControllerRecord", controller_id=1), "RegisterControllerRecord"),
    (16, made("PartitionRecord", topic_id=ID, partition_id=0, directories=[ID]), "the directories of t-0"),
    (22, made("PartitionRecord", topic_id=ID, partition_id=0, eligible_leader_replicas=[1]), "replicas of t-0"),
    (22, made("PartitionRecord", topic_id=ID, partition_id=0, last_known_elr=[1]), "replicas of t-0"),
    (10, made("UserScramCredentialRecord", name="u", **SECRETS), "UserScramCredentialRecord"),
    (13, made("DelegationTokenRecord", token_id="t"), "DelegationTokenRecord"),
]


@pytest.mark.parametrize(("level", "record", "what"), TOO_NEW)
def test_data_beyond_the_metadata_version_is_reported(level: int, record: Any, what: str) -> None:
    image = replay(EMPTY, made("TopicRecord", name="t", topic_id=ID))
    image = replay(replay(image, made("FeatureLevelRecord", name="metadata.version", feature_level=level)), record)
    with pytest.raises(UnwritableMetadata, match=what):
        list(encoded_records_of(image))
    lost: list[str] = []
    list(encoded_records_of(image, lost.append))
    assert len(lost) == 1
    higher = image._replace(features=image.features.set("metadata.version", level + 1))
    assert folded(encoded_records_of(higher)) == higher


def test_directories_of_nothing_are_no_loss() -> None:
    image = replay(EMPTY, made("TopicRecord", name="t", topic_id=ID))
    image = replay(image, made("FeatureLevelRecord", name="metadata.version", feature_level=7))
    image = replay(image, made("PartitionRecord", topic_id=ID, partition_id=0, replicas=[1], directories=[Uuid.ZERO]))
    assert folded(encoded_records_of(image)).topics[ID].partitions[0].replicas == (1,)


def test_image_records_without_a_level_keep_everything() -> None:
    image = replay(EMPTY, made("RegisterBrokerRecord", broker_id=1, log_dirs=[ID], cordoned_log_dirs=[ID]))
    assert folded(encoded_records_of(image)) == image
    assert record_versions.level_of(image) == max(NAMES)
    assert list(encoded_records_of(EMPTY)) == []


def test_records_are_made_on_demand() -> None:
    image = EMPTY
    for number in range(100):
        image = replay(image, made("TopicRecord", name=f"t{number}", topic_id=Uuid(number.to_bytes(16, "big"))))
    values = encoded_records_of(image)
    next(values)
    assert len(list(values)) == 99


def test_all_kinds_that_are_written_have_one_version_or_a_rule() -> None:
    """A new version of a record needs a level from which it is written."""
    ruled = {"RegisterBrokerRecord": 4, "PartitionRecord": 2}
    for entry in registry.entries("metadata", "metadata"):
        kept = not entry.name.startswith(("Remove", "Unregister", "Begin", "End", "Abort", "Clear"))
        if kept and "Change" not in entry.name:
            assert entry.message.versions[1] == ruled.get(entry.name, 0) or entry.name == "ZkMigrationStateRecord"


def test_an_image_of_nothing_is_equal_to_itself() -> None:
    assert EMPTY.features == PersistentMap()
    assert folded([]) == EMPTY
