"""Responses whose bytes are in a file are sent from the file to the socket, in order with all other
responses."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats.names import checkpoint_name
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.logs.formatting import format_directory
from kafkadouble.server.metadata.internal_topics import METADATA_TOPIC
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.frame import Frames
from tests.support.client import ask

SIZE = 9_000_001
CONTENTS = Random(1).randbytes(SIZE)
ID = OffsetAndEpoch(3, 1)
NOW = 1_700_000_000_000
FOLDER = "__cluster_metadata-0"


class Serving:
    """A node with a large snapshot, and the address of its controller. The snapshot is an old one,
    so the node does not read its content."""

    def __init__(self, kafka: KafkaDouble) -> None:
        self.kafka = kafka
        host, _, port = kafka.controller_bootstrap_servers.rpartition(":")
        self.address = (host, int(port))
        self.epoch = 0
        answer = ask(self.address, self.request(), 1)
        self.epoch = answer.topics[0].partitions[0].current_leader.leader_epoch

    def request(self, position: int = 0, most: int = 1 << 30) -> FetchSnapshotRequest:
        of = FetchSnapshotRequest
        partition = of.PartitionSnapshot(
            current_leader_epoch=self.epoch,
            snapshot_id=of.SnapshotId(end_offset=ID.offset, epoch=ID.epoch),
            position=position,
        )
        topics = [of.TopicSnapshot(name="__cluster_metadata", partitions=[partition])]
        return of(replica_id=7, max_bytes=most, topics=topics)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    settings = {"metadata.max.retention.bytes": "-1", "metadata.max.retention.ms": "-1"}
    disk = RealDisk(str(tmp_path))
    format_directory(disk, str(tmp_path), "AAAAAAAAAAAAAAAAAAAABg", 1, Uuid(b"d" * 16), NOW)
    disk.make_folder(FOLDER)
    part = FileSnapshotStore(disk, FOLDER).create(OffsetAndEpoch(20, 1))
    assert part is not None
    write_at_once(part, SnapshotHeader(NOW), (), NOW)
    log = open_log(
        disk, FOLDER, METADATA_TOPIC, 0, LogConfig(), clean=True, recovery_point=0, log_start_offset=0, now=NOW
    )
    batch = encode_batch([Record(at, NOW, None, b"") for at in range(20)])
    # Without it the log would begin at 20, and the node would delete the old snapshot.
    log.append_own(batch, leader_epoch=1, now=NOW)
    log.close()
    (tmp_path / FOLDER / checkpoint_name(ID)).write_bytes(CONTENTS)
    with KafkaDouble(data_dir=tmp_path, controller_port=0, config=settings) as kafka:
        yield Serving(kafka)


def bytes_in(answer: FetchSnapshotResponse) -> bytes:
    partition = answer.topics[0].partitions[0]
    assert partition.error_code == 0
    assert partition.size == SIZE
    return bytes(partition.unaligned_records or b"")


def framed(body: Message, correlation: int, version: int) -> bytes:
    return b"".join(headers.write_request(body, correlation, "test", version))


@pytest.mark.parametrize(
    ("position", "most"), [(0, 1 << 30), (0, SIZE), (1, 5_000_000), (SIZE - 70_000, 1 << 20), (SIZE - 1, 9), (77, 1000)]
)
def test_a_slice_of_a_file(serving: Serving, position: int, most: int) -> None:
    found = bytes_in(ask(serving.address, serving.request(position, most), 1))
    assert found == CONTENTS[position : position + most]


def test_answers_keep_their_order_where_the_client_is_slow(serving: Serving) -> None:
    requested = [serving.request(at) if at % 2 else ApiVersionsRequest() for at in range(8)]
    versions = [1 if at % 2 else 2 for at in range(8)]
    frames, reader = list[bytes](), Frames()
    with socket.create_connection(serving.address, timeout=20) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        sock.sendall(b"".join(framed(body, at, versions[at]) for at, body in enumerate(requested)))
        while len(frames) < len(requested):
            frames += [bytes(each) for each in reader.feed(sock.recv(1 << 20))]
    for at, frame in enumerate(frames):
        correlation, answer = headers.read_response(frame, requested[at].api_key or 0, versions[at])
        assert correlation == at
        if isinstance(answer, FetchSnapshotResponse):
            assert bytes_in(answer) == CONTENTS[at:]


def test_a_client_that_leaves_in_the_middle_harms_no_other(serving: Serving) -> None:
    for _ in range(3):
        with socket.create_connection(serving.address, timeout=20) as sock:
            sock.sendall(framed(serving.request(), 1, 1) * 3)
            assert sock.recv(1000)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes((1, 0, 0, 0, 0, 0, 0, 0)))
    assert bytes_in(ask(serving.address, serving.request(), 1)) == CONTENTS


def test_a_stop_while_a_client_does_not_read(serving: Serving) -> None:
    with socket.create_connection(serving.address, timeout=20) as sock:
        sock.sendall(framed(serving.request(), 1, 1) * 3)
        assert sock.recv(1000)
        serving.kafka.stop()
        with suppress(ConnectionResetError):
            while sock.recv(1 << 20):
                pass
