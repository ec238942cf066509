"""Measures how fast a snapshot of a large cluster's metadata is loaded and written, and how long
clients wait meanwhile.

    python -m benchmarks.image [--topics 10000] [--partitions 100] [--json]

Goals: 150,000 partition records per second for each, in pure Python; and while a node writes its
snapshot, a Metadata request for one topic is answered within 20 ms at p99. Speed is measured in CPU
time, because other processes can only add to real time; the codec's part is shown separately.
Waiting is measured in real time; the peer is the same node at rest. That part needs Linux.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from kafkadouble.messages import framed, headers
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.logs.formatting import format_directory
from kafkadouble.server.logs.log_dir import METADATA_FOLDER
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.image_snapshots import encoded_records_of, load_image
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_reader import RecordsSnapshotReader
from kafkadouble.server.raft.snapshots.snapshot_writer import write, write_at_once
from tests.support.client import ask

from . import report, servers

GOAL, GOAL_MS = 150_000, 20
BROKERS, REPLICAS = 20, 3
NODE = 1
LEVEL = 33
CLUSTER = "AAAAAAAAAAAAAAAAAAAABg"
NOW = 1_700_000_000_000
PATIENCE_S = 120


def values(topics: int, partitions: int) -> Iterator[bytes]:
    """The records of a cluster; each partition has three replicas, all in sync. Its brokers do not
    run.
    """
    chance = Random(1)
    directories = [Uuid(chance.randbytes(16)) for _ in range(BROKERS)]
    yield framed.encode_record(FeatureLevelRecord(name="metadata.version", feature_level=LEVEL), 0)
    for number in range(topics):
        topic_id = Uuid(chance.randbytes(16))
        yield framed.encode_record(TopicRecord(name=_name(number), topic_id=topic_id), 0)
        for index in range(partitions):
            replicas = chance.sample(range(BROKERS), REPLICAS)
            record = PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=[100 + replica for replica in replicas],
                isr=[100 + replica for replica in replicas],
                leader=100 + replicas[0],
                leader_epoch=chance.randrange(50),
                partition_epoch=chance.randrange(200),
                directories=[directories[replica] for replica in replicas],
            )
            yield framed.encode_record(record, 2)


def _name(number: int) -> str:
    return f"topic-{number:06d}"


def snapshot(path: str, topics: int, partitions: int) -> tuple[FileSnapshotStore, OffsetAndEpoch]:
    """Writes the snapshot into a directory for a node's start, as if its log had reached that
    offset.
    """
    disk = RealDisk(path)
    format_directory(disk, path, CLUSTER, NODE, Uuid(Random(2).randbytes(16)), NOW)
    disk.make_folder(METADATA_FOLDER)
    store = FileSnapshotStore(disk, METADATA_FOLDER)
    id = OffsetAndEpoch(topics * (partitions + 1) + 1, 1)
    part = store.create(id)
    assert part is not None
    write_at_once(part, SnapshotHeader(NOW), values(topics, partitions), NOW)
    return store, id


def loaded(reader: RecordsSnapshotReader) -> tuple[Image, dict[str, float]]:
    """The image; the seconds in total, for reading the batches, and for decoding the records."""
    start = time.process_time()
    image = load_image(reader)
    whole = time.process_time() - start
    start = time.process_time()
    found = [value for batch in reader.values() for value in batch]
    batches = time.process_time() - start
    start = time.process_time()
    for value in found:
        framed.decode_record(value)
    return image, {"image": whole, "batches": batches, "codec": time.process_time() - start}


def written(image: Image, store: FileSnapshotStore, id: OffsetAndEpoch) -> tuple[dict[str, float], list[float]]:
    """Seconds for all of it and for the values of the records, and the ms of each slice. A node
    answers requests between slices.
    """
    part = store.create(OffsetAndEpoch(id.offset + 1, id.epoch))
    assert part is not None
    slices, start = [], time.process_time()
    for flushing in write(part, SnapshotHeader(NOW), encoded_records_of(image), NOW):
        slices.append(time.process_time())
        if flushing is not None:
            flushing()  # beside the loop, where there is one
    whole = time.process_time() - start
    store.delete(part.id, NOW)
    start = time.process_time()
    for _ in encoded_records_of(image):
        pass
    codec = time.process_time() - start
    return {"image": whole, "codec": codec}, [(later - before) * 1000 for before, later in pairwise(slices)]


class Waiting:
    """A client that requests one topic's metadata repeatedly, and the ms of each response."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)])
        self._request = b"".join(headers.write_request(request, 1, "bench", version=12))
        self._sock = socket.create_connection((host, int(port)))

    def ask(self) -> float:
        start = time.perf_counter()
        self._sock.sendall(self._request)
        data = self._sock.recv(1 << 16)
        while len(data) < 4 + int.from_bytes(data[:4], "big"):
            data += self._sock.recv(1 << 16)
        took = time.perf_counter() - start
        time.sleep(0.002)  # otherwise the node would do nothing else
        return took * 1000

    def close(self) -> None:
        self._sock.close()


def beside(path: str, topics: int) -> tuple[list[float], list[float], float, float]:
    """The ms of responses at rest and during the write of a snapshot, and the seconds of that write
    in real time and in the node's CPU time.
    """
    settings = ("-c", "metadata.log.max.record.bytes.between.snapshots=1000", "-c", f"node.id={NODE}")
    with servers.ours("--data-dir", path, *settings) as (bootstrap, pid):
        client = Waiting(bootstrap, _name(topics // 2))
        try:
            _until_still(client, path)
            rest = [client.ask() for _ in range(1000)]
            before, start, cpu = _snapshots(path), time.perf_counter(), servers.cpu_seconds(pid)
            _change(bootstrap)
            busy = [client.ask()]
            while _snapshots(path) == before:
                busy.append(client.ask())
            return rest, busy, time.perf_counter() - start, servers.cpu_seconds(pid) - cpu
        finally:
            client.close()


def _until_still(client: Waiting, path: str) -> None:
    """Waits until the node has written everything that its start caused."""
    client.ask()
    quiet = time.monotonic() + 1
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < quiet and time.monotonic() < end:
        if any(name.name.endswith(".part") for name in _folder(path).iterdir()):
            quiet = time.monotonic() + 1
        time.sleep(0.05)


def _change(bootstrap: str) -> None:
    """Changes enough of the metadata for a snapshot to be due."""
    topic = CreateTopicsRequest.CreatableTopic(name="new", num_partitions=50, replication_factor=1)
    answer = ask(bootstrap, CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7)
    if answer.topics[0].error_code:
        raise RuntimeError(f"the topic cannot be made: {answer}")


def _folder(path: str) -> Path:
    return Path(path) / METADATA_FOLDER


def _snapshots(path: str) -> set[str]:
    return {each.name for each in _folder(path).iterdir() if each.name.endswith(".checkpoint")}


def p99(took: Sequence[float]) -> float:
    return statistics.quantiles(took, n=100)[98] if len(took) > 1 else took[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    count = options.topics * options.partitions
    with TemporaryDirectory() as path:
        store, id = snapshot(path, options.topics, options.partitions)
        reader = store.open(id)
        assert reader is not None
        with reader:
            report.note(f"{count} partitions, {options.topics} topics, a snapshot of {reader.size >> 20} MB")
            image, loading = loaded(reader)
        writing, slices = written(image, store, id)
        del image
        speed = report.Table("image", "partition records a second of processor time; more is better")
        speed.add("loaded", count / loading["image"], {"goal": GOAL, "its codec alone": count / loading["codec"]})
        speed.add("read, not decoded", count / loading["batches"], {})
        speed.add("written", count / writing["image"], {"goal": GOAL, "its codec alone": count / writing["codec"]})
        if sys.platform == "linux":
            rest, busy, seconds, cpu = beside(path, options.topics)
            speed.add("written by a node that answers", count / cpu, {"goal": GOAL, "by the clock": count / seconds})
        speed.print(as_json=options.json)
    waiting = report.Table("metadata of one topic", "ms at p99; less is better")
    waiting.add("a slice, of processor time", p99(slices), {"goal": GOAL_MS})
    if sys.platform == "linux":
        waiting.add("at rest", p99(rest), {"goal": GOAL_MS})
        waiting.add("while a snapshot is written", p99(busy), {"goal": GOAL_MS, "at rest": p99(rest)})
    waiting.print(as_json=options.json)


if __name__ == "__main__":
    main()
