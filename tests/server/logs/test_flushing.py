"""Records that must be flushed before they are committed: the high watermark stays behind until
then; the producer waits, and no other client does."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.replica import leadership
from kafkadouble.wire.batch import decode_all
from tests.server.harness import Harness, Pending
from tests.server.machine import Machine, fetch_request, produce_request, produced

EVERY = {"log.flush.interval.messages": 1}
SLOW = {"flush.messages": "1"}


@pytest.fixture
def machine() -> Machine:
    """A node with two topics: in one each record is flushed before it is committed, the other is
    never flushed."""
    made = Machine()
    made.create("slow", configs=SLOW)
    made.create("fast")
    made.flush()
    return made


def produce(machine: Harness, topic: str, *values: bytes, acks: int = -1) -> Pending:
    return machine.begin(produce_request(topic, *values, acks=acks), 9)


def seen(machine: Machine, topic: str, offset: int = 0) -> list[bytes | None]:
    data = machine.submit(fetch_request(topic, offset), 11).responses[0].partitions[0]
    assert data.error_code == 0
    return [record.value for record in decode_all(data.records)]


@pytest.mark.parametrize("acks", [1, -1])
def test_a_producer_waits_for_the_disk(machine: Machine, acks: int) -> None:
    pending = produce(machine, "slow", b"a", b"b", acks=acks)
    assert not pending.done
    assert machine.partition("slow").high_watermark == 0
    assert seen(machine, "slow") == []
    machine.flush()
    assert produced(pending) == (0, 0)
    assert seen(machine, "slow") == [b"a", b"b"]
    assert machine.partition("slow").log.recovery_point == 2


def test_a_consumer_that_waits_hears_of_it_when_it_is_flushed(machine: Machine) -> None:
    waiting = machine.begin(fetch_request("slow", max_wait_ms=10_000), 11)
    produce(machine, "slow", b"a")
    assert not waiting.done
    machine.flush()
    assert waiting.response.responses[0].partitions[0].high_watermark == 1


def test_other_partitions_do_not_wait(machine: Machine) -> None:
    pending = produce(machine, "slow", b"a")
    assert produced(produce(machine, "fast", b"b")) == (0, 0)
    machine.begin_flush()
    assert produced(produce(machine, "fast", b"c")) == (0, 1)
    assert seen(machine, "fast") == [b"b", b"c"]
    assert not pending.done


def test_append_during_a_flush_is_flushed_afterwards(machine: Machine) -> None:
    first = produce(machine, "slow", b"a")
    machine.begin_flush()
    second = produce(machine, "slow", b"b")
    assert machine.node.flushing.begin() == []
    machine.end_flush()
    assert produced(first) == (0, 0)
    assert (second.done, seen(machine, "slow")) == (False, [b"a"])
    machine.flush()
    assert produced(second) == (0, 1)


def test_a_retry_waits_for_the_flush_of_what_it_repeats(machine: Machine) -> None:
    request = produce_request("slow", b"a", producer=(7, 0, 0))
    first = machine.begin(request, 9)
    machine.begin_flush()
    again = machine.begin(request, 9)
    assert (first.done, again.done) == (False, False)
    machine.end_flush()
    assert produced(first) == produced(again) == (0, 0)


def test_every_so_many_records(machine: Machine) -> None:
    """As in Kafka, unflushed records are committed until there are as many as the flush
    interval."""
    machine.create("third", configs={"flush.messages": "3"})
    machine.flush()
    assert produced(produce(machine, "third", b"a", b"b")) == (0, 0)
    pending = produce(machine, "third", b"c", b"d")
    assert (pending.done, machine.partition("third").high_watermark) == (False, 2)
    machine.begin_flush()
    last = produce(machine, "third", b"e")
    machine.end_flush()
    assert (produced(pending), produced(last)) == ((0, 2), (0, 4))
    assert machine.partition("third").log.recovery_point == 4


def test_slow_flush_times_out_the_produce_and_keeps_the_records(machine: Machine) -> None:
    pending = produce(machine, "slow", b"a")
    machine.tick(999)
    assert not pending.done
    machine.tick(1)
    assert produced(pending) == (error_codes.REQUEST_TIMED_OUT, 0), "the answer has the base offset"
    machine.flush()
    assert seen(machine, "slow") == [b"a"]


def test_a_failed_flush_is_answered_and_commits_nothing() -> None:
    machine = Machine(EVERY, "a", "b")
    machine.create("slow")
    machine.flush()
    pending = produce(machine, "slow", b"a")
    machine.begin_flush()
    machine.disks["b"].failing = True
    machine.end_flush()
    assert produced(pending) == (error_codes.KAFKA_STORAGE_ERROR, 0)
    assert machine.partition("slow").high_watermark == 0


def test_a_closed_connection_is_not_answered(machine: Machine) -> None:
    pending = produce(machine, "slow", b"a")
    machine.begin_flush()
    pending.close()
    machine.end_flush()
    assert not pending.done
    assert seen(machine, "slow") == [b"a"]


def test_records_truncated_during_a_flush_are_not_written(machine: Machine) -> None:
    """A flush does not acknowledge records that are written at the same offsets while it runs."""
    kept, lost = produce(machine, "slow", b"a"), produce(machine, "slow", b"b", b"c")
    machine.begin_flush()
    leadership.lose_tail(machine.node, machine.partition("slow"), 1)
    again = produce(machine, "slow", b"d", b"e", b"f")
    machine.end_flush()
    assert produced(kept) == (0, 0)
    assert produced(lost) == (error_codes.NOT_LEADER_OR_FOLLOWER, 1)
    log = machine.partition("slow").log
    assert (again.done, log.high_watermark, log.recovery_point) == (False, 1, 1)
    machine.flush()
    assert produced(again) == (0, 1)
    assert seen(machine, "slow") == [b"a", b"d", b"e", b"f"]


def test_an_election_without_loss_lets_waiting_requests_go_on(machine: Machine) -> None:
    pending = produce(machine, "slow", b"a")
    leadership.elect(machine.node, machine.partition("slow"))
    machine.flush()
    assert produced(pending) == (0, 0)


@pytest.mark.parametrize("under_way", [False, True])
def test_a_topic_that_is_deleted_meanwhile(machine: Machine, under_way: bool) -> None:
    pending = produce(machine, "slow", b"a")
    if under_way:
        machine.begin_flush()
    machine.submit(DeleteTopicsRequest(topic_names=["slow"], timeout_ms=1000), 5)
    machine.flush()
    assert produced(pending) == (error_codes.UNKNOWN_TOPIC_OR_PARTITION, 0)
    assert machine.node.halted is None


def test_the_offsets_of_a_group_wait_too() -> None:
    machine = Machine(EVERY)
    machine.create("t")
    machine.node.controller.create_internal_topic("__consumer_offsets")
    machine.flush()
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name="t", partitions=[partition])
    pending = machine.begin(OffsetCommitRequest(group_id="g", topics=[topic]), 8)
    assert not pending.done
    machine.flush()
    assert pending.response.topics[0].partitions[0].error_code == 0


def test_a_log_is_flushed_when_its_records_have_waited_long_enough() -> None:
    machine = Machine({"log.flush.scheduler.interval.ms": 1000, "log.flush.interval.ms": 5000})
    machine.create("t")
    assert produced(produce(machine, "t", b"a")) == (0, 0)
    machine.tick(1000)
    machine.flush()
    assert machine.partition("t").log.recovery_point == 1
    assert produced(produce(machine, "t", b"b")) == (0, 1)
    machine.tick(4000)
    assert machine.partition("t") not in machine.node.flushing.due
    machine.tick(1000)
    assert machine.partition("t") in machine.node.flushing.due
    machine.flush()
    assert machine.partition("t").log.recovery_point == 2


def test_a_closed_segment_is_flushed_at_the_next_checkpoint_so_that_a_recovery_reads_little() -> None:
    machine = Machine()
    machine.create("t", "u", configs={"segment.bytes": "1048576"})
    machine.flush()
    for _ in range(3):
        produce(machine, "t", b"v" * 600_000)
    produce(machine, "u", b"v")
    assert machine.partition("t").log.recovery_point == 0
    machine.tick(60_000)
    machine.flush()
    assert (machine.partition("t").log.recovery_point, machine.partition("u").log.recovery_point) == (3, 0)
    machine.tick(60_000)
    assert b"t 0 3\n" in machine.disks["a"].read_whole("recovery-point-offset-checkpoint")


def test_decisions_outlive_the_machine_before_they_count_or_soon() -> None:
    at_once, soon = Machine(EVERY), Machine()
    for machine in (at_once, soon):
        machine.flush()
        machine.create("t")
    assert at_once.node.controller.log.recovery_point == at_once.image.end.offset
    assert soon.node.controller.log.recovery_point < soon.image.end.offset
    soon.flush()
    assert soon.node.controller.log.recovery_point == soon.image.end.offset


def test_memory_has_nothing_to_flush() -> None:
    node = Harness(EVERY)
    node.create("t")
    pending = produce(node, "t", b"a")
    assert node.node.flushing.begin() == []
    node.tick(0)
    assert produced(pending) == (0, 0)
    assert not isinstance(node.node.logs, FileLogs)
