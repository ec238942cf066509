"""The requests of a partition's leader to the coordinator, and the answers of producers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.add_partitions_to_txn import AddPartitionsToTxnResponse
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.coordinator.inter_broker_sender import BACKOFF_MS
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.server.raft.voters import VoterEndpoint
from kafkadouble.server.transactions.add_partitions_to_txn_manager import (
    AddPartitionsToTxnManager,
    PendingVerification,
    TransactionSupportedOperation,
)
from kafkadouble.server.transactions.init_producer_id import ProducerIdAndEpoch
from kafkadouble.server.transactions.transaction_metadata import TopicPartition
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.harness import Harness, Pending
from tests.server.topic_requests import appending
from tests.server.transactions.broker import Broker
from tests.support.transactional_producer import TransactionalProducer, committed_values

OPERATION = TransactionSupportedOperation
T0 = ("t", 0)


class Asked:
    """The manager of a broker that is busy with an earlier request to itself."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.id = broker, broker.node.id
        self.manager: AddPartitionsToTxnManager = broker.node.transactions.partitions_manager
        self.manager._busy.add(self.id)
        self.outcomes: dict[str, Mapping[TopicPartition, int]] = {}

    def ask(
        self, name: str, transactional_id: str = "app", *, epoch: int = 0, how: OPERATION = OPERATION.ADD_PARTITION
    ) -> None:
        def done(found: Mapping[TopicPartition, int]) -> None:
            assert name not in self.outcomes, "the callback was called twice"
            self.outcomes[name] = found

        self.manager.add_or_verify(PendingVerification(transactional_id, ProducerIdAndEpoch(7, epoch), [T0], how, done))

    def answer(self, answered: Any) -> None:
        request = self.manager.next_request(self.id)
        self.manager._busy.clear()
        self.manager.on_response(self.id, request.items, answered)


@pytest.fixture
def asked(broker: Broker) -> Asked:
    return Asked(broker)


def response(code: int, *ids: str) -> AddPartitionsToTxnResponse:
    of = AddPartitionsToTxnResponse
    result = of.AddPartitionsToTxnPartitionResult(partition_index=0, partition_error_code=code)
    topic = of.AddPartitionsToTxnTopicResult(name="t", results_by_partition=[result])
    return of(
        results_by_transaction=[
            of.AddPartitionsToTxnResult(transactional_id=id, topic_results=[topic]) for id in ids or ("app",)
        ]
    )


class TestManager:
    def test_transactions_travel_together(self, asked: Asked) -> None:
        asked.ask("a", "one")
        asked.ask("b", "two", how=OPERATION.GENERIC_ERROR_SUPPORTED)
        request = asked.manager.next_request(asked.id)
        body: Any = request.body
        assert [(each.transactional_id, each.verify_only) for each in body.transactions] == [
            ("one", False),
            ("two", True),
        ]
        assert (request.version, request.lowest) == (5, 4)
        asked.manager.on_response(asked.id, request.items, response(0, "two", "one"))
        assert asked.outcomes == {"a": {}, "b": {}}

    @pytest.mark.parametrize(
        ("first", "second", "outcomes"),
        [
            (0, 0, {"first": codes.NETWORK_EXCEPTION}),
            (0, 1, {"first": codes.INVALID_PRODUCER_EPOCH}),
            (1, 0, {"second": codes.INVALID_PRODUCER_EPOCH}),
        ],
    )
    def test_a_second_request_of_one_transaction(
        self, asked: Asked, first: int, second: int, outcomes: dict[str, int]
    ) -> None:
        asked.ask("first", epoch=first)
        asked.ask("second", epoch=second)
        assert asked.outcomes == {name: {T0: code} for name, code in outcomes.items()}
        asked.answer(response(0))
        assert set(asked.outcomes) == {"first", "second"}

    @pytest.mark.parametrize(
        ("answered", "outcome"),
        [
            (RequestFailure.LOST, {T0: codes.NETWORK_EXCEPTION}),
            (RequestFailure.NOT_AUTHENTICATED, {T0: codes.NETWORK_EXCEPTION}),
            (RequestFailure.UNSUPPORTED_VERSION, {}),
            (AddPartitionsToTxnResponse(error_code=31), {T0: codes.INVALID_TXN_STATE}),
            (AddPartitionsToTxnResponse(error_code=16), {T0: codes.NOT_COORDINATOR}),
            (AddPartitionsToTxnResponse(), {T0: codes.UNKNOWN_SERVER_ERROR}),
        ],
    )
    def test_answers_to_the_request_as_a_whole(self, asked: Asked, answered: Any, outcome: dict[Any, int]) -> None:
        asked.ask("a")
        asked.answer(answered)
        assert asked.outcomes == {"a": outcome}

    @pytest.mark.parametrize(
        ("how", "code", "expected"),
        [
            (OPERATION.ADD_PARTITION, codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_EPOCH),
            (OPERATION.GENERIC_ERROR_SUPPORTED, codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_EPOCH),
            (OPERATION.GENERIC_ERROR_SUPPORTED, codes.TRANSACTION_ABORTABLE, codes.TRANSACTION_ABORTABLE),
            (OPERATION.DEFAULT_ERROR, codes.TRANSACTION_ABORTABLE, codes.INVALID_TXN_STATE),
            (OPERATION.DEFAULT_ERROR, codes.INVALID_PRODUCER_ID_MAPPING, codes.INVALID_PRODUCER_ID_MAPPING),
        ],
    )
    def test_the_codes_that_the_producer_knows(self, asked: Asked, how: OPERATION, code: int, expected: int) -> None:
        asked.ask("a", how=how)
        asked.answer(response(code))
        assert asked.outcomes == {"a": {T0: expected}}

    def test_verification_without_coordinator_is_an_error(self) -> None:
        asked = Asked(Harness())  # type: ignore[arg-type]  # without the coordinators' topics
        asked.ask("a")
        assert asked.outcomes == {"a": {T0: codes.COORDINATOR_NOT_AVAILABLE}}


class TestSender:
    """`InterBrokerSender`, of which this manager is one kind."""

    def test_a_failure_is_followed_by_a_pause(self, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
        other, now = 99, asked.broker.now
        manager = asked.manager
        manager._by_broker[other] = {}
        monkeypatch.setattr(manager, "endpoint", lambda broker: VoterEndpoint("host", 1))
        (sent,) = manager.take_outgoing()
        assert manager.take_outgoing() == []
        manager._by_broker[other] = {}
        assert manager.take_outgoing() == [], "one request at a time"
        manager.answered(sent.token, None, now)
        assert (manager.take_outgoing(), manager.next_deadline()) == ([], now + BACKOFF_MS)
        asked.broker.tick(BACKOFF_MS)
        (again,) = manager.take_outgoing()
        assert again.token != sent.token
        manager.answered(sent.token, AddPartitionsToTxnResponse(), now)
        assert other in manager._busy, "a late answer to another request"
        manager.answered(again.token, AddPartitionsToTxnResponse(), now)
        assert (manager._busy, manager._in_flight) == ({asked.id}, {})

    def test_a_broker_that_was_fenced_gets_no_request(self, asked: Asked) -> None:
        asked.ask("a")
        asked.manager._by_broker[99] = asked.manager._by_broker.pop(asked.id)
        assert asked.manager.take_outgoing() == []
        assert asked.outcomes == {"a": {T0: codes.NETWORK_EXCEPTION}}
        assert (asked.manager._by_broker, asked.manager.next_deadline()) == ({}, None)


def code_of(pending: Pending, at: int = 0) -> tuple[int, str | None]:
    response = pending.response.responses[0].partition_responses[at]
    return response.error_code, response.error_message


UNABLE = "Unable to verify the partition has been added to the transaction. Underlying error: "


class TestProduce:
    @pytest.mark.parametrize("version", [11, 12])
    @pytest.mark.parametrize(
        "code",
        [
            codes.COORDINATOR_LOAD_IN_PROGRESS,
            codes.COORDINATOR_NOT_AVAILABLE,
            codes.NOT_COORDINATOR,
            codes.NETWORK_EXCEPTION,
        ],
    )
    def test_errors_that_every_client_retries(
        self, broker: Broker, monkeypatch: pytest.MonkeyPatch, code: int, version: int
    ) -> None:
        producer = broker.producer()
        monkeypatch.setattr(AddPartitionsToTxnManager, "add_or_verify", lambda self, requested: requested.fail(code))
        pending = broker.begin(producer.produce_request(b"a"), version)
        assert code_of(pending) == (codes.NOT_ENOUGH_REPLICAS, UNABLE + codes.name(code))

    @pytest.mark.parametrize(
        ("version", "expected"),
        [
            (12, (codes.CONCURRENT_TRANSACTIONS, None)),
            (11, (codes.NOT_ENOUGH_REPLICAS, UNABLE + "CONCURRENT_TRANSACTIONS")),
        ],
    )
    def test_concurrent_transactions(
        self, broker: Broker, monkeypatch: pytest.MonkeyPatch, version: int, expected: tuple[int, str | None]
    ) -> None:
        producer, asked = broker.producer(), []

        def refuse(_: Any, requested: PendingVerification) -> None:
            asked.append(broker.now)
            requested.fail(codes.CONCURRENT_TRANSACTIONS)

        monkeypatch.setattr(AddPartitionsToTxnManager, "add_or_verify", refuse)
        pending = broker.begin(producer.produce_request(b"a"), version)
        for _ in range(10):
            broker.tick(20)
        assert code_of(pending) == expected
        assert len(asked) == (6 if version == 12 else 1), "for 100 ms, every 20 ms"

    def test_unverified_partition_fails_and_the_other_is_written(self, broker: Broker) -> None:
        producer = broker.producer(version=1)
        assert producer.add("t", 0) == 0
        data = [producer.produce_request(b"a", index=index).topic_data[0].partition_data[0] for index in (0, 1)]
        topic = ProduceRequest.TopicProduceData(name="t", partition_data=data)
        body = ProduceRequest(transactional_id="app", acks=-1, timeout_ms=1000, topic_data=[topic])
        pending = broker.begin(body, 11)
        assert [code_of(pending, at)[0] for at in (0, 1)] == [0, codes.TRANSACTION_ABORTABLE]
        assert producer.end(commit=True) == 0
        assert (committed_values(broker.ask), committed_values(broker.ask, index=1)) == ([b"a"], [])

    def test_a_batch_without_a_producer_id_is_not_verified(self, broker: Broker) -> None:
        """As in Kafka, which appends it."""
        batch = encode_batch([Record(0, 0, None, b"a")], is_transactional=True)
        pending = broker.begin(appending("t", batch, transactional_id="app"), 12)
        assert code_of(pending)[0] == 0

    def test_transaction_verification_may_be_disabled(self) -> None:
        """Then clients of version 1 may write without adding the partition; version 2 adds it."""
        broker = Broker({"transaction.partition.verification.enable": "false"})
        producer = broker.producer(version=1)
        assert code_of(broker.begin(producer.produce_request(b"a"), 11))[0] == 0
        new = broker.producer("new")
        assert new.send(b"b") == 0
        assert set(broker.metadata("new").topic_partitions) == {T0}

    def test_a_marker_between_the_answer_and_the_append(self, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
        """The coordinator says yes, then the transaction is aborted, and then the batch comes."""
        producer = broker.producer(version=1)
        assert producer.add() == 0
        asked: list[PendingVerification] = []
        with monkeypatch.context() as patched:
            patched.setattr(AddPartitionsToTxnManager, "add_or_verify", lambda self, requested: asked.append(requested))
            pending = broker.begin(producer.produce_request(b"late"), 11)
        assert producer.end(commit=False) == 0
        asked[0].done({})
        broker.tick(0)
        assert code_of(pending)[0] == codes.INVALID_TXN_STATE
        assert committed_values(broker.ask) == []
        assert broker.partition("t").log.last_stable_offset == broker.partition("t").log.high_watermark

    def test_a_client_that_leaves_does_not_stop_the_manager(self, broker: Broker) -> None:
        asked = Asked(broker)
        producer = TransactionalProducer(broker.ask)
        assert producer.init() == 0
        pending = broker.begin(producer.produce_request(b"a"), 12)
        pending.close()
        asked.answer(response(0))
        assert producer.send(b"a") == 0
