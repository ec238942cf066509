"""Three brokers that replicate from one another, in stepped time, with a liar between them that
changes messages; a client produces records.

Rules that are checked after every lie: no node has stopped, and none has logged an unforeseen
error; the data kept about unknown peers is bounded. Checked now and then: no log has a damaged
batch. After the lies end, leaders have every record that the client wrote, in its order, and
followers come to have the same bytes; a follower that believed a lie it could not detect does so
after it starts with an empty log.
"""

from __future__ import annotations

import logging
from typing import Any

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.node import Node
from kafkadouble.wire.batch import Record, check_crc, decode_all, encode_batch, iter_batches
from tests.server.controllers import STEP, OnDisks
from tests.server.replica.replication.liars import BROKERS, Liars

from .stage import Log

TOPIC, PARTITIONS = "t", 2
SLOTS = 30
SETTINGS: dict[str, object] = {
    "replica.fetch.backoff.ms": 20,
    "replica.fetch.wait.max.ms": 50,
    "replica.lag.time.max.ms": 1000,
    "broker.session.timeout.ms": 500,
    "broker.heartbeat.interval.ms": 100,
    "max.incremental.fetch.session.cache.slots": SLOTS,
}
SOON_MS, LONG_MS = 600, 30_000
MOST_BYTES = 1 << 20


class LiarsOnDisks(Liars, OnDisks):
    """The same, with logs in files."""

    def wipe(self, id: int) -> None:
        super().wipe(id)
        del self.disks[id]


class ReplicaStage:
    """The brokers, and the client. Every partition is led by the same broker as long as that
    runs."""

    def __init__(self, log: Log, on_disks: bool) -> None:
        self.log, self.on_disks, self.renewed = log, on_disks, 0
        self.begin()

    def begin(self) -> None:
        """Starts a new cluster."""
        controllers = {name: SETTINGS[name] for name in ("broker.session.timeout.ms",)}
        self.cluster: Liars = LiarsOnDisks(1, controllers) if self.on_disks else Liars(1, controllers)
        self.written: dict[int, list[bytes]] = {index: [] for index in range(PARTITIONS)}
        for id in BROKERS:
            self.cluster.add_broker(id, SETTINGS)
        self.cluster.until(lambda: len(self.cluster.leader.controller.image.live_brokers()) == 3)
        self._create()
        self.heal()

    def _create(self) -> None:
        of = CreateTopicsRequest
        assigned = [
            of.CreatableReplicaAssignment(partition_index=index, broker_ids=[BROKERS[index], *_others(BROKERS[index])])
            for index in range(PARTITIONS)
        ]
        topic = of.CreatableTopic(name=TOPIC, num_partitions=-1, replication_factor=-1, assignments=assigned)
        answer = self.cluster.ask(self.cluster.leader, of(topics=[topic], timeout_ms=1000), 7)
        assert answer.topics[0].error_code == 0, answer
        self.cluster.until(lambda: all(self.led(index) for index in range(PARTITIONS)))

    def led(self, index: int) -> Any:
        """A partition as its leader has it."""
        return self.cluster.nodes[BROKERS[index]].partitions.get(TOPIC, index)

    def write(self, index: int) -> None:
        """The client writes a record, which is in the log when this returns."""
        value = b"%d" % len(self.written[index])
        data = ProduceRequest.PartitionProduceData(index=index, records=encode_batch([Record(0, 1, None, value, ())]))
        topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
        body = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
        answered = self.cluster.ask(self.cluster.nodes[BROKERS[index]], body, 9)
        assert answered.responses[0].partition_responses[0].error_code == 0, answered
        self.written[index].append(value)

    def log_of(self, node: Node, index: int) -> Any:
        led = node.partitions.get(TOPIC, index)
        if led is not None:
            return led.log
        found = None if node.fetchers is None else node.fetchers.get(TOPIC, index)
        return None if found is None else found.log

    def contents(self, id: int, index: int) -> bytes:
        log = self.log_of(self.cluster.nodes[id], index)
        return b"" if log is None else b"".join(bytes(batch) for batch in log.batches(log.log_start_offset))

    def look(self) -> None:
        """The checks after every lie."""
        for node in self.cluster.nodes.values():
            assert node.halted is None, node.halted
            assert len(node.fetch_sessions) <= SLOTS
        for record in self.log.taken():
            assert not record.exc_info, record.getMessage()
            assert record.levelno < logging.CRITICAL, record.getMessage()

    def undamaged(self) -> None:
        """Whatever a follower has believed, no log has a batch that is damaged, or that does not
        continue the one before."""
        for id in BROKERS:
            for index in range(PARTITIONS):
                contents, due, epoch = self.contents(id, index), 0, -1
                for position, header in iter_batches(contents):
                    check_crc(contents, position, header)
                    assert due <= header.base_offset <= header.last_offset < 2**63 - 1, header
                    assert epoch <= header.partition_leader_epoch <= self.led(index).leader_epoch, header
                    assert 0 <= header.count <= header.last_offset_delta + 1, header
                    due, epoch = header.next_offset, header.partition_leader_epoch

    def heal(self) -> None:
        """Ends the lies: all replicas come to have the same bytes."""
        self.undamaged()
        self.cluster.lie = self.cluster.lie_of_controller = None
        end = self.cluster.now + SOON_MS
        while self.cluster.now < end and not self._is_whole():
            self.cluster.step(STEP)
        for id in BROKERS:
            if any(self.contents(id, index) != self.contents(BROKERS[index], index) for index in range(PARTITIONS)):
                self._renew(id)
        self.cluster.until(self._is_whole, LONG_MS)
        for index, values in self.written.items():
            assert [record.value for record in decode_all(self.contents(BROKERS[index], index))] == values
        self.look()

    def _renew(self, id: int) -> None:
        """The follower cannot detect the lie it believed: it starts again with empty logs of the
        partitions it follows."""
        self.renewed += 1
        fetchers = self.cluster.nodes[id].fetchers
        assert fetchers is not None
        for following in list(fetchers.partitions.values()):
            following.log.truncate_fully_and_start_at(0)
            fetchers.follow(following)

    def _is_whole(self) -> bool:
        image = self.cluster.leader.controller.image.topic_named(TOPIC)
        assert image is not None
        if any(len(partition.isr) < 3 for partition in image.partitions.values()):
            return False
        return all(len({self.contents(id, index) for id in BROKERS}) == 1 for index in range(PARTITIONS))


def _others(id: int) -> list[int]:
    return [other for other in BROKERS if other != id]
