"""How many bytes brokers send for micro-batches and split partitions, and what a worker keeps of
them for the next task."""

from __future__ import annotations

from random import Random

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.pipeline.client import Client, Fetched, PartitionLeader, TopicPartition, fetching
from kafkadouble.pipeline.fetched_rows import rows
from kafkadouble.pipeline.wire import options, surplus
from kafkadouble.pipeline.wire.surplus import Surplus
from kafkadouble.pipeline.wire.task import ReadTask
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.control import encode_control_batch
from kafkadouble.wire.record import Record

from .making import plan_of, settings, stream_of, values

T0 = TopicPartition("t", 0)
CHOSEN = options.read({"kafka.bootstrap.servers": "h:1", "subscribe": "t"}, options.BATCH)
STREAM_RATIO, SPLIT_RATIO = 1.2, 1.3
"""Limits for the ratio of the bytes that brokers send to the bytes of the batches."""


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of records in each answer to a Fetch."""
    found: list[int] = []
    partition_of = fetching.partition_of

    def counted(*given: object) -> FetchResponse.PartitionData:
        data = partition_of(*given)  # type: ignore[arg-type]
        found.append(len(data.records or b""))
        return data

    monkeypatch.setattr(fetching, "partition_of", counted)
    return found


def filled(double: KafkaDouble, batches: int, largest: int) -> tuple[int, list[str]]:
    """Fills each partition with batches of 40 to `largest` records; returns the size of the
    batches, and the values."""
    random, size, texts = Random(14), 0, []
    with Client(settings(double).client) as client:
        for partition in (0, 1):
            made = []
            for number in range(batches):
                some = [f"{partition}-{number}-{at}" * 8 for at in range(random.randint(40, largest))]
                made.append(bytes(encode_batch([Record(at, 1, None, text.encode()) for at, text in enumerate(some)])))
                texts += some
            client.producer().send({TopicPartition("t", partition): made})
            size += sum(map(len, made))
    return size, texts


@pytest.mark.parametrize("largest", [40, 100, 1000])
def test_surplus_of_a_micro_batch_is_used_by_the_next(double: KafkaDouble, sent: list[int], largest: int) -> None:
    """One worker reads all micro-batches. Batches are smaller or larger than what a task takes."""
    size, texts = filled(double, 40, largest)
    chosen, stream = settings(double), stream_of(double, maxOffsetsPerTrigger="500")
    start, read = stream.initial(), []
    while (end := stream.latest(start, everything=False)) != start:
        read += values(stream.plan(start, end), chosen)
        start = end
    assert sorted(read) == sorted(texts)
    assert size <= sum(sent) <= STREAM_RATIO * size


@pytest.mark.parametrize("largest", [40, 100])
def test_partitions_that_are_split(double: KafkaDouble, sent: list[int], largest: int) -> None:
    """Each task runs in a worker of its own: it cannot use what another worker kept."""
    size, texts = filled(double, 100, largest)
    chosen, read = settings(double), []
    for task in plan_of(double, minPartitions="10"):
        surplus.of_process.clear()
        read += values([task], chosen)
    assert sorted(read) == sorted(texts)
    assert size <= sum(sent) <= SPLIT_RATIO * size


def test_kept_records_are_not_requested(double: KafkaDouble, sent: list[int]) -> None:
    _, texts = filled(double, 1, 40)
    tasks, chosen = plan_of(double, minPartitions="10", assign='{"t":[0]}'), settings(double)
    assert values(tasks, chosen) == texts[:40]
    assert len(tasks) == 10
    assert len(sent) == 1
    assert surplus.of_process.size_bytes == 0


def test_another_leader_epoch_is_queried_again(double: KafkaDouble) -> None:
    filled(double, 1, 40)
    (first, _), chosen = plan_of(double, minPartitions="2", assign='{"t":[0]}'), settings(double)
    values([first], chosen)
    double.truncate("t", 0, 0)
    for number in range(40):
        double.produce("t", f"new {number}", partition=0)
    _, second = plan_of(double, minPartitions="2", assign='{"t":[0]}')
    assert values([second], chosen) == [f"new {number}" for number in range(20, 40)]


def test_another_user_is_sent_the_records(double: KafkaDouble, sent: list[int]) -> None:
    filled(double, 1, 40)
    first, second = plan_of(double, minPartitions="2", assign='{"t":[0]}')
    values([first], settings(double))
    values([second], settings(double, kafka_client_id="another"))
    assert len(sent) == 2


def kept(most_bytes: int, *ends: int, topic_id: bytes = b"a topic that is!", epoch: int = 0) -> tuple[Surplus, int]:
    """What a worker keeps of one batch of ten records after tasks that end at `ends`; and the size
    of the batch."""
    made = encode_batch([Record(at, 1, None, b"v" * 100) for at in range(10)])
    fetched = Fetched(memoryview(bytes(made)), 0, 10, 10, 0, 10, ())
    surplus = Surplus(most_bytes)
    leader = PartitionLeader(Uuid(topic_id), 1, epoch)
    for end in ends:
        surplus.keep(ReadTask(T0, 0, end, leader=leader), CHOSEN, fetched)
    return surplus, len(made)


def test_kept_surplus_batches_stay_within_their_bound() -> None:
    for room in (1, 2, 3):
        found, size = kept(room * 1300, 2, 4, 6, 8)
        assert found.size_bytes == room * size <= room * 1300


def test_a_batch_larger_than_the_bound_is_not_kept() -> None:
    assert kept(100, 5)[0].size_bytes == 0


def test_surplus_of_a_topic_without_id_or_epoch_is_not_kept() -> None:
    assert kept(1 << 20, 5, topic_id=bytes(16))[0].size_bytes == 0
    assert kept(1 << 20, 5, epoch=-1)[0].size_bytes == 0


def test_surplus_is_empty_when_the_task_ends_with_a_batch() -> None:
    assert kept(1 << 20, 10)[0].size_bytes == 0


ABORTED, COMMITTED = 0, 1
"""The types of the markers of transactions."""


def transactions(*outcomes: int) -> Fetched:
    """Transactions of one producer, each of two batches and a marker. Values are offsets."""
    stored, aborted = bytearray(), []
    for number, outcome in enumerate(outcomes):
        first = 3 * number
        aborted += [(7, first)] if outcome == ABORTED else []
        for at in (first, first + 1):
            stored += encode_batch(
                [Record(at, 1, None, b"%d" % at)], base_offset=at, producer_id=7, is_transactional=True
            )
        stored += encode_control_batch(outcome, b"", base_offset=first + 2, producer_id=7, is_transactional=True)
    end = 3 * len(outcomes)
    return Fetched(memoryview(bytes(stored)), 0, end, end, 0, end, tuple(aborted))


@pytest.mark.parametrize("cut", range(1, 15))
def test_a_committed_transaction_is_kept_behind_an_aborted_one_of_its_producer(cut: int) -> None:
    """The list of aborted transactions came with the whole answer, and names those before the
    cut."""
    fetched, leader, found = transactions(0, 1, 0, 0, 1), PartitionLeader(Uuid(b"a topic that is!"), 1, 0), Surplus()
    found.keep(ReadTask(T0, 0, cut, leader=leader), CHOSEN, fetched)
    kept_records = found.take(ReadTask(T0, cut, 15, leader=leader), CHOSEN)
    assert kept_records is not None
    batches = rows(kept_records.fetched, T0, cut, 15, ("offset",), committed=True)
    offsets = [offset for batch in batches for offset in batch.column("offset").to_pylist()]
    assert offsets == [offset for offset in (3, 4, 12, 13) if offset >= cut]
