"""A simulated producer: it sends batch after batch, and retries each unchanged until it is
acknowledged.

An idempotent producer gives every batch a sequence number, and the same one at each retry. When the
leader answers that the sequence is out of order, which may happen only where records were lost, the
producer continues under a new id, as Kafka's clients do (KIP-360).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.wire.batch import Record, encode_batch

from ..world import Broken
from .client import Client
from .shape import TOPIC

if TYPE_CHECKING:
    from .cluster import Cluster

PRODUCE_VERSION, INIT_VERSION = 12, 4
WAIT_MS, REST_MS = 700, 100
NO_ID = -1

LARGE, LARGE_CHANCE = 400_000, 0.15
"""The size of a large batch in bytes, so that the third begins a segment; and the share of large
batches."""

TRIED_AGAIN = {
    error_codes.NOT_LEADER_OR_FOLLOWER,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.REQUEST_TIMED_OUT,
    error_codes.NOT_ENOUGH_REPLICAS,
    error_codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    error_codes.KAFKA_STORAGE_ERROR,
    error_codes.LEADER_NOT_AVAILABLE,
}
OUT_OF_STEP = {error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER, error_codes.UNKNOWN_PRODUCER_ID}


class Producer(Client):
    """`acknowledged` counts records. `is_ending`: no other batch is begun."""

    def __init__(self, cluster: Cluster, id: int, index: int, *, acks: int, idempotent: bool) -> None:
        super().__init__(cluster, id, index)
        self.acks, self.idempotent = acks, idempotent
        self.producer_id, self.sequence = NO_ID, 0
        self.values: list[int] = []  # the values of the batch in flight
        self.padding = b""
        self.is_ending = self.is_idle = False
        self.acknowledged = 0

    def go_on(self) -> None:
        if self.idempotent and self.producer_id == NO_ID:
            body = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
            broker = self.world.random.choice(self.cluster.shape.broker_ids)
            self.ask(broker, body, INIT_VERSION, self._given_id)
            return
        if not self.values:
            if self.is_ending:
                self.is_idle = True
                return
            if not self.cluster.writes:
                self.later(REST_MS, self.go_on)
                return
            self.values = [self.cluster.next_value() for _ in range(self.world.random.choice((1, 1, 2, 4)))]
            large = self.cluster.shape.large and self.world.random.random() < LARGE_CHANCE
            self.padding = b" " * (LARGE // len(self.values)) if large else b""
            self.cluster.watch.sent(self.values, self.index)
        self._send()

    def _given_id(self, answer: InitProducerIdResponse | None) -> None:
        if answer is None or answer.error_code:
            self.try_again()
            return
        self.producer_id, self.sequence = answer.producer_id, 0
        self.go_on()

    def _send(self) -> None:
        records = [
            Record(at, self.world.now, None, b"%d" % value + self.padding) for at, value in enumerate(self.values)
        ]
        if self.idempotent:
            batch = encode_batch(records, producer_id=self.producer_id, producer_epoch=0, base_sequence=self.sequence)
        else:
            batch = encode_batch(records)
        data = ProduceRequest.PartitionProduceData(index=self.index, records=bytes(batch))
        topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
        body = ProduceRequest(acks=self.acks, timeout_ms=WAIT_MS, topic_data=[topic])
        self.ask(self.leader, body, PRODUCE_VERSION, self._answered)

    def _answered(self, answer: ProduceResponse | None) -> None:
        if answer is None:
            self.try_again()
            return
        result = answer.responses[0].partition_responses[0]
        if result.error_code in (error_codes.NONE, error_codes.DUPLICATE_SEQUENCE_NUMBER):
            self._acknowledged(result.base_offset)
        elif result.error_code in TRIED_AGAIN:
            self.try_again()
        elif result.error_code in OUT_OF_STEP and self.idempotent:
            self.cluster.watch.out_of_step(self)
            self.producer_id = NO_ID
            self.try_again()
        else:
            raise Broken(f"{self!r} is answered {error_codes.name(result.error_code)}")

    def _acknowledged(self, offset: int) -> None:
        if self.acks == -1:
            self.cluster.watch.acknowledged(self, self.index, self.values, offset)
        self.acknowledged += len(self.values)
        self.sequence += len(self.values)
        self.values = []
        random = self.world.random
        self.later(random.choice((1, 30, 150, 400, random.randint(0, 900))), self.go_on)

    def __repr__(self) -> str:
        return f"producer {self.id} of partition {self.index}, acks {self.acks}, {self.acknowledged} acknowledged, {self.values} under way"
