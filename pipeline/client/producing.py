"""Delivers record batches: in order within a partition, and appended once even when they are sent
several times (KIP-98).

Rules. One batch per partition is in flight, so that the order is kept; batches for partitions of
one leader share a request. A batch that may have arrived is sent again with the same sequence;
DUPLICATE_SEQUENCE_NUMBER means that it had arrived. After any other error the producer gets a new
producer id: batches that were in flight may then be stored twice (at least once). There are no
transactions.
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
    """The producer id and epoch."""

    id: int
    epoch: int


class Producer:
    """Use `Client.producer` to make one. It uses the client's connections, until the client is
    closed."""

    def __init__(self, network: Network, acks: str | None, idempotent: bool | None) -> None:
        settings = network.settings
        self._network = network
        given = acks if acks is not None else settings.text("acks") or ""
        if given not in ACKS:
            raise UsageError(f"acks {given!r} is none: give all, 0 or 1")
        self._acks = ACKS[given]
        is_idempotent = settings.flag("enable.idempotence") if idempotent is None else idempotent
        insisted = idempotent or (idempotent is None and "enable.idempotence" in settings.given)
        if is_idempotent and self._acks != -1 and insisted:
            raise UsageError(f"an idempotent producer needs acks=all, not {given}")
        self._idempotent = is_idempotent and self._acks == -1
        self._retries = settings.int("retries")
        self._identity: _Identity | None = None
        self._sequences: dict[TopicPartition, int] = {}

    def send(self, batches: Mapping[TopicPartition, Sequence[bytes | bytearray]]) -> dict[TopicPartition, int]:
        """Delivers record batches (magic 2, without a producer id), in the given order for each
        partition. Returns the offset of each partition's first record, -1 when it is unknown, as
        with acks=0.

        It returns when all are delivered. Raises TimedOut when one was not within
        `delivery.timeout.ms`, NoSuchTopic, ApiError; UsageError for bytes that are no batch.
        """
        patience = self._network.patience("sending", "delivery.timeout.ms")
        try:
            queues = {partition: deque(map(checked, batch)) for partition, batch in batches.items() if batch}
            if self._idempotent and queues:
                self._stamp(queues, self._known(patience))
            return self._deliver(queues, patience)
        except BaseException:
            self._identity = None
            raise

    def close(self) -> None:
        """Does nothing: `send` has delivered all batches."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _known(self, patience: Patience) -> _Identity:
        """The producer id and epoch; the first call requests them."""
        while self._identity is None:
            answer = self._network.metadata.call_any_broker(patience, _identify)
            if not answer.error_code:
                self._identity = _Identity(answer.producer_id, answer.producer_epoch)
                self._sequences.clear()
            elif error_codes.is_retriable(answer.error_code):
                patience.pause(error_codes.name(answer.error_code))
            else:
                raise refusal("a producer id", answer.error_code)
        return self._identity

    def _stamp(self, queues: Mapping[TopicPartition, deque[bytearray]], identity: _Identity) -> None:
        for partition, queue in queues.items():
            for batch in queue:
                sequence = self._sequences.get(partition, 0)
                set_producer(batch, identity.id, identity.epoch, sequence)
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
        partitions: dict[BrokerEndpoint, list[TopicPartition]] = {}
        for partition in queues:
            location = self._network.find_leader(partition, patience, create=True)
            if isinstance(location, str):
                troubles.append(location)
            else:
                partitions.setdefault(location.endpoint, []).append(partition)
        return partitions

    def _sent(
        self,
        endpoint: BrokerEndpoint,
        partitions: list[TopicPartition],
        queues: Mapping[TopicPartition, deque[bytearray]],
        patience: Patience,
        troubles: list[str],
    ) -> Iterator[tuple[TopicPartition, int]]:
        """Sends the first batch of each partition to its leader. Returns those that were appended,
        with their offsets."""
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
        for result in answers:
            if result.code in DELIVERED:
                yield result.partition, result.offset
            elif error_codes.is_retriable(result.code):
                self._network.record_error(result.partition, result.code, "sending")
                troubles.append(f"{result.partition}: {error_codes.name(result.code)}")
            else:
                raise refused(result)

    def _fitting(
        self, partitions: list[TopicPartition], queues: Mapping[TopicPartition, deque[bytearray]]
    ) -> Iterator[TopicPartition]:
        """As many batches as fit into one request, and at least one."""
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
