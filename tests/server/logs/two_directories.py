"""A node with two log directories."""

from __future__ import annotations

from pathlib import Path
from random import Random

from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.logs import flushing
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from tests.server.harness import NOW, SEED, Harness
from tests.server.machine import fetch_request, produce_request

LARGE = b"v" * 300_000
"""Three records fill a segment."""


class Node(Harness):
    """A node with the metadata in the folder a, and partitions in b."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._ids = folder, Random(SEED)
        for name in "ab":
            path = str(folder / name)
            beginning = BootstrapMetadata(format_records()) if name == "a" else None
            format_directory(RealDisk(path), path, "a-cluster", 1, self._new_id(), NOW, beginning)
        self.start()

    def _new_id(self) -> Uuid:
        return Uuid.random(self._ids.randbytes)

    def start(self, most_open: int | None = None) -> None:
        disks = {name: RealDisk(str(self.folder / name), most_open) for name in "ab"}
        settings = {"log.segment.bytes": 1 << 20, "log.index.interval.bytes": 1}
        super().__init__(settings, logs=FileLogs(opened(dict(disks), 1), self._new_id), now=NOW)

    def stop(self, *, clean: bool = True) -> None:
        if clean:
            self.node.close(self.now)

    def flush(self) -> None:
        jobs = self.node.flushing.begin()
        self.node.flushing.end(jobs, flushing.run(jobs))

    def produce(self, topic: str, value: bytes = b"v") -> int:
        answer = self.submit(produce_request(topic, value), 9)
        return int(answer.responses[0].partition_responses[0].error_code)

    def fetched(self, topic: str, offset: int = 0) -> int:
        return int(self.submit(fetch_request(topic, offset), 11).responses[0].partitions[0].error_code)

    def listed(self, topic: str, timestamp: int) -> int:
        requested = ListOffsetsRequest.ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        topics = [ListOffsetsRequest.ListOffsetsTopic(name=topic, partitions=[requested])]
        return int(self.submit(ListOffsetsRequest(replica_id=-1, topics=topics), 7).topics[0].partitions[0].error_code)

    def path(self, topic: str, name: str) -> Path:
        [found] = self.folder.glob(f"*/{topic}-0/{name}")
        return found
