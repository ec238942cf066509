"""A node with several log directories on disk, between which a partition moves."""

from __future__ import annotations

import os
from pathlib import Path

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest
from kafkadouble.server.logs.flushing import run
from kafkadouble.server.metadata.log_dir_ids import directories_of
from tests.server.harness import Harness
from tests.server.logs.folders import formatted, logs_in
from tests.server.machine import produce_request, produced

OF = AlterReplicaLogDirsRequest
SETTINGS = {"replica.fetch.max.bytes": "1000"}
"""A step copies three of the batches of `fill`."""


def moving(path: object, topic: str = "t", *indexes: int) -> AlterReplicaLogDirsRequest:
    """A request to move these partitions (or 0) to a directory."""
    topics = [OF.AlterReplicaLogDirTopic(name=topic, partitions=list(indexes or (0,)))]
    return OF(dirs=[OF.AlterReplicaLogDir(path=str(path), topics=topics)])


def moved(node: Harness, path: object, topic: str = "t") -> str:
    """The name of the error of a request to move partition 0."""
    response = node.submit(moving(path, topic), 2)
    return error_codes.name(response.results[0].partitions[0].error_code)


class Dirs:
    """A node with three directories, the first with the metadata. Partition t-0 is in `source`."""

    def __init__(self, folder: Path, settings: dict[str, str] | None = None) -> None:
        self.paths = [folder / name for name in "abc"]
        self.settings = {**SETTINGS, **(settings or {})}
        formatted(*self.paths)
        self.node = Harness(self.settings, logs=logs_in(*self.paths))
        self.node.create("t", configs={"segment.bytes": "1048576"})
        self.source = self.of_partition()
        self.target, self.other = (path for path in self.paths if path != self.source)

    def of_partition(self) -> Path:
        """Where the metadata, the folders and the answers all say that the partition is."""
        [found] = [path for path in self.paths if (path / "t-0").exists()]
        for result in self.node.submit(DescribeLogDirsRequest(topics=None), 5).results:
            here = [each for topic in result.topics for each in topic.partitions if not each.is_future_key]
            assert bool(here) == (result.log_dir == str(found))
        return found

    def futures(self) -> dict[str, tuple[int, int]]:
        """Path -> size and lag of a future replica there."""
        return {
            result.log_dir: (each.partition_size, each.offset_lag)
            for result in self.node.submit(DescribeLogDirsRequest(topics=None), 5).results
            for topic in result.topics
            for each in topic.partitions
            if each.is_future_key
        }

    def folders(self) -> list[str]:
        """The folders of the partition: `b/t-0`, `c/t-0-future`, ..."""
        found = [
            f"{path.name}/{name.partition('.')[0]}{'-' + name.rpartition('-')[2] if '.' in name else ''}"
            for path in self.paths
            for name in os.listdir(path)
            if name.startswith("t-")
        ]
        return sorted(found)

    def step(self, count: int = 1, milliseconds: int = 1) -> None:
        for _ in range(count):
            self.node.tick(milliseconds)
            jobs = self.node.node.flushing.begin()
            self.node.node.flushing.end(jobs, run(jobs))

    def finish(self, milliseconds: int = 1) -> None:
        for _ in range(10_000):
            if not self.node.node.replica_alter_log_dirs_manager.moves:
                return
            self.step(1, milliseconds)
        raise AssertionError("the move does not end")

    def restart(self) -> None:
        self.node.node.close(self.node.now)
        self.start()

    def kill(self) -> None:
        """Ends the node without a clean stop; what it wrote is there."""
        self.start()

    def start(self) -> None:
        self.node = Harness(self.settings, logs=logs_in(*self.paths), now=self.node.now + 60_000)

    def produce(self, count: int = 1, size: int = 200) -> None:
        for _ in range(count):
            value = os.urandom(size // 2).hex().encode()
            assert produced(self.node.begin(produce_request("t", value), 9))[0] == 0

    def batches(self) -> list[bytes]:
        return [bytes(batch) for batch in self.node.partition("t").log.batches(0)]

    def assigned(self) -> Path:
        """The directory of the replica in the metadata."""
        id = directories_of(self.node.topic("t").partitions[0])[1]
        logs = logs_in(*self.paths)
        return next(path for path, place in zip(self.paths, logs._dirs, strict=True) if place.id == id)
