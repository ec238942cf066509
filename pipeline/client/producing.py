"""Delivering record batches: in order within a partition, each stored once however often it is sent (KIP-98).

Rules. Of each partition one batch is under way at a time, so that nothing can overtake; batches for partitions of one broker share a request.
What may have arrived is sent again with the same sequence, and DUPLICATE_SEQUENCE_NUMBER says that it had. After any other trouble the producer
begins anew under another id: what was under way then may be stored or not, as at least once has it. There are no transactions here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafkadouble.wire.batch_header import increment_sequence
from kafkadouble.wire.batch_walk import read_header
from kafkadouble.wire.batch_write import set_producer
from kafkadouble.wire.errors import UsageError

from .connection import BrokerConnection
from .delivery import checked, deliver, refused
from .errors import ConnectionLost, NoLeader, TimedOut, refusal
from .names import BrokerEndpoint, TopicPartition
from .network import Network
from .patience import Patience

ACKS = {"all": -1, "-1": -1, "0": 0, "1": 1}
DELIVERED = (error_codes.NONE, error_codes.DUPLICATE_SEQUENCE_NUMBER)


class _Identity(NamedTuple):
    """Who the producer is to the brokers."""

    id: int
    epoch: int


class Producer:
    """Use `Client.producer`. It has the client's connections, and is of use as long as they are."""

    def __init__(self, network: Network, acks: str | None, idempotent: bool | None) -> None:
        settings = network.settings
        self._network = network
        told = acks if acks is not None else settings.text("acks") or ""
        if told not in ACKS:
            raise UsageError(f"acks {told!r} is none: give all, 0 or 1")
        self._acks = ACKS[told]
        wanted = settings.flag("enable.idempotence") if idempotent is None else idempotent
        insisted = idempotent or (idempotent is None and "enable.idempotence" in settings.given)
        if wanted and self._acks != -1 and insisted:
            raise UsageError(f"an idempotent producer needs acks=all, not {told}")
        self._idempotent = wanted and self._acks == -1
        self._retries = settings.int("retries")
        self._identity: _Identity | None = None
        self._sequences: dict[TopicPartition, int] = {}

    def send(self, batches: Mapping[TopicPartition, Sequence[bytes | bytearray]]) -> dict[TopicPartition, int]:
        """Deliver record batches (magic 2, without a producer's id), those of a partition in their order; the offset of each partition's first
        record, -1 where it is not known, as with acks=0.

        It returns when all are delivered. TimedOut when one was not within `delivery.timeout.ms`, NoSuchTopic, ApiError; UsageError for what is
        no batch.
        """
        patience = self._network.patience("sending", "delivery.timeout.ms")
        try:
            queues = {partition: deque(map(checked, each)) for partition, each in batches.items() if each}
            if self._idempotent and queues:
                self._stamp(queues, self._known(patience))
            return self._deliver(queues, patience)
        except BaseException:
            self._identity = None
            raise

    def close(self) -> None:
        """Nothing is left behind: what was sent was delivered."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _known(self, patience: Patience) -> _Identity:
        """Who this producer is; brokers are asked for an id the first time."""
        while self._identity is None:
            answer = self._network.metadata.ask_anyone(patience, _identify)
            if not answer.error_code:
                self._identity = _Identity(answer.producer_id, answer.producer_epoch)
                self._sequences.clear()
            elif error_codes.is_retriable(answer.error_code):
                patience.pause(error_codes.name(answer.error_code))
            else:
                raise refusal("a producer id", answer.error_code)
        return self._identity

    def _stamp(self, queues: Mapping[TopicPartition, deque[bytearray]], who: _Identity) -> None:
        for partition, queue in queues.items():
            for batch in queue:
                sequence = self._sequences.get(partition, 0)
                set_producer(batch, who.id, who.epoch, sequence)
                self._sequences[partition] = increment_sequence(sequence, read_header(batch).last_offset_delta + 1)

    def _deliver(self, queues: dict[TopicPartition, deque[bytearray]], patience: Patience) -> dict[TopicPartition, int]:
        done: dict[TopicPartition, int] = {}
        failures = 0
        while queues:
            troubles: list[str] = []
            brokers = self._by_broker(queues, patience, troubles)
            delivered = False
            for endpoint, partitions in brokers.items():
                for partition, offset in self._sent(endpoint, partitions, queues, patience, troubles):
                    delivered = True
                    done.setdefault(partition, offset)
                    queues[partition].popleft()
                    if not queues[partition]:
                        del queues[partition]
            if delivered:
                patience.progress()
                failures = 0
            elif queues:
                trouble, kind = troubles[0] if troubles else "no answer", TimedOut if brokers else NoLeader
                if failures == self._retries:
                    raise kind(f"sending: not with {self._retries} retries (retries): {trouble}")
                failures += 1
                patience.pause(trouble, kind)
        return done

    def _by_broker(
        self, queues: Mapping[TopicPartition, deque[bytearray]], patience: Patience, troubles: list[str]
    ) -> dict[BrokerEndpoint, list[TopicPartition]]:
        found: dict[BrokerEndpoint, list[TopicPartition]] = {}
        for partition in queues:
            place = self._network.place(partition, patience, create=True)
            if isinstance(place, str):
                troubles.append(place)
            else:
                found.setdefault(place.endpoint, []).append(partition)
        return found

    def _sent(
        self,
        endpoint: BrokerEndpoint,
        partitions: list[TopicPartition],
        queues: Mapping[TopicPartition, deque[bytearray]],
        patience: Patience,
        troubles: list[str],
    ) -> Iterator[tuple[TopicPartition, int]]:
        """The first batch of each partition goes to a broker; those that it has, with their offsets."""
        heads = {partition: queues[partition][0] for partition in self._fitting(partitions, queues)}
        known = self._network.metadata.cluster.topics
        ids = {partition.topic: known[partition.topic].id for partition in heads}
        timeout_ms = self._network.settings.int("request.timeout.ms")
        try:
            with self._network.links.lent(endpoint, patience.left()) as connection:
                answers = deliver(connection, heads, ids, self._acks, timeout_ms)
        except ConnectionLost as lost:
            troubles.append(str(lost))
            for partition in heads:
                self._network.metadata.stale(partition.topic)
            return
        for told in answers:
            if told.code in DELIVERED:
                yield told.partition, told.offset
            elif error_codes.is_retriable(told.code):
                self._network.trouble(told.partition, told.code, "sending")
                troubles.append(f"{told.partition}: {error_codes.name(told.code)}")
            else:
                raise refused(told)

    def _fitting(
        self, partitions: list[TopicPartition], queues: Mapping[TopicPartition, deque[bytearray]]
    ) -> Iterator[TopicPartition]:
        """As many as one request has room for, and at least one."""
        room = self._network.settings.int("max.request.size")
        for number, partition in enumerate(partitions):
            room -= len(queues[partition][0])
            if room < 0 and number:
                return
            yield partition


def _identify(connection: BrokerConnection) -> InitProducerIdResponse:
    body = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=2**31 - 1)
    answer = connection.ask(body, connection.version(ApiKeys.INIT_PRODUCER_ID))
    assert isinstance(answer, InitProducerIdResponse)
    return answer
