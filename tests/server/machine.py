"""A node on disks whose power can fail: the process is killed, or the whole machine loses power,
and it restarts on what is left.

    machine = Machine({"log.flush.interval.messages": 1})
    pending = machine.begin(ProduceRequest(...), 9)      # waits for the disk
    machine.flush()
    machine.lose_power(Random(7))                        # what was not flushed may be gone

Flushes are done on request: `flush` does what a listener does beside its loop, `begin_flush` and
`end_flush` are its two halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.files.disk import Disk
from kafkadouble.server.logs import flushing
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import BootstrapMetadata, format_directory, opened
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.harness import NOW, SEED, Harness, Pending
from tests.server.log.files.lossy_disk import LossyDisk
from tests.server.topic_requests import appending, fetching

PAUSE = 60_000
"""Milliseconds from the end of one run to the beginning of the next."""


class Machine(Harness):
    """A node and its log directories, of which the first has the metadata."""

    def __init__(self, settings: Mapping[str, object] | None = None, *paths: str) -> None:
        self._settings, self._ids = settings, Random(SEED)
        self.disks = {path: LossyDisk() for path in paths or ("a",)}
        for at, (path, disk) in enumerate(self.disks.items()):
            beginning = None if at else BootstrapMetadata(format_records())
            format_directory(disk, path, "a-cluster", 1, self._new_id(), NOW, beginning)
        self._live(NOW)

    def _new_id(self) -> Uuid:
        return Uuid.random(self._ids.randbytes)

    def _live(self, now: int) -> None:
        disks: dict[str, Disk] = {**self.disks}
        super().__init__(self._settings, logs=FileLogs(opened(disks, 1), self._new_id), now=now)
        self._under_way: list[flushing.FlushJob] = []

    def begin_flush(self) -> None:
        """Begins to flush what is due, unless a flush is in progress."""
        self._under_way = self._under_way or self.node.flushing.begin()

    def end_flush(self) -> None:
        """Completes the flush, as far as the disk works."""
        if self._under_way:
            self.node.flushing.end(self._under_way, flushing.run(self._under_way))
            self._under_way = []
        self.tick(0)

    def flush(self) -> None:
        """Flushes until nothing is due."""
        self.end_flush()
        while self.node.flushing.due:
            self.begin_flush()
            self.end_flush()

    def restart(self) -> None:
        """Shuts the node down cleanly, and starts it."""
        self.node.close(self.now)
        self.start_again()

    def start_again(self) -> None:
        """Starts another node on the same disks."""
        self._live(self.now + PAUSE)

    def kill(self) -> None:
        """Kills the process, and starts another one."""
        self.disks = {path: disk.copy() for path, disk in self.disks.items()}
        self._live(self.now + PAUSE)

    def lose_power(self, random: Random) -> None:
        """Cuts the power of the machine; unflushed data is lost, kept, or lost in part."""
        self.disks = {path: disk.power_lost(random) for path, disk in self.disks.items()}
        self._live(self.now + PAUSE)


def produce_request(
    topic: str,
    *values: bytes,
    acks: int = -1,
    index: int = 0,
    timeout_ms: int = 1000,
    producer: tuple[int, int, int] | None = None,
) -> ProduceRequest:
    """One batch; `producer` is the id, epoch and sequence of an idempotent producer."""
    producer_id, epoch, sequence = producer or (-1, -1, -1)
    records = [Record(at, NOW, None, value) for at, value in enumerate(values)]
    batch = encode_batch(records, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    return appending(topic, batch, index, acks=acks, timeout_ms=timeout_ms)


def produced(pending: Pending) -> tuple[int, int]:
    """The error code and the base offset of the first partition."""
    answered = pending.response.responses[0].partition_responses[0]
    return answered.error_code, answered.base_offset


def fetch_request(topic: str, offset: int = 0, index: int = 0, max_wait_ms: int = 0) -> FetchRequest:
    return fetching(topic, offset, index, max_wait_ms=max_wait_ms)


def first_answers(response: object, topics: str = "topics") -> Sequence[object]:
    partitions: Sequence[object] = getattr(response, topics)[0].partitions
    return partitions
