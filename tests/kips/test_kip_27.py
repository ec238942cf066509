"""KIP-27, conditional publish: a test for each statement of the KIP, in its order, against a node
that implements it.

The KIP was never adopted, and Apache Kafka implements nothing of it; docs/conditional-publish.md
describes the decisions made where the KIP is silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kafkadouble import expected_offset
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.generated.produce import ProduceResponse as Response
from kafkadouble.wire.batch import Record, decode_all, encode_batch
from tests.server.harness import NOW, Harness
from tests.server.topic_requests import appending

TOPIC, OTHER = "log", "other"
WITH_MESSAGES, NEWEST_BY_NAME = 8, 12


class Writer:
    """A producer that names the expected offset of its records, by one carrier or the other.
    `producer_id` makes it idempotent."""

    def __init__(self, cluster: Harness, carrier: str = "base offset", producer_id: int = -1) -> None:
        self.cluster, self.carrier, self.producer_id = cluster, carrier, producer_id

    def publish(
        self,
        values: Sequence[str],
        at: int | None,
        *,
        topic: str = TOPIC,
        sequence: int = 0,
        version: int = NEWEST_BY_NAME,
    ) -> Response.PartitionProduceResponse:
        """Sends one batch, with an expected offset or (None) without."""
        return self.send(self.batch(values, at, sequence), topic, version)

    def batch(self, values: Sequence[str], at: int | None, sequence: int = 0) -> bytes:
        in_headers = at is not None and self.carrier == "header"
        records = [
            Record(
                index,
                NOW,
                None,
                value.encode(),
                (expected_offset.header(at + index),) if in_headers and at is not None else (),
            )
            for index, value in enumerate(values)
        ]
        idempotent: dict[str, Any] = {}
        if self.producer_id >= 0:
            idempotent = {"producer_id": self.producer_id, "producer_epoch": 0, "base_sequence": sequence}
        batch = encode_batch(records, **idempotent)
        return bytes(batch) if at is None or in_headers else expected_offset.patched(batch, at)

    def send(
        self, batch: bytes, topic: str = TOPIC, version: int = NEWEST_BY_NAME
    ) -> Response.PartitionProduceResponse:
        answer = self.cluster.submit(appending(topic, batch), version)
        response: Response.PartitionProduceResponse = answer.responses[0].partition_responses[0]
        return response


def values(cluster: Harness, topic: str = TOPIC) -> list[str]:
    """The values of the log, in order."""
    log = cluster.partition(topic).log
    return [(record.value or b"").decode() for batch in log.batches(0) for record in decode_all(batch)]


def mismatch(outcome: Response.PartitionProduceResponse) -> tuple[int, int]:
    """The expected and the actual offset of a refusal."""
    assert outcome.error_code == error_codes.INVALID_RECORD
    found = expected_offset.refusal(outcome)
    assert isinstance(found, expected_offset.ExpectedOffsetMismatch), outcome
    return found.expected, found.actual


@pytest.fixture(params=["optional", "required"])
def cluster(request: pytest.FixtureRequest) -> Harness:
    made = Harness()
    made.create(TOPIC, configs={"produce.expected.offset": request.param})
    made.create(OTHER)
    return made


@pytest.fixture(params=["base offset", "header"])
def writer(request: pytest.FixtureRequest, cluster: Harness) -> Writer:
    return Writer(cluster, request.param)


def filled(writer: Writer, *letters: str) -> None:
    assert writer.publish(letters, 0).error_code == 0


class TestMotivation:
    """Without it, the state of a log with several writers is hard to predict or to control."""

    def test_a_producer_can_end_up_writing_duplicates_without_it(self, cluster: Harness) -> None:
        writer = Writer(cluster)
        for _ in range(2):
            assert writer.publish(["a"], None, topic=OTHER).error_code == 0
        assert values(cluster, OTHER) == ["a", "a"]

    def test_a_batch_that_is_sent_again_is_not_written_again(self, cluster: Harness, writer: Writer) -> None:
        filled(writer, "a")
        assert writer.publish(["b"], 1).base_offset == 1
        assert mismatch(writer.publish(["b"], 1)) == (1, 2)
        assert values(cluster) == ["a", "b"]


class TestCheckAndSet:
    """Like check-and-set it makes good progress when few writers compete for a partition."""

    def test_conditional_publish_succeeds_for_a_producer_in_each_round(self, cluster: Harness, writer: Writer) -> None:
        writers = [Writer(cluster, writer.carrier) for _ in range(4)]
        filled(writer, "start")
        for turn in range(1, 9):
            codes = [one.publish([f"{turn}"], turn).error_code for one in writers]
            assert codes.count(0) == 1
        assert values(cluster) == ["start", *map(str, range(1, 9))]

    def test_a_single_writer_is_never_refused(self, cluster: Harness, writer: Writer) -> None:
        end = 0
        for size in (1, 3, 2, 40, 1):
            assert writer.publish(["x"] * size, end).base_offset == end
            end += size

    def test_refused_producer_that_reads_on_succeeds(self, cluster: Harness, writer: Writer) -> None:
        filled(writer, "a", "b")
        _, actual = mismatch(writer.publish(["c"], 1))
        assert writer.publish(["c"], actual).base_offset == 2


class TestTheClient:
    """A client gives the expected offset of a message, which is sent as that message's offset, or
    -1 where none is given."""

    def test_the_offset_of_a_message_is_the_one_that_is_expected(self, cluster: Harness) -> None:
        writer = Writer(cluster)
        batch = writer.batch(["a", "b", "c"], 7)
        assert [record.offset for record in decode_all(batch)] == [7, 8, 9]
        assert mismatch(writer.send(batch)) == (7, 0)

    @pytest.mark.parametrize("carrier", ["base offset", "header"])
    def test_expected_offset_minus_one_means_none(self, carrier: str) -> None:
        cluster = Harness()
        cluster.create(TOPIC, configs={"produce.expected.offset": "optional"})
        writer = Writer(cluster, carrier)
        for end in range(3):
            assert writer.publish(["x"], -1).base_offset == end

    def test_messages_of_one_batch_may_have_different_expectations(self, cluster: Harness) -> None:
        writer = Writer(cluster, "header")

        def one(*offsets: int) -> bytes:
            headers = [(expected_offset.header(offset),) for offset in offsets]
            return bytes(encode_batch([Record(index, NOW, None, b"v", header) for index, header in enumerate(headers)]))

        assert writer.send(one(0, -1, 2)).base_offset == 0
        assert mismatch(writer.send(one(3, -1, 6))) == (6, 5)


class TestTheServer:
    """The server compares when it assigns offsets, and refuses everything where one does not
    match."""

    def test_any_mismatch_refuses_the_whole_batch(self, cluster: Harness) -> None:
        writer = Writer(cluster, "header")
        headers = [expected_offset.header(offset) for offset in (0, 1, 3)]
        batch = encode_batch([Record(index, NOW, None, b"v", (header,)) for index, header in enumerate(headers)])
        assert mismatch(writer.send(bytes(batch))) == (3, 2)
        assert values(cluster) == []

    def test_expected_offset_is_the_next_offset_of_the_partition(self) -> None:
        cluster = Harness()
        cluster.create(TOPIC, partitions=2, configs={"produce.expected.offset": "required"})
        batch = Writer(cluster).batch(["a"], 0)
        parts = [ProduceRequest.PartitionProduceData(index=index, records=batch) for index in range(2)]
        for expected in (0, error_codes.INVALID_RECORD):
            requested = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=parts)
            answer = cluster.submit(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[requested]), NEWEST_BY_NAME)
            assert [one.error_code for one in answer.responses[0].partition_responses] == [expected] * 2

    def test_a_refused_partition_leaves_the_others_of_the_request_alone(self, cluster: Harness) -> None:
        """In the KIP the whole request is refused. Since each partition may have another leader,
        only the partition's batch is."""
        writer = Writer(cluster)
        topics = [
            ProduceRequest.TopicProduceData(
                name=name, partition_data=[ProduceRequest.PartitionProduceData(index=0, records=batch)]
            )
            for name, batch in ((TOPIC, writer.batch(["x"], 5)), (OTHER, writer.batch(["y"], None)))
        ]
        answer = cluster.submit(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=topics), NEWEST_BY_NAME)
        codes = [topic.partition_responses[0].error_code for topic in answer.responses]
        assert codes == [error_codes.INVALID_RECORD, 0]
        assert (values(cluster), values(cluster, OTHER)) == ([], ["y"])

    def test_the_error_has_the_expected_and_the_actual_offset(self, cluster: Harness, writer: Writer) -> None:
        """The KIP proposes a new error code; here it is one that every client knows and none
        retries (see the docs)."""
        filled(writer, "a", "b")
        outcome = writer.publish(["c"], 7, version=WITH_MESSAGES)
        assert (outcome.error_code, outcome.base_offset) == (error_codes.INVALID_RECORD, -1)
        assert outcome.error_message == "conditional publish: expected offset 7, actual 2"
        record_errors = [(one.batch_index, one.batch_index_error_message) for one in outcome.record_errors]
        assert record_errors == [(0, "expected offset 7, actual 2")]


class TestTheWorkedExample:
    """A key-value store whose leader of a shard writes all operations to a partition.
    examples/key_value_store.py plays it with many writers."""

    LOG, MORE = ("A", "B", "C"), ("D", "E", "F")

    def test_publish_at_a_wrong_expected_offset_has_no_effect(self, cluster: Harness, writer: Writer) -> None:
        filled(writer, *self.LOG)
        newer = Writer(cluster, writer.carrier)
        assert newer.publish(["X"], 3).base_offset == 3
        assert mismatch(writer.publish(self.MORE, 3)) == (3, 4)
        assert values(cluster) == [*self.LOG, "X"]

    def test_operations_of_two_leaders_are_not_interleaved(self, cluster: Harness, writer: Writer) -> None:
        filled(writer, *self.LOG)
        newer = Writer(cluster, writer.carrier)
        assert writer.publish(["D"], 3).error_code == 0
        assert newer.publish(["d", "e"], 4).error_code == 0
        assert mismatch(writer.publish(["E", "F"], 4)) == (4, 6)
        assert values(cluster) == [*self.LOG, "D", "d", "e"]

    @pytest.mark.parametrize(
        ("mode", "carrier", "refused"),
        [
            # Every client writes this by default, so it cannot be a condition.
            ("optional", "base offset", False),
            ("optional", "header", True),
            ("required", "base offset", True),
            ("required", "header", True),
        ],
    )
    def test_a_leader_that_takes_the_log_for_empty(self, mode: str, carrier: str, refused: bool) -> None:
        cluster = Harness()
        cluster.create(TOPIC, configs={"produce.expected.offset": mode})
        writer = Writer(cluster, carrier)
        filled(writer, *self.LOG)
        outcome = writer.publish(self.MORE, 0)
        assert mismatch(outcome) == (0, 3) if refused else outcome.base_offset == 3

    def test_log_after_a_failure_is_a_prefix_that_the_leader_continues(self, cluster: Harness, writer: Writer) -> None:
        """In the KIP a failed replication may keep a part of a batch; today's batches are kept or
        lost whole, so the test sends two."""
        filled(writer, *self.LOG)
        for at, value in ((3, "D"), (4, "E")):
            assert writer.publish([value], at).error_code == 0
        log = cluster.partition(TOPIC).log
        log.truncate_to(4)
        log.commit_all()
        assert values(cluster) == [*self.LOG, "D"]
        assert mismatch(writer.publish(["F"], 5)) == (5, 4)
        assert writer.publish(["E", "F"], 4).base_offset == 4
        assert values(cluster) == [*self.LOG, *self.MORE]

    def test_messages_are_never_skipped_or_reordered(self, cluster: Harness, writer: Writer) -> None:
        filled(writer, *self.LOG)
        for at in (5, 4, 6):
            assert mismatch(writer.publish(self.MORE, at)) == (at, 3)
        assert writer.publish(self.MORE, 3).error_code == 0
        assert values(cluster) == [*self.LOG, *self.MORE]

    def test_acknowledged_records_survive_a_later_leader(self, cluster: Harness, writer: Writer) -> None:
        filled(writer, *self.LOG)
        assert writer.publish(["D"], 3).error_code == 0
        cluster.partition(TOPIC).lead(5)
        assert mismatch(Writer(cluster, writer.carrier).publish(["X"], 3)) == (3, 4)
        assert Writer(cluster, writer.carrier).publish(["X"], 4).base_offset == 4


class TestBesideWhatKafkaHasNow:
    """Features that are newer than the KIP: idempotent producers (KIP-98)."""

    def test_a_retry_of_an_idempotent_producer_is_answered_as_the_first_time(
        self, cluster: Harness, writer: Writer
    ) -> None:
        idempotent = Writer(cluster, writer.carrier, producer_id=_producer_id(cluster))
        batch = idempotent.batch(["a", "b"], 0)
        assert idempotent.send(batch).base_offset == 0
        assert writer.publish(["c"], 2).base_offset == 2
        again = idempotent.send(batch)
        assert (again.error_code, again.base_offset) == (0, 0)
        assert values(cluster) == ["a", "b", "c"]

    def test_two_idempotent_producers_keep_each_other_out_by_the_offset(self, cluster: Harness, writer: Writer) -> None:
        """Their producer ids would not prevent it: each may write."""
        filled(writer, "a")
        first, second = (Writer(cluster, writer.carrier, producer_id=_producer_id(cluster)) for _ in range(2))
        assert first.publish(["b"], 1).error_code == 0
        assert mismatch(second.publish(["c"], 1)) == (1, 2)


class TestCompatibility:
    """A producer that does not use the feature sees no change."""

    def test_a_topic_that_is_not_set_takes_no_base_offset(self, cluster: Harness) -> None:
        outcome = Writer(cluster).publish(["a"], 3, topic=OTHER)
        assert (outcome.error_code, outcome.error_message) == (error_codes.INVALID_RECORD, None)

    def test_a_topic_that_is_not_set_does_not_look_at_headers(self, cluster: Harness) -> None:
        assert Writer(cluster, "header").publish(["a"], 3, topic=OTHER).error_code == 0

    def test_unmodified_producers_write_to_an_optional_topic(self) -> None:
        cluster = Harness()
        cluster.create(TOPIC, configs={"produce.expected.offset": "optional"})
        assert [Writer(cluster).publish(["x"], None).base_offset for _ in range(3)] == [0, 1, 2]

    def test_unmodified_producers_write_the_first_batch_of_a_required_topic_and_no_other(self) -> None:
        cluster = Harness()
        cluster.create(TOPIC, configs={"produce.expected.offset": "required"})
        assert Writer(cluster).publish(["x"], None).base_offset == 0
        assert mismatch(Writer(cluster).publish(["x"], None)) == (0, 1)


def _producer_id(cluster: Harness) -> int:
    from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest

    answer: Any = cluster.submit(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 4)
    assert answer.error_code == 0
    return int(answer.producer_id)
