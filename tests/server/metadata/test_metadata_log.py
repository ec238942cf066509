"""The metadata log as bytes: what the controller wrote folds to the image that it keeps."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.no_op_record import NoOpRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata.image import EMPTY
from kafkadouble.server.metadata.metadata_log import batch_of, decode_batches
from kafkadouble.server.metadata.record_versions import record_version
from kafkadouble.server.metadata.replay import BrokenLog
from kafkadouble.wire.batch import Record, encode_batch, seal
from kafkadouble.wire.errors import WireError
from tests.server.config_requests import incremental
from tests.server.harness import Harness
from tests.server.images import image_of_log
from tests.server.topic_requests import deleting

ELSEWHERE = Uuid(b"1" * 16)


@pytest.fixture
def cluster() -> Harness:
    """A node that has seen something of everything."""
    cluster = Harness()
    cluster.create("a", "b.c", "d_e", partitions=3, configs={"retention.ms": "5", "cleanup.policy": "compact"})
    more = CreatePartitionsRequest.CreatePartitionsTopic(name="a", count=5, assignments=None)
    cluster.submit(CreatePartitionsRequest(topics=[more], timeout_ms=1000), 3)
    cluster.submit(deleting("b.c"), 6)
    cluster.submit(incremental((4, "", {"log.retention.ms": "77"})), 1)
    cluster.submit(InitProducerIdRequest(transactional_id=None), 4)
    cluster.node.controller.create_internal_topic("__consumer_offsets")
    return cluster


def test_the_log_of_a_node_folds_to_its_image(cluster: Harness) -> None:
    image = image_of_log(cluster.node.controller.log.batches(0))
    assert image == cluster.image
    assert image.end == OffsetAndEpoch(cluster.node.controller.log.log_end_offset, 1)
    assert {topic.name for topic in image.topics.values()} == {"a", "d_e", "__consumer_offsets"}
    assert image.next_producer_id == 1000


def test_as_one_chunk_of_bytes_too(cluster: Harness) -> None:
    log = cluster.node.controller.log
    chunk = log.read(0, 1 << 30).records
    assert image_of_log([chunk]) == cluster.image


def test_a_decision_is_one_batch(cluster: Harness) -> None:
    before = cluster.node.controller.log.log_end_offset
    cluster.create("x", "y", partitions=2)
    batches = list(cluster.node.controller.log.batches(before))
    assert len(batches) == 1
    [found] = decode_batches(batches[0])
    assert [type(record).__name__ for record in found.records] == ["TopicRecord", *["PartitionRecord"] * 2] * 2
    assert found.end == cluster.image.end


def test_records_keep_their_offsets_and_their_time() -> None:
    batch = batch_of([NoOpRecord(), TopicRecord(name="t", topic_id=ELSEWHERE)], 40, 1234)
    seal(batch)
    [found] = decode_batches(batch)
    assert found.records == [NoOpRecord(), TopicRecord(name="t", topic_id=ELSEWHERE)]
    assert found.end.offset == 42


def test_an_empty_log_is_an_empty_cluster() -> None:
    assert image_of_log([]) == EMPTY
    assert image_of_log([b""]) == EMPTY


def test_a_record_without_a_value_is_a_broken_log() -> None:
    batch = encode_batch([Record(0, 1, None, None)])
    with pytest.raises(BrokenLog):
        image_of_log([batch])


def test_a_damaged_log_is_reported(cluster: Harness) -> None:
    batch = bytearray(next(iter(cluster.node.controller.log.batches(1))))
    batch[-3] ^= 1
    with pytest.raises(WireError):
        image_of_log([batch])


@pytest.mark.parametrize(
    ("fields", "version"),
    [
        ({"fenced": -1}, 0),
        ({"in_controlled_shutdown": 1}, 1),
        ({"log_dirs": [ELSEWHERE]}, 2),
        ({"cordoned_log_dirs": []}, 3),
    ],
)
def test_a_registration_change_is_written_as_low_as_it_can_be(fields: dict[str, object], version: int) -> None:
    # a table of fields
    record = BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=2, **fields)  # type: ignore[arg-type]
    assert record_version(record) == version
    assert BrokerRegistrationChangeRecord.decode(record.encode(version), version) == record
