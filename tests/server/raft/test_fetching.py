"""Fetch, as a leader answers it: the checks, what is given, what is waited for."""

from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.kafka_raft_client import NotLeader
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.messages import downgraded
from kafkadouble.wire.batch import iter_batches
from tests.server.raft.asking import ask, begin, code, describe, elected, end, fetch, member, shown, sole, vote
from tests.server.raft.quorum import START, Member, Quorum, Request, Snapshots, endpoint

VERSIONS = range(13, 19)


class Led:
    """Node 1 leads 2 and 3, which are this test."""

    def __init__(self, *values: bytes) -> None:
        self.member: Member = elected(member())
        self.replica = self.member.replica
        self.now, self.epoch, self.other = self.replica.now, self.replica.epoch, 3
        for value in values:
            self.replica.append([value], self.now)

    def fetch(self, offset: int = 0, last: int = 0, **how: Any) -> Any:
        return fetch(how.pop("id", self.other), offset, last, epoch=how.pop("epoch", self.epoch), **how)

    def ask(self, body: Any, version: int = 18) -> Any:
        return ask(self.member, body, version, self.now)

    def park(self, body: Any, version: int = 18) -> list[Any]:
        return self.member.ask(body, version, self.now)

    def commit(self) -> None:
        """Makes replica 3 fetch from the end on."""
        last = self.replica.log.end
        self.ask(self.fetch(last.offset, last.epoch))

    def run(self, ms: int = 0) -> None:
        self.now += ms
        self.replica.tick(self.now)
        self.member.driver.run(self.now)


@pytest.mark.parametrize("version", VERSIONS)
def test_records_come_up_to_the_end_committed_or_not(version: int) -> None:
    led = Led(b"one", b"two")
    got = sole(led.ask(led.fetch(), version))
    assert [header.base_offset for _, header in iter_batches(got.records)] == [0, 1, 2]
    assert (got.last_stable_offset, got.log_start_offset) == (-1, 0)
    assert got.high_watermark == -1
    assert (got.current_leader.leader_id, got.current_leader.leader_epoch) == (led.replica.key.id, led.epoch)
    led.commit()
    assert sole(led.ask(led.fetch(), version)).high_watermark == 3


@pytest.mark.parametrize("version", VERSIONS)
def test_an_answer_has_the_endpoint_of_the_leader_from_version_17_on_as_in_kafka(version: int) -> None:
    led = Led()
    found = [(at.node_id, at.host, at.port) for at in led.ask(led.fetch(), version).node_endpoints]
    id = led.replica.key.id
    assert found == ([(id, *endpoint(id))] if version >= 17 else [])


@pytest.mark.parametrize("version", range(4, 13))
def test_before_version_13_there_is_nothing_for_a_replica(version: int) -> None:
    led = Led()
    body = led.fetch(directory_id=Uuid.ZERO)
    body.topics[0].topic, body.topics[0].topic_id = "__cluster_metadata", Uuid.ZERO
    if version < 12:
        body.topics[0].partitions[0].last_fetched_epoch, body.cluster_id = -1, None
    if version < 9:
        body.topics[0].partitions[0].current_leader_epoch = -1
    answer = led.ask(downgraded(body, version), version)
    assert answer.error_code == (e.INVALID_REQUEST if version >= 7 else 0)  # the field came with 7
    assert list(answer.responses) == []


BAD_SHAPES: list[tuple[dict[str, Any], int]] = [
    ({"topic": Uuid.ZERO}, e.INVALID_REQUEST),
    ({"topic": Uuid(b"x" * 16)}, e.INVALID_REQUEST),
    ({"partition": 1}, e.INVALID_REQUEST),
    ({"cluster": "other"}, e.INCONSISTENT_CLUSTER_ID),
    ({"cluster": ""}, e.INCONSISTENT_CLUSTER_ID),
    ({"partition": 1, "cluster": "other"}, e.INCONSISTENT_CLUSTER_ID),
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("how", "expected"), BAD_SHAPES)
def test_fetch_error_of_the_request_is_answered_at_the_top(version: int, how: dict[str, Any], expected: int) -> None:
    led = Led()
    answer = led.ask(led.fetch(**how), version)
    assert answer.error_code == expected
    assert answer.responses == () or list(answer.responses) == []


@pytest.mark.parametrize("count", [0, 2])
def test_raft_fetch_must_name_the_metadata_partition_only(count: int) -> None:
    led = Led()
    topics, partitions = led.fetch(), led.fetch()
    topics.topics = list(topics.topics) * count
    partitions.topics[0].partitions = list(partitions.topics[0].partitions) * count
    assert code(led.ask(topics)) == code(led.ask(partitions)) == e.INVALID_REQUEST


BAD_FIELDS: list[tuple[dict[str, Any], int]] = [
    ({"wait": -1}, e.INVALID_REQUEST),
    ({"offset": -1}, e.INVALID_REQUEST),
    ({"last": -1}, e.INVALID_REQUEST),
    ({"last": 7}, e.INVALID_REQUEST),
    ({"epoch": -1}, e.INVALID_REQUEST),
    ({"epoch": 0}, e.FENCED_LEADER_EPOCH),
    ({"epoch": 7}, e.UNKNOWN_LEADER_EPOCH),
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("how", "expected"), BAD_FIELDS)
def test_54_the_errors_of_fetch_and_nothing_changes(version: int, how: dict[str, Any], expected: int) -> None:
    led = Led(b"one")
    before = shown(led.replica)
    got = sole(led.ask(led.fetch(**how), version))
    assert got.error_code == expected
    assert (got.high_watermark, bytes(got.records)) == (-1, b"")
    assert (got.current_leader.leader_id, got.current_leader.leader_epoch) == (led.replica.key.id, led.epoch)
    assert shown(led.replica) == before


def test_54_invalid_request_is_for_malformed_requests_alone() -> None:
    led = Led(b"one", b"two")
    for offset in range(6):
        for last in range(led.epoch + 1):
            for epoch in (led.epoch, led.epoch + 1):
                assert code(led.ask(led.fetch(offset, last, epoch=epoch))) != e.INVALID_REQUEST


def test_a_node_that_does_not_lead_names_the_leader() -> None:
    follower = member()
    assert code(ask(follower, fetch(3, epoch=0))) == e.NOT_LEADER_OR_FOLLOWER
    ask(follower, begin(2, 4))
    answer = ask(follower, fetch(3, epoch=4))
    assert sole(answer).error_code == e.NOT_LEADER_OR_FOLLOWER
    assert sole(answer).current_leader.leader_id == 2
    assert [endpoint.node_id for endpoint in answer.node_endpoints] == [2]


def test_a_leader_that_has_stopped_leads_no_more() -> None:
    quorum = Quorum([1])
    quorum.run(1)
    quorum[1].shutdown(quorum.now)
    assert code(ask(quorum.members[1], fetch(9), now=quorum.now)) == e.NOT_LEADER_OR_FOLLOWER
    assert quorum[1].is_stopped


def test_a_replica_that_cannot_go_on_promises_nothing_any_more() -> None:
    led = Led()
    led.replica.fail(OSError("the disk is gone"))
    for body in (led.fetch(), vote(9), begin(2, 9), end(1, 9), describe()):
        assert code(led.ask(body, body.versions[1])) == e.BROKER_NOT_AVAILABLE
    assert led.replica.epoch == led.epoch
    assert led.replica.next_deadline() is None
    with pytest.raises(NotLeader):
        led.replica.append([b"x"], led.now)


def test_no_replica_follows_itself() -> None:
    led = Led()
    assert code(led.ask(led.fetch(id=led.replica.key.id))) == e.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("id", [-1, -2])
def test_55_an_anonymous_replica_is_served_and_not_tracked(id: int) -> None:
    led = Led(b"one")
    assert len(sole(led.ask(led.fetch(id=id))).records) > 0
    last = led.replica.log.end
    assert code(led.ask(led.fetch(last.offset, last.epoch, id=id))) == e.NONE
    assert isinstance(led.replica.state, LeaderState)
    assert led.replica.state.observers == {}
    assert led.replica.log.high_watermark == 0


def test_a_cluster_id_need_not_be_named() -> None:
    led = Led()
    assert code(led.ask(led.fetch(cluster=None))) == e.NONE


@pytest.mark.parametrize(
    ("offset", "last", "expected"),
    [(3, 1, None), (4, 1, (1, 3)), (500, 0, (0, 0)), (5, 0, (0, 0)), (0, 0, None), (1, 0, (0, 0))],
)
def test_a_history_that_is_not_ours_diverges(offset: int, last: int, expected: tuple[int, int] | None) -> None:
    led = Led(b"one", b"two")
    got = sole(led.ask(led.fetch(offset, last)))
    assert got.error_code == 0
    assert (got.diverging_epoch.epoch, got.diverging_epoch.end_offset) == (expected or (-1, -1))
    if expected:
        assert bytes(got.records) == b""


def test_51_a_parked_fetch_completes_when_something_is_written() -> None:
    led = Led()
    led.commit()
    parked = led.park(led.fetch(1, 1, wait=500))
    led.run(100)
    assert parked == []
    led.replica.append([b"one"], led.now)
    led.run()
    assert len(sole(parked[0]).records) > 0


def test_51_a_parked_fetch_completes_when_its_time_is_up() -> None:
    led = Led()
    led.commit()
    parked = led.park(led.fetch(1, 1, wait=500))
    led.run(499)
    assert parked == []
    led.run(1)
    got = sole(parked[0])
    assert (got.error_code, bytes(got.records), got.high_watermark) == (0, b"", 1)


@pytest.mark.parametrize("how", ["resign", "begin of a later leader"])
def test_51_a_parked_fetch_completes_when_the_leader_leads_no_more(how: str) -> None:
    led = Led()
    led.commit()
    parked = led.park(led.fetch(1, 1, wait=500))
    if how == "resign":
        led.replica.resign(led.now)
    else:
        led.ask(begin(3, 9, voter=led.replica.key.id), 1)
    led.run()
    got = sole(parked[0])
    assert (got.error_code, got.high_watermark) == (e.NOT_LEADER_OR_FOLLOWER, -1)


def test_51_a_fetch_that_may_not_wait_is_answered_at_once() -> None:
    led = Led()
    led.commit()
    assert bytes(sole(led.ask(led.fetch(1, 1, wait=0))).records) == b""


def test_51_a_parked_fetch_costs_nothing_when_its_connection_is_closed() -> None:
    led = Led()
    led.commit()
    task = led.replica.handle(Request(ApiKeys.FETCH, 18, led.fetch(1, 1, wait=500)), led.now)
    started = led.member.driver.start(task, print, print)  # type: ignore[arg-type]  # it waits
    before = len(led.replica.parked)
    started.close()
    assert (before, len(led.replica.parked)) == (1, 0)


def batches(led: Led, max_bytes: int) -> list[int]:
    got = sole(led.ask(led.fetch(1, 1, max_bytes=max_bytes)))
    return [header.size for _, header in iter_batches(got.records)]


def test_60_one_batch_larger_than_max_bytes_is_sent_whole() -> None:
    led = Led(b"x" * 5000, b"y" * 100)
    first = batches(led, 1 << 20)[0]
    assert first > 5000
    for max_bytes in (1, 100, first - 1, first):
        assert batches(led, max_bytes) == [first]


def test_60_the_limit_between_two_batches() -> None:
    led = Led(b"x" * 5000, b"y" * 100, b"z" * 100)
    first, second, third = batches(led, 1 << 20)
    assert batches(led, first + second - 1) == [first]
    assert batches(led, first + second) == [first, second]
    assert batches(led, first + second + third - 1) == [first, second]


@pytest.mark.parametrize("max_bytes", [1 << 20, 2**31 - 1])
def test_60_fetch_with_a_large_limit_returns_all_batches(max_bytes: int) -> None:
    led = Led(*(b"x" * 10 for _ in range(20)))
    assert len(batches(led, max_bytes)) == 20


@pytest.mark.parametrize("max_bytes", [0, -1, -(2**31)])
def test_60_a_limit_that_is_none_gives_one_batch(max_bytes: int) -> None:
    led = Led(b"x", b"y")
    assert len(batches(led, max_bytes)) == 1


def test_60_a_follower_fetches_as_many_bytes_as_its_setting() -> None:
    quorum = Quorum(fetch_max_bytes=777)
    quorum.elect()
    quorum.run(10)
    sent = [body for _, _, body in quorum.sent if body.api_key == ApiKeys.FETCH]
    assert {body.max_bytes for body in sent} == {777}  # type: ignore[attr-defined]  # fetches


def parked_with(led: Led, high_watermark: int, version: int = 18) -> list[Any]:
    last = led.replica.log.end
    body = led.fetch(last.offset, last.epoch, wait=500, high_watermark=high_watermark)
    return led.park(body, version)


def test_61_without_a_high_watermark_the_fetch_waits_as_before() -> None:
    led = Led(b"one")
    led.commit()
    assert parked_with(led, 2**63 - 1) == []
    older = led.park(downgraded(led.fetch(2, 1, wait=500), 17), 17)
    assert older == []


@pytest.mark.parametrize("known", [-1, 0, 1])
def test_61_an_unknown_or_outdated_high_watermark_is_answered_at_once(known: int) -> None:
    led = Led(b"one")
    led.commit()
    got = parked_with(led, known)
    assert sole(got[0]).high_watermark == 2
    assert bytes(sole(got[0]).records) == b""


def test_61_an_equal_high_watermark_waits_and_hears_of_the_next_one() -> None:
    led = Led(b"one")
    led.commit()
    parked = parked_with(led, 2)
    assert parked == []
    led.run(100)
    assert parked == []
    led.replica.append([b"two"], led.now)
    led.run()
    assert len(sole(parked[0]).records) > 0
    waits = led.park(led.fetch(3, 1, id=77, wait=500, high_watermark=2))
    assert waits == []
    led.commit()
    led.run()
    assert sole(waits[0]).high_watermark == 3


def test_61_a_leader_without_a_high_watermark_lets_a_fetch_wait() -> None:
    led = Led()
    waits = led.park(led.fetch(1, 1, id=77, wait=500, high_watermark=-1))
    assert waits == []
    led.commit()
    led.run()
    assert sole(waits[0]).high_watermark == 1


def test_offset_0_is_given_a_snapshot_where_there_is_one_but_not_the_bootstrap_one() -> None:
    led = Led(b"one", b"two")
    led.commit()
    led.replica.log.snapshots = Snapshots(OffsetAndEpoch(0, 0))
    assert sole(led.ask(led.fetch())).snapshot_id.end_offset == -1
    led.replica.log.snapshots = Snapshots(OffsetAndEpoch(0, 0), OffsetAndEpoch(2, 1))
    got = sole(led.ask(led.fetch()))
    assert (got.snapshot_id.end_offset, got.snapshot_id.epoch, bytes(got.records)) == (2, 1, b"")
    assert sole(led.ask(led.fetch(1, 1))).snapshot_id.end_offset == -1


def test_invalid_begin_and_end_quorum_epoch_are_refused() -> None:
    led = Led()
    assert code(led.ask(end(3, led.epoch), 1)) == e.INVALID_REQUEST
    assert led.replica.epoch == led.epoch
    assert led.now >= START
