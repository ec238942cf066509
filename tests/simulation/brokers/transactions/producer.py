"""A simulated transactional producer, of transactions version 1 or 2: transaction after
transaction over several partitions, some with offsets, each committed or aborted.

It repeats what failed, as Kafka's clients do. When the error says so, or when it gives up a batch,
it aborts. When it is fenced it stops. It may also die in the middle of a transaction, or get a
rival with the same transactional id: then it is a zombie, and does not know it.

In version 1 the epoch stays for many transactions, so that a request that comes late may hit the
next one (KIP-890). A producer of version 1 that missed an answer therefore takes a new epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from kafkadouble.messages.generated.add_partitions_to_txn import AddPartitionsToTxnRequest
from kafkadouble.messages.generated.end_txn import EndTxnRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.generated.txn_offset_commit import TxnOffsetCommitRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.coordinator.coordinator_lookup import GROUP, TRANSACTION
from kafkadouble.wire.batch import Record, encode_batch

from ...world import Broken
from ..kept import ABORTED, COMMITTED
from ..producer import TRIED_AGAIN, WAIT_MS
from ..shape import TOPIC
from .ledger import Transaction
from .steps import Asked, SteppedClient, Steps

if TYPE_CHECKING:
    from .host import TransactionHost

INIT_VERSION, ADD_VERSION = 5, 3
PRODUCE_VERSIONS, END_VERSIONS, OFFSETS_VERSIONS = {1: 11, 2: 12}, {1: 4, 2: 5}, {1: 4, 2: 5}

TIMEOUTS_MS = (3000, 6000, 9000)
GIVES_UP, FAILS, COMMITS, HAS_OFFSETS = 0.25, 0.06, 0.65, 0.35
"""The chances that a batch without an answer is given up, that a producer dies or gets a rival
between two requests, that a transaction is committed, and that it has offsets."""

RETRIED = TRIED_AGAIN | {
    error_codes.CONCURRENT_TRANSACTIONS,
    error_codes.COORDINATOR_LOAD_IN_PROGRESS,
    error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.NOT_COORDINATOR,
    error_codes.NETWORK_EXCEPTION,
    error_codes.OPERATION_NOT_ATTEMPTED,
}
SAME_COORDINATOR = {error_codes.CONCURRENT_TRANSACTIONS, error_codes.COORDINATOR_LOAD_IN_PROGRESS}
"""The errors after which the same coordinator is asked again."""

ABORTABLE = {error_codes.TRANSACTION_ABORTABLE, error_codes.INVALID_PRODUCER_EPOCH}
"""The errors after which the transaction is aborted, and the producer goes on if it can."""

FATAL = {
    error_codes.PRODUCER_FENCED,
    error_codes.INVALID_TXN_STATE,
    error_codes.INVALID_PRODUCER_ID_MAPPING,
}


class Stopped(Exception):
    """The producer is fenced, or cannot go on for another reason."""


class MustAbort(Exception):
    """The transaction cannot be committed."""


class TransactionalProducer(SteppedClient["TransactionHost"]):
    """`version` is its transactions version, at least `least_version`.

    A version never follows a higher one: the coordinator takes an EndTxn of version 2 that names
    the epoch before for a repeated one, also when a producer of version 1 has that next epoch.
    """

    def __init__(self, cluster: TransactionHost, id: int, transactional_id: str, least_version: int = 1) -> None:
        super().__init__(cluster, id)
        self.transactional_id, self.group = transactional_id, f"group of {transactional_id}"
        self.version = max(least_version, self.random.choice(cluster.transactions_versions))
        self._timeout_ms = self.random.choice(TIMEOUTS_MS)
        self.producer_id = self.epoch = -1
        self._sequences: dict[int, int] = {}
        self._added: set[object] = set()
        self._is_in_doubt = False  # a request had no answer since the last new epoch

    def steps(self) -> Steps:
        try:
            yield from self._init(keep=False)
            while not self.cluster.is_ending:
                if self.cluster.writes:
                    yield from self._one_transaction()
                yield self.random.choice((1, 20, 200, self.random.randint(0, 500)))
        except Stopped as why:
            self.world.note("{!r} stops: {}", self, why)
            self.cluster.replace(self)

    def _init(self, *, keep: bool) -> Steps:
        body = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=self.producer_id if keep else -1,
            producer_epoch=self.epoch if keep else -1,
        )
        answer = yield from self._ask_coordinator(TRANSACTION, body, INIT_VERSION, _code, must_be_current=keep)
        self._continue(answer.producer_id, answer.producer_epoch)

    def _continue(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self._sequences.clear()
            self._is_in_doubt = False
        self.producer_id, self.epoch = producer_id, epoch
        self.cluster.ledger.given(self.transactional_id, producer_id, epoch)

    # A transaction.

    def _one_transaction(self) -> Steps:
        transaction = self.cluster.ledger.begin(self.transactional_id, self.producer_id, self.epoch)
        commits, must_bump = self.random.random() < COMMITS, False
        self._added.clear()
        try:
            for _ in range(self.random.choice((1, 2, 2, 3))):
                yield from self._send(transaction, self.random.choice(self.cluster.partitions))
                yield from self._rest()
            if self.random.random() < HAS_OFFSETS:
                yield from self._send_offset(transaction)
                yield from self._rest()
        except MustAbort as why:
            self.world.note("{!r} must abort: {}", self, why)
            commits, must_bump = False, True
        if self.version > 1 or self._added:
            yield from self._end(transaction, commits)
        else:
            transaction.ended(ABORTED)  # it was never begun
        if self.version == 1 and (must_bump or self._is_in_doubt):
            yield from self._init(keep=True)

    def _rest(self) -> Steps:
        """A pause in the middle of a transaction, in which the producer may fail."""
        if not self.cluster.is_ending and self.random.random() < FAILS:
            self.cluster.replace(self)
            if self.random.random() < 0.5:
                self.world.note("{!r} dies", self)
                self.die()
            else:
                self.world.note("{!r} gets a rival", self)
        yield self.random.choice((1, 10, 100, self.random.randint(0, 600)))

    def _send(self, transaction: Transaction, index: int) -> Steps:
        """One batch, until it is acknowledged."""
        if self.version == 1:
            yield from self._add(index)
        values = [self.cluster.next_value() for _ in range(self.random.choice((1, 1, 2)))]
        self.cluster.watch.sent(values, index)
        self.cluster.ledger.sends(transaction, values, index)
        body = self._batch(values, index)
        while True:
            fence = self.cluster.ledger.fence(self.transactional_id)
            answer = yield Asked((yield from self.leader(TOPIC, index)), body, PRODUCE_VERSIONS[self.version])
            found = None if answer is None else answer.responses[0].partition_responses[0]
            code = None if found is None else found.error_code
            if found is not None and code in (error_codes.NONE, error_codes.DUPLICATE_SEQUENCE_NUMBER):
                break
            self.forget_leader(TOPIC, index)
            self._is_in_doubt |= code is None
            self._raise_for(code, body)
            if code is None and self.random.random() < GIVES_UP:
                raise MustAbort("a batch is given up")
            yield from self.pause()
        self.cluster.ledger.succeeded(self, body, fence)
        self.cluster.watch.acknowledged(self, index, values, found.base_offset)
        self._sequences[index] = self._sequences.get(index, 0) + len(values)

    def _batch(self, values: list[int], index: int) -> ProduceRequest:
        batch = encode_batch(
            [Record(at, self.world.now, None, b"%d" % value) for at, value in enumerate(values)],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences.get(index, 0),
            is_transactional=True,
        )
        data = ProduceRequest.PartitionProduceData(index=index, records=bytes(batch))
        topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
        return ProduceRequest(transactional_id=self.transactional_id, acks=-1, timeout_ms=WAIT_MS, topic_data=[topic])

    def _add(self, index: int) -> Steps:
        if index not in self._added:
            topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=TOPIC, partitions=[index])
            body = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[topic],
            )
            yield from self._ask_coordinator(TRANSACTION, body, ADD_VERSION, _code_of_added)
            self._added.add(index)

    def _send_offset(self, transaction: Transaction) -> Steps:
        offset = self.cluster.ledger.next_offset(transaction)
        if self.version == 1:
            added = AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                group_id=self.group,
            )
            yield from self._ask_coordinator(TRANSACTION, added, ADD_VERSION, _code)
            self._added.add(self.group)
        of = TxnOffsetCommitRequest
        partition = of.TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        body = of(
            transactional_id=self.transactional_id,
            group_id=self.group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[of.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])],
        )
        yield from self._ask_coordinator(GROUP, body, OFFSETS_VERSIONS[self.version], _code_of_offset)
        transaction.offset = offset

    def _end(self, transaction: Transaction, commits: bool) -> Steps:
        body = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commits,
        )
        transaction.may_commit = commits
        version = END_VERSIONS[self.version]
        answer = yield from self._ask_coordinator(TRANSACTION, body, version, _code, must_be_current=True)
        transaction.ended(COMMITTED if commits else ABORTED)
        self.cluster.count["transactions committed" if commits else "transactions aborted"] += 1
        if self.version == 2:
            self._continue(answer.producer_id, answer.producer_epoch)

    # Requests.

    def _ask_coordinator(
        self,
        key_type: int,
        body: Message,
        version: int,
        code_of: Callable[[Any], int],
        *,
        must_be_current: bool = False,
    ) -> Steps:
        """The answer of the coordinator, as soon as it succeeds. `must_be_current`: an old epoch
        ends the producer, not only the transaction."""
        key = self.group if key_type == GROUP else self.transactional_id
        while True:
            fence = self.cluster.ledger.fence(self.transactional_id)
            answer = yield Asked((yield from self.coordinator(key_type, key)), body, version)
            code = None if answer is None else code_of(answer)
            if code == error_codes.NONE:
                break
            self._is_in_doubt |= code is None
            if code not in SAME_COORDINATOR:
                self.forget_coordinator(key_type, key)
            if code == error_codes.INVALID_PRODUCER_EPOCH and must_be_current:
                raise Stopped(error_codes.name(code))
            self._raise_for(code, body)
            yield from self.pause()
        if self.producer_id >= 0 and not (isinstance(body, InitProducerIdRequest) and body.producer_id < 0):
            self.cluster.ledger.succeeded(self, body, fence)
        return answer

    def _raise_for(self, code: int | None, body: Message) -> None:
        if code is None or code in RETRIED:
            return
        if code in ABORTABLE:
            raise MustAbort(error_codes.name(code))
        if code in FATAL or not self.cluster.ledger.is_whole:
            raise Stopped(error_codes.name(code))
        raise Broken(f"{self!r} is answered {error_codes.name(code)} to {body}")

    def __repr__(self) -> str:
        return f"producer {self.id} of {self.transactional_id}, version {self.version}, {self.producer_id}/{self.epoch}"


def _code(answer: Any) -> int:
    return int(answer.error_code)


def _code_of_added(answer: Any) -> int:
    return int(answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)


def _code_of_offset(answer: Any) -> int:
    return int(answer.topics[0].partitions[0].error_code)
