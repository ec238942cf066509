"""A share partition: its share coordinator, its timer, the end of its leadership (KIP-932)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.server.metadata.image import GROUP
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.share.acknowledgement import AcknowledgementBatch
from kafkadouble.server.share.acquisition import AcquiredRecords, AcquireRequest
from kafkadouble.server.share.persister import ReadStateResult
from kafkadouble.server.share.record_state import ACKNOWLEDGED, ARCHIVED, ARCHIVING, AVAILABLE
from kafkadouble.server.share.share_group_dlq_manager import ShareGroupDLQRecordParameter
from kafkadouble.server.share.share_log_reader import read
from kafkadouble.server.share.share_partition import SharePartition, SharePartitionPhase
from kafkadouble.server.share.share_partition_manager import SharePartitionManager
from kafkadouble.server.share.share_session import TopicIdPartition
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.server.harness import Harness
from tests.support.fake_persister import FakePersister

from .shapes import kept

LOCK_MS = 30_000


class DeadLetters:
    """A dead-letter queue that takes its time."""

    def __init__(self) -> None:
        self.taken: list[tuple[ShareGroupDLQRecordParameter, Callable[[], None]]] = []

    def enqueue(self, given_up: ShareGroupDLQRecordParameter, then: Callable[[], None]) -> None:
        self.taken.append((given_up, then))


class Sharing(Harness):
    """A broker that leads "t", with ten records in two batches, and a persister of the test."""

    def __init__(self) -> None:
        super().__init__()
        self.create("t")
        self.produce(5)
        self.produce(5)
        self.persister, self.dead_letters = FakePersister(), DeadLetters()
        self.manager = SharePartitionManager(self.node, self.persister, self.dead_letters)
        self.node.partitions.listeners.append(self.manager)
        self.of_topic = TopicIdPartition(self.image.topic_ids["t"], 0, "t")
        self.outcomes: list[Refusal | None] = []

    def produce(self, count: int) -> None:
        records = [Record(offset, self.now, None, b"x") for offset in range(count)]
        self.partition("t").append(bytes(encode_batch(records)), self.now)

    def configure(self, name: str, value: str) -> None:
        """Sets a configuration of the group."""
        record = ConfigRecord(resource_type=GROUP, resource_name="g", name=name, value=value)
        self.node.controller.commit([record])
        self.tick(0)

    def share_partition(self) -> SharePartition:
        return self.manager.get_or_create("g", self.of_topic)

    def take(self, member: str = "m", most: int = 500) -> list[AcquiredRecords]:
        """Acquires records for a member."""
        found = self.share_partition()
        got = read(self.node, found, 1 << 20, read_committed=False, at_least_one=True)
        return found.acquire(got.batches, AcquireRequest(member, got.fetch_offset, most, 1))

    def acknowledge(self, first: int, last: int, type: int, member: str = "m") -> None:
        batch = AcknowledgementBatch(first, last, [type])
        self.share_partition().acknowledge(member, [batch], self.outcomes.append)

    @property
    def codes(self) -> list[int]:
        return [0 if outcome is None else outcome.code for outcome in self.outcomes]


@pytest.fixture
def broker() -> Sharing:
    return Sharing()


def test_share_partition_state_is_read_once_from_the_persister(broker: Sharing) -> None:
    broker.persister.read_result = ReadStateResult(0, None, 7, 2, [kept(2, 3, AVAILABLE, 1), kept(4, 6, ACKNOWLEDGED)])
    broker.share_partition()
    found = broker.share_partition()
    assert broker.persister.reads == [(found.key, 0)]
    assert (found.phase, found.state_epoch, found.records.start_offset) == (SharePartitionPhase.ACTIVE, 7, 2)
    assert broker.take() == [(2, 3, 2), (7, 9, 1)]


def test_share_partition_delivers_no_record_before_its_state_is_read(broker: Sharing) -> None:
    broker.persister.waits = True
    found = broker.share_partition()
    assert (found.phase, found.can_acquire()) == (SharePartitionPhase.INITIALIZING, False)
    assert broker.take() == []
    broker.persister.answer_one()
    assert broker.take() == [(0, 4, 1), (5, 9, 1)]


@pytest.mark.parametrize(
    ("code", "seen", "message"),
    [
        (error_codes.NOT_COORDINATOR, error_codes.COORDINATOR_NOT_AVAILABLE, "why"),
        (error_codes.COORDINATOR_LOAD_IN_PROGRESS, error_codes.COORDINATOR_NOT_AVAILABLE, "why"),
        (error_codes.GROUP_ID_NOT_FOUND, error_codes.GROUP_ID_NOT_FOUND, "why"),
        (error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.UNKNOWN_TOPIC_OR_PARTITION, "why"),
        (error_codes.FENCED_LEADER_EPOCH, error_codes.NOT_LEADER_OR_FOLLOWER, "why"),
        (error_codes.FENCED_STATE_EPOCH, error_codes.NOT_LEADER_OR_FOLLOWER, "why"),
        (error_codes.INVALID_REQUEST, error_codes.UNKNOWN_SERVER_ERROR, "why"),
        (
            error_codes.UNSUPPORTED_VERSION,
            error_codes.UNKNOWN_SERVER_ERROR,
            "Unable to complete operation due to server error.",
        ),
    ],
)
def test_errors_of_the_share_coordinator_as_members_see_them(
    broker: Sharing, code: int, seen: int, message: str
) -> None:
    """The share partition is dropped after a failed read, so the next fetch tries again."""
    broker.persister.read_result = ReadStateResult(code, "why")
    found = broker.share_partition()
    assert found.failure is not None
    assert (found.failure.code, found.failure.message) == (seen, message)
    assert found.phase is SharePartitionPhase.FENCED
    broker.persister.read_result = ReadStateResult(0, None)
    assert broker.share_partition().is_active
    broker.take()
    broker.persister.error = (code, "why")
    broker.acknowledge(0, 4, 1)
    assert broker.codes == [seen]


def test_an_impossible_state_is_a_server_error(broker: Sharing) -> None:
    broker.persister.read_result = ReadStateResult(0, None, 1, 5, [kept(3, 4, AVAILABLE)])
    failure = broker.share_partition().failure
    assert failure is not None
    assert (failure.code, failure.message) == (
        error_codes.UNKNOWN_SERVER_ERROR,
        "Failed to initialize the share partition g-t-0",
    )


def test_share_acknowledge_is_answered_after_its_write(broker: Sharing) -> None:
    broker.take()
    broker.persister.waits = True
    broker.acknowledge(0, 4, 1)
    assert broker.outcomes == []
    key = broker.share_partition().key
    assert broker.persister.writes == [(key, 7, 0, 0, 5, ((0, 4, ACKNOWLEDGED, 1),))]
    broker.persister.answer_one()
    assert broker.codes == [0]
    assert broker.share_partition().records.start_offset == 5


def test_share_acknowledge_without_changes_writes_no_record(broker: Sharing) -> None:
    broker.take()
    broker.acknowledge(0, 4, 4)
    assert broker.codes == [0]
    broker.acknowledge(0, 3, 1, member="n")
    assert broker.codes == [0, error_codes.INVALID_RECORD_STATE]
    assert broker.persister.writes == []


def test_after_a_failed_write_the_member_still_has_its_records(broker: Sharing) -> None:
    broker.take()
    broker.persister.error = (error_codes.COORDINATOR_NOT_AVAILABLE, None)
    broker.acknowledge(0, 4, 1)
    broker.persister.error = (0, None)
    broker.acknowledge(0, 4, 1)
    assert broker.codes == [error_codes.COORDINATOR_NOT_AVAILABLE, 0]


@pytest.mark.parametrize(
    ("code", "is_dropped"),
    [
        (error_codes.FENCED_STATE_EPOCH, True),
        (error_codes.FENCED_LEADER_EPOCH, True),
        (error_codes.GROUP_ID_NOT_FOUND, True),
        (error_codes.UNKNOWN_TOPIC_OR_PARTITION, True),
        (error_codes.COORDINATOR_NOT_AVAILABLE, False),
        (error_codes.INVALID_REQUEST, False),
    ],
)
def test_a_write_that_is_fenced_drops_the_share_partition(broker: Sharing, code: int, is_dropped: bool) -> None:
    found = broker.share_partition()
    broker.take()
    broker.persister.error = (code, None)
    broker.acknowledge(0, 4, 1)
    assert (found.phase is SharePartitionPhase.FENCED) == is_dropped
    assert (broker.share_partition() is not found) == is_dropped


def test_locks_time_out_and_the_records_are_delivered_again(broker: Sharing) -> None:
    broker.take()
    broker.tick(10_000)
    broker.acknowledge(0, 4, 4)
    broker.tick(LOCK_MS - 10_001)
    assert broker.take("n") == []
    broker.tick(1)
    assert broker.persister.writes[-1].batches == ((5, 9, AVAILABLE, 1),)
    assert broker.take("n") == [(5, 9, 2)]
    broker.tick(10_000)
    assert broker.take("o") == [(0, 4, 2)]


def test_a_timeout_needs_no_successful_write(broker: Sharing) -> None:
    broker.take()
    broker.persister.error = (error_codes.COORDINATOR_NOT_AVAILABLE, None)
    broker.tick(LOCK_MS)
    assert broker.take("n") == [(0, 4, 2), (5, 9, 2)]


def test_a_lock_that_times_out_during_a_write_releases_its_records_when_the_write_fails(broker: Sharing) -> None:
    broker.take()
    broker.tick(LOCK_MS - 1)
    broker.persister.waits = True
    broker.acknowledge(0, 9, 1)
    broker.tick(1)
    assert broker.take("n") == []
    broker.persister.error = (error_codes.COORDINATOR_NOT_AVAILABLE, None)
    broker.persister.answer_one()
    assert broker.take("n") == [(0, 4, 2), (5, 9, 2)]


def test_a_member_that_leaves_gives_back_its_records(broker: Sharing) -> None:
    broker.take(most=1)
    broker.take("n")
    broker.share_partition().release("m", broker.outcomes.append)
    assert broker.codes == [0]
    assert broker.take("o") == [(0, 4, 2)]


def test_a_resigned_leader_delivers_nothing_and_its_timer_is_gone(broker: Sharing) -> None:
    found = broker.share_partition()
    broker.take()
    broker.manager.on_resignation(broker.partition("t"))
    assert found.phase is SharePartitionPhase.FENCED
    assert list(broker.manager) == []
    broker.tick(LOCK_MS)
    assert broker.persister.writes == []
    again = broker.share_partition()
    assert again is not found
    assert again.is_active


def test_another_leader_is_the_end_of_it(broker: Sharing) -> None:
    found = broker.share_partition()
    change = PartitionChangeRecord(topic_id=broker.of_topic.topic_id, partition_id=0, leader=-1)
    broker.node.controller.commit([change])
    broker.tick(0)
    assert found.phase is SharePartitionPhase.FENCED
    with pytest.raises(Refusal) as caught:
        broker.share_partition()
    assert caught.value.code == error_codes.NOT_LEADER_OR_FOLLOWER


def test_records_given_up_go_to_the_dead_letter_queue_first(broker: Sharing) -> None:
    """Two writes: ARCHIVING before the queue has them, ARCHIVED after it (KIP-1191)."""
    broker.configure("errors.deadletterqueue.topic.name", "dlq")
    broker.take()
    broker.acknowledge(0, 4, 3)
    assert broker.persister.writes[-1].batches == ((0, 4, ARCHIVING, 1),)
    ((given_up, then),) = broker.dead_letters.taken
    assert given_up[1:] == (0, 4, 1, "Offset rejected by client.")
    assert broker.share_partition().records.start_offset == 0
    then()
    assert broker.persister.writes[-1].batches == ((0, 4, ARCHIVED, 1),)
    assert broker.share_partition().records.start_offset == 5


def test_a_new_leader_finishes_giving_records_up(broker: Sharing) -> None:
    broker.persister.read_result = ReadStateResult(0, None, 1, 0, [kept(0, 1, ARCHIVING, 5), kept(2, 2, ARCHIVING, 1)])
    found = broker.share_partition()
    assert [given_up.cause for given_up, _ in broker.dead_letters.taken] == [
        "Offset delivery count exceeded the threshold.",
        "Offset rejected by client.",
    ]
    for _, then in broker.dead_letters.taken:
        then()
    assert found.records.start_offset == 3
