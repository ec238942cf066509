"""A snapshot is written from a log and its delta, and loaded: the state, the voters, and what
follows.
"""

from __future__ import annotations

import pytest

from kafkadouble.messages.framed import encode_record
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.metadata import image_snapshots
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.server.metadata.replay import MetadataDelta
from kafkadouble.server.raft import control_records
from kafkadouble.server.raft.snapshots.snapshot_reader import BytesSource, RecordsSnapshotReader
from kafkadouble.wire.errors import UsageError
from tests.server.metadata.snapshot_cluster import Cluster, topic
from tests.server.raft.quorum import dynamic_voters
from tests.server.raft.snapshots.making import ID, NOW, data

from .cluster_story import made

LEVEL = made("FeatureLevelRecord", name="metadata.version", feature_level=33)


def test_the_image_comes_back_and_the_log_goes_on_behind_it() -> None:
    cluster = Cluster()
    cluster.append(LEVEL)
    end = cluster.append(topic(1), topic(2))
    assert cluster.write(end)
    cluster.append(topic(3))
    image = image_snapshots.load_image(cluster.load(end))
    assert image.end == end
    delta = MetadataDelta(image)
    for records, reached in decode_batches(cluster.log.read(end.offset, 1 << 20).records):
        for record in records:
            delta.replay(record)
        assert reached == cluster.log.end
    assert delta.image._replace(end=cluster.delta.image.end) == cluster.delta.image


def test_inside_of_a_metadata_transaction_there_is_none() -> None:
    cluster = Cluster()
    cluster.append(LEVEL)
    for records in ((made("BeginTransactionRecord"), topic(1)), (topic(2),)):
        assert not cluster.write(cluster.append(*records))
        assert cluster.delta.in_transaction
    end = cluster.append(made("EndTransactionRecord"))
    assert cluster.write(end)
    assert len(image_snapshots.load_image(cluster.load(end)).topics) == 2


def test_existing_snapshot_is_not_written_again() -> None:
    cluster = Cluster()
    end = cluster.append(LEVEL)
    assert cluster.write(end)
    assert not cluster.write(end)


def test_uncommitted_metadata_is_not_in_a_snapshot() -> None:
    cluster = Cluster()
    cluster.append(LEVEL)
    cluster.log.append_values([encode_record(topic(1), 0)], 1, NOW)
    with pytest.raises(UsageError):
        cluster.write(cluster.log.end)


def test_the_voters_are_those_of_the_log_up_to_there() -> None:
    cluster = Cluster(dynamic=True)
    end = cluster.append(LEVEL)
    cluster.log.append_control([control_records.voters(dynamic_voters((1, 2, 3)))], 1, NOW)
    assert cluster.write(end)
    assert cluster.load(end).voters == (dynamic_voters((1, 2)), 1)
    later = cluster.append(topic(1))
    assert cluster.write(later)
    assert cluster.load(later).voters == (dynamic_voters((1, 2, 3)), 1)
    assert cluster.load(later).head.timestamp == NOW - 1


def test_static_voters_are_not_written() -> None:
    cluster = Cluster()
    end = cluster.append(LEVEL)
    assert cluster.write(end)
    assert cluster.load(end).voters == (None, 0)


def test_snapshot_is_loaded_a_batch_at_a_time() -> None:
    written = data([encode_record(topic(number), 0) for number in range(20)], most=200)
    sizes = [
        len(image.topics) for image in image_snapshots.load_stepwise(RecordsSnapshotReader(ID, BytesSource(written)))
    ]
    assert len(sizes) > 5
    assert sizes == sorted(sizes)
    assert sizes[-1] == 20


@pytest.mark.parametrize(
    "records",
    [
        [b"\x01\x63\x00"],  # of a type that is not known
        [b"\x00\x02\x00"],
        [encode_record(topic(1), 0)] * 2,
        [encode_record(made("UnregisterBrokerRecord", broker_id=1), 0)],
    ],
)
def test_records_that_cannot_be_or_that_contradict_one_another_are_a_bad_file(records: list[bytes]) -> None:
    with pytest.raises(BadFile) as refused:
        image_snapshots.load_image(RecordsSnapshotReader(ID, BytesSource(data(records)), "file"))
    assert refused.value.file == "file"
