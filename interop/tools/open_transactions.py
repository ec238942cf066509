"""Open transactions for the tool kafka-transactions: one that its coordinator knows, and a hanging
one (KIP-664), which only the partition knows.

Kafka refuses a record of a transaction that the coordinator does not know (KIP-890). A hanging
transaction is made while that verification is off.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.clients.shape import Record
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.wire import batch
from tests.support.client import ask
from tests.support.waiting import eventually

AN_HOUR_MS = 3_600_000
"""The tool looks for hanging transactions among those that are older than 15 minutes. The age is
that of the last record."""
VERIFICATION = "transaction.partition.verification.enable"
LAST_UNVERIFIED_PRODUCE = 11
"""From version 12 on, Produce adds the partition to the transaction."""


def _an_hour_ago() -> int:
    return int(time.time() * 1000) - AN_HOUR_MS


@contextmanager
def open_transaction(broker: Broker, names: Mapping[str, str]) -> Iterator[None]:
    """A transaction whose transactional id is the name of the topic."""
    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(names["topic"], 1, {})
    with CREATOR.transactional(broker.bootstrap, transactional_id=names["topic"]) as producer:
        producer.begin()
        producer.send(names["topic"], [Record(b"v", timestamp=_an_hour_ago())])
        yield


@contextmanager
def hanging_transaction(broker: Broker, names: Mapping[str, str]) -> Iterator[None]:
    """A transaction that no coordinator knows, so that no timeout ends it."""
    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(names["topic"], 1, {})
        admin.alter_configs("broker", names["node"], ("set", VERIFICATION, "false"))
        try:
            request = _unknown_transaction(broker.bootstrap, names["topic"])
            eventually(lambda: _error_of(broker.bootstrap, request), lambda code: code == 0)
        finally:
            admin.alter_configs("broker", names["node"], ("delete", VERIFICATION, None))
        yield


def _unknown_transaction(bootstrap: str, topic: str) -> ProduceRequest:
    # A broker without a block of producer ids answers COORDINATOR_LOAD_IN_PROGRESS at first.
    asked = InitProducerIdRequest(transactional_id=None)
    init = eventually(lambda: ask(bootstrap, asked, 4), lambda answer: answer.error_code == 0)
    data = batch.encode_batch(
        [batch.Record(0, _an_hour_ago(), None, b"v")],
        producer_id=init.producer_id,
        producer_epoch=init.producer_epoch,
        base_sequence=0,
        is_transactional=True,
    )
    partition = ProduceRequest.PartitionProduceData(index=0, records=data)
    topic_data = ProduceRequest.TopicProduceData(name=topic, partition_data=[partition])
    return ProduceRequest(transactional_id=topic, acks=-1, timeout_ms=30_000, topic_data=[topic_data])


def _error_of(bootstrap: str, request: ProduceRequest) -> int:
    answer = ask(bootstrap, request, LAST_UNVERIFIED_PRODUCE)
    code: int = answer.responses[0].partition_responses[0].error_code
    return code
