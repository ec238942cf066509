"""Reads the transactions of a cluster with ListTransactions and DescribeTransactions. Expires a
transaction, or makes one hang, without a client."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import KafkaError
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_transactions import DescribeTransactionsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.list_transactions import ListTransactionsRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.controller.producer_id_blocks import allocate_producer_ids
from kafkadouble.server.coordinator.coordinator_lookup import TRANSACTION
from kafkadouble.server.requests.request import Refusal
from kafkadouble.topics import leadership
from kafkadouble.wire.batch import Record, encode_batch

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

TopicPartition = tuple[str, int]
Ask = Callable[[Message], Any]


class Transaction(NamedTuple):
    """A transactional id and its latest transaction.

    - `id`: the transactional id.
    - `state`: Kafka's name, such as Ongoing, CompleteCommit or Empty.
    - `producer_id`: the id of its latest producer.
    - `producer_epoch`: the epoch of this producer.
    - `timeout_ms`: `transaction.timeout.ms` of this producer.
    - `started_ms`: when the open transaction began, in ms since the epoch; None if none is open.
    - `partitions`: the partitions that have no marker yet, as pairs of a topic and a partition.
    """

    id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started_ms: int | None
    partitions: tuple[TopicPartition, ...]


def transactions(ask: Ask, only: str | None = None) -> dict[str, Transaction]:
    """The transactions that one broker coordinates, by transactional id. With `only`, no other
    transactional id is returned."""
    listed = (state.transactional_id for state in ask(ListTransactionsRequest()).transaction_states)
    ids = sorted(id for id in listed if only in (None, id))
    described = ask(DescribeTransactionsRequest(transactional_ids=ids)).transaction_states if ids else ()
    return {each.transactional_id: _transaction(each) for each in described if not each.error_code}


def _transaction(described: Any) -> Transaction:
    started = described.transaction_start_time_ms
    return Transaction(
        described.transactional_id,
        described.transaction_state,
        described.producer_id,
        described.producer_epoch,
        described.transaction_timeout_ms,
        None if started < 0 else started,
        tuple(sorted((topic.topic, index) for topic in described.topics for index in topic.partitions)),
    )


def expire(broker: ClusterApi, transactional_id: str) -> None:
    """Aborts the open transaction as its time-out would. KafkaError: TRANSACTIONAL_ID_NOT_FOUND,
    INVALID_TXN_STATE if no transaction is open, CONCURRENT_TRANSACTIONS while it ends."""
    check(transactional_id=transactional_id)
    broker.settle()
    answer = broker.ask(FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=[transactional_id])).result()
    coordinator = answer.coordinators[0].node_id
    member = next((member for member in broker.members if member.node.id == coordinator), None)
    if member is None:
        raise KafkaError(error_codes.COORDINATOR_NOT_AVAILABLE, f"no broker coordinates {transactional_id!r}")
    member.node.advance(member.clock.now())
    try:
        member.node.transactions.shard(transactional_id).expire(transactional_id)
    except Refusal as refusal:
        raise KafkaError(refusal.code, refusal.message) from None
    finally:
        broker.settle()


def hang(broker: ClusterApi, topic: str, index: int, value: bytes | None) -> int:
    """Appends a record of a hanging transaction: no coordinator knows this transaction, so it never
    ends. Returns its producer id."""
    leader, partition = leadership.find(broker, topic, index)
    node, now = leader.node, leader.clock.now()
    for each in (node, controlling := broker.controlling.node):
        each.advance(now)
    own = controlling.controller.draft.brokers[node.id]
    block = allocate_producer_ids(controlling.controller.draft, own.id, own.epoch)
    controlling.controller.commit(block.records)
    partition.append(
        encode_batch(
            [Record(0, now, None, value)],
            producer_id=block.ids.start,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
        ),
        now,
    )
    leader.settle()
    broker.settle()
    return block.ids.start
