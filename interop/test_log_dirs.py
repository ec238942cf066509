"""Log directories move between the two programs: Apache Kafka starts on a directory that
kafkadouble formatted, and both serve a partition's files, byte for byte."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from interop.brokers.double import Double
from interop.clients import CREATOR
from interop.clients.shape import Record
from interop.controllers.kinds import DOUBLE
from interop.local import cluster
from interop.support import create_topic
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.log.formats import partition_metadata
from kafkadouble.wire.batch import Record as NetworkRecord
from kafkadouble.wire.batch import encode_batch, iter_batches
from tests.support.client import ask, batches_of, topic_id
from tests.support.serving import serving
from tests.support.waiting import eventually

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TOPIC = "handed"
PARTITIONS = 9
OWN = "partition.metadata"
"""The file with the id of the topic to which a folder belongs. It is the only file that must stay
when the others are replaced."""


pytestmark = pytest.mark.usefixtures("local_jars")


@contextmanager
def double(folder: Path, *words: str) -> Iterator[Double]:
    server = Double(str(folder), *words)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def fill(bootstrap: str) -> bytes:
    """A topic with batches of every codec in small segments, and its content then."""
    create_topic(bootstrap, TOPIC, configs={"segment.bytes": "1048576"})
    for codec in CODECS:
        with CREATOR.producer(bootstrap, compression_type=codec, enable_idempotence=codec != "none") as producer:
            records = [Record(b"%d" % n * 50, b"k%d" % n, [("h", None)], 1_700_000_000_000 + n) for n in range(500)]
            producer.send(TOPIC, records)
    return batches_of(bootstrap, TOPIC)


def hand_over(giver: Path, taker: Path) -> None:
    """Replaces the files of a partition by those of another, except for the file that names the
    topic."""
    for file in taker.iterdir():
        if file.name != OWN:
            file.unlink()
    for file in giver.iterdir():
        if file.name != OWN:
            shutil.copy(file, taker)


def test_kafkas_partition_is_served_by_the_double(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    with cluster(theirs) as running:
        given = fill(running.bootstrap)
        running.nodes[0].stop()
        with double(ours) as server:
            create_topic(server.bootstrap, TOPIC)
        hand_over(running.nodes[0].data / f"{TOPIC}-0", ours / f"{TOPIC}-0")
    with double(ours) as server:
        assert batches_of(server.bootstrap, TOPIC) == given
        with CREATOR.producer(server.bootstrap) as producer:
            assert producer.send(TOPIC, [Record(b"more")]) == [5 * 500]


def test_the_doubles_partition_is_served_by_cluster(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    with double(ours) as server:
        given = fill(server.bootstrap)
    with cluster(theirs) as running:
        create_topic(running.bootstrap, TOPIC)
        running.nodes[0].stop()
        hand_over(ours / f"{TOPIC}-0", running.nodes[0].data / f"{TOPIC}-0")
        running.nodes[0].start()
        assert batches_of(running.bootstrap, TOPIC) == given
        with CREATOR.producer(running.bootstrap) as producer:
            assert producer.send(TOPIC, [Record(b"more")]) == [5 * 500]


def test_kafka_starts_on_what_kafkadouble_formatted(tmp_path: Path) -> None:
    with cluster(tmp_path) as running:
        node = running.nodes[0]
        node.stop()
        shutil.rmtree(node.data)
        command = DOUBLE.format(node.config, node.cluster_id, ())
        assert subprocess.run(command, check=True, capture_output=True).stdout.startswith(
            b"Formatting metadata directory"
        )
        node.start()
        create_topic(running.bootstrap, TOPIC)
        file = node.data / f"{TOPIC}-0" / OWN
        eventually(file.exists)
        assert partition_metadata.read(file.read_bytes()).topic_id == topic_id(running.bootstrap, TOPIC)


def test_the_double_starts_on_what_kafka_formatted(tmp_path: Path) -> None:
    with cluster(tmp_path / "theirs") as running:
        node = running.nodes[0]
        node.stop()
        folder = node.data
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
        with double(folder) as server:
            given = fill(server.bootstrap)
    assert {header.magic for _, header in iter_batches(given)} == {2}


def test_both_see_all_partitions_where_the_metadata_log_has_a_directory_for_itself(tmp_path: Path) -> None:
    """Neither puts partitions into that directory, and each finds the log directories of the other,
    by their ids in the metadata."""
    dirs = {"log.dirs": f"{tmp_path / 'a'},{tmp_path / 'b'}", "metadata.log.dir": str(tmp_path / "metadata")}
    with cluster(tmp_path / "theirs", overrides=dirs) as running:
        (node,) = running.nodes
        append_to_all(running.bootstrap, 0)
        node.stop()
        with serving("--config", str(node.config)) as ours:
            append_to_all(ours.startup["bootstrap.servers"], 1)
            ours.end()
        node.start()
        append_to_all(running.bootstrap, 2)
        create_topic(running.bootstrap, "later", PARTITIONS)
        node.stop()
    with serving("--config", str(node.config)) as ours:
        append_to_all(ours.startup["bootstrap.servers"], 3)
        ours.end()
    names = [path.parent.name for topic in (TOPIC, "later") for path in tmp_path.glob(f"*/{topic}-?")]
    assert (len(names), set(names)) == (2 * PARTITIONS, {"a", "b"})


def append_to_all(bootstrap: str, due: int) -> None:
    """Appends a record to each partition, which gets the offset `due`."""
    if due == 0:
        create_topic(bootstrap, TOPIC, PARTITIONS)
    records = bytes(encode_batch([NetworkRecord(0, 1, None, b"v")]))

    def appended(number: int) -> tuple[int, int]:
        data = [ProduceRequest.PartitionProduceData(index=number, records=records)]
        topics = [ProduceRequest.TopicProduceData(name=TOPIC, partition_data=data)]
        answer = ask(bootstrap, ProduceRequest(acks=-1, timeout_ms=5000, topic_data=topics), 9)
        (found,) = answer.responses[0].partition_responses
        return found.error_code, found.base_offset

    for number in range(PARTITIONS):
        assert eventually(partial(appended, number), lambda found: found[0] == 0) == (0, due)
