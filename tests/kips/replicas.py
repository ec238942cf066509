"""A topic with replicas on brokers whose power can fail, for the scenarios of KIP-101."""

from __future__ import annotations

from random import Random
from typing import Any

from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.node import Node
from tests.server.controllers import OnDisks
from tests.server.machine import produce_request

TOPIC = "t"
WITHOUT_ELR = [FeatureLevelRecord(name="metadata.version", feature_level=33)]
"""As in the Kafka of the KIP's time: former in-sync replicas are not remembered."""

SESSION = {"broker.session.timeout.ms": 9000, "replica.lag.time.max.ms": 10_000}


class Replicas:
    """Brokers 11, 12, ... with one replica each of one partition; the first leads."""

    def __init__(
        self, brokers: int = 2, *, min_isr: int = 1, elr: bool = False, unclean: bool = False, flushing: bool = False
    ) -> None:
        self.ids = [11 + at for at in range(brokers)]
        self.cluster = OnDisks(1, SESSION, () if elr else WITHOUT_ELR)
        for id in self.ids:
            self.start(id)
        self.until(lambda: len(self.cluster.leader.controller.image.live_brokers()) == brokers)
        configs = {"min.insync.replicas": str(min_isr), "unclean.leader.election.enable": str(unclean).lower()}
        if flushing:
            configs["flush.messages"] = "1"
        self.cluster.create(TOPIC, brokers=self.ids, configs=configs)
        self.until(lambda: self.is_led)

    def until(self, holds: Any, within: int = 60_000) -> None:
        self.cluster.until(holds, within)

    def start(self, id: int) -> Node:
        return self.cluster.add_broker(id)

    def kill(self, id: int) -> None:
        self.cluster.kill(id)

    def lose_power(self, id: int, seed: int) -> None:
        self.cluster.lose_power(id, Random(seed))

    @property
    def partition(self) -> PartitionImage:
        return self.cluster.topic(TOPIC).partitions[0]

    @property
    def is_led(self) -> bool:
        """Whether the broker that leads according to the metadata knows it."""
        node = self.cluster.nodes.get(self.partition.leader)
        led = None if node is None else node.partitions.get(TOPIC, 0)
        return led is not None and led.leader_epoch == self.partition.leader_epoch

    @property
    def leader(self) -> int:
        return self.partition.leader

    def led_by(self, id: int) -> None:
        """Waits until this broker leads."""
        self.until(lambda: self.leader == id and self.is_led)

    def produce(self, *values: bytes, acks: int = -1) -> tuple[int, int]:
        """Error code and base offset."""
        request = produce_request(TOPIC, *values, acks=acks, timeout_ms=1000)
        answered = self.cluster.ask(self.cluster.nodes[self.leader], request, 9).responses[0].partition_responses[0]
        return answered.error_code, answered.base_offset

    def log(self, id: int) -> Any:
        node = self.cluster.nodes[id]
        led = node.partitions.get(TOPIC, 0)
        if led is not None:
            return led.log
        assert node.fetchers is not None
        return next(each.log for each in node.fetchers.partitions.values())

    def contents(self, id: int) -> bytes:
        return b"".join(bytes(batch) for batch in self.log(id).batches(0))

    def epochs(self, id: int) -> list[tuple[int, int]]:
        """The epochs that have records: only the leader of an epoch knows an empty one."""
        log = self.log(id)
        return [(entry.epoch, entry.offset) for entry in log.epochs.entries if entry.offset < log.log_end_offset]

    def converge(self) -> None:
        """Waits until all live replicas are in sync, and checks that they hold the same bytes,
        under the same epochs."""
        live = [id for id in self.ids if id in self.cluster.nodes]
        self.until(lambda: set(live) <= set(self.partition.isr))
        self.until(lambda: len({self.contents(id) for id in live}) == 1)
        assert len({tuple(self.epochs(id)) for id in live}) == 1, {id: self.epochs(id) for id in live}
