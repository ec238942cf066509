"""What each action of a rule does to a request, through dispatch and real handlers."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.faults.actions import CorruptRecords, Delay, Disconnect, Fail
from kafkadouble.server.faults.armed import Armed
from kafkadouble.server.faults.connection_actions import RefuseConnections
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.requests.answer import DISCONNECT, Framing
from kafkadouble.wire.batch import Record, encode_batch, read_header, records_of
from kafkadouble.wire.errors import UsageError, WireError
from tests.server.faults.producing import produce
from tests.server.harness import NOW, Harness
from tests.server.topic_requests import creating

ALL = MetadataRequest(topics=None)


@pytest.fixture
def cluster() -> Harness:
    harness = Harness()
    harness.create("a", "b", partitions=2)
    return harness


def arm(cluster: Harness, action: str, api: str, **fields: Any) -> Armed:
    return cluster.node.faults.arm(Rule.of(action, api=api, **fields))


class TestPause:
    @pytest.mark.parametrize(("when", "end"), [("before", 0), ("after", 1)])
    def test_hold_rule_holds_request_until_released(self, cluster: Harness, when: str, end: int) -> None:
        armed = arm(cluster, "pause", "Produce", when=when)
        pending = cluster.begin(produce(("a", 0)), 9)
        cluster.tick(86_400_000)
        assert (pending.done, cluster.partition("a").high_watermark) == (False, end)
        assert cluster.node.faults.rules == [armed], "it is listed as long as it holds something"
        cluster.node.faults.disarm(armed)
        cluster.tick(0)
        assert pending.done
        assert cluster.partition("a").high_watermark == 1

    def test_hold_rule_holds_as_many_requests_as_it_says(self, cluster: Harness) -> None:
        arm(cluster, "pause", "Produce", times=2)
        pending = [cluster.begin(produce(("a", 0)), 9) for _ in range(3)]
        assert [each.done for each in pending] == [False, False, True]
        cluster.node.faults.clear()
        cluster.tick(0)
        assert all(each.done for each in pending)

    def test_delay_rule_begins_when_the_paused_request_is_released(self, cluster: Harness) -> None:
        armed = arm(cluster, "pause", "Produce")
        arm(cluster, "delay", "Produce", seconds=1)
        pending = cluster.begin(produce(("a", 0)), 9)
        cluster.tick(5000)
        cluster.node.faults.disarm(armed)
        cluster.tick(999)
        assert not pending.done
        cluster.tick(1000)
        assert pending.done


@pytest.mark.parametrize(("action", "end"), [("ignore", 0), ("drop_answer", 1)])
def test_ignored_request_gets_no_response(cluster: Harness, action: str, end: int) -> None:
    armed = arm(cluster, action, "Produce")
    pending = cluster.begin(produce(("a", 0)), 9)
    cluster.tick(86_400_000)
    assert (pending.done, cluster.partition("a").high_watermark, armed.spent) == (False, end, True)
    pending.close()
    cluster.tick(1)
    assert cluster.begin(produce(("a", 0)), 9).done


def test_throttle(cluster: Harness) -> None:
    arm(cluster, "throttle", "Metadata", seconds=1.5)
    pending = cluster.begin(ALL, 12)
    assert pending.response.throttle_time_ms == 1500
    assert pending.altered is not None
    assert (pending.altered.mute_ms, pending.altered.framing) == (1500, None)
    assert cluster.submit(ALL, 12).throttle_time_ms == 0


def test_a_response(cluster: Harness) -> None:
    arm(cluster, "respond", "CreateTopics", body={"topics": [{"name": "c", "errorCode": 44}]})
    response = cluster.submit(creating("c"), 7)
    assert [(one.name, one.error_code) for one in response.topics] == [("c", 44)]
    assert cluster.image.topic_named("c") is None


def test_a_response_that_the_version_cannot_carry_is_an_error_of_the_server(cluster: Harness) -> None:
    coordinators = [{"key": "g", "nodeId": 1, "host": "h", "port": 9}]
    arm(cluster, "respond", "FindCoordinator", body={"coordinators": coordinators}, times=None)
    assert cluster.submit(FindCoordinatorRequest(coordinator_keys=["g"]), 4).coordinators[0].host == "h"
    assert cluster.submit(FindCoordinatorRequest(key="g"), 3).error_code == -1


def test_a_field_of_the_answer(cluster: Harness) -> None:
    arm(cluster, "change_field", "Metadata", path="topics[*].partitions[1].leaderEpoch", value=99)
    topics = cluster.submit(ALL, 12).topics
    assert [[part.leader_epoch for part in topic.partitions] for topic in topics] == [[0, 99]] * 2
    assert [part.leader_epoch for part in cluster.submit(ALL, 12).topics[0].partitions] == [0, 0], "a copy was changed"


def test_a_field_that_the_version_does_not_have_stays_away(cluster: Harness) -> None:
    armed = arm(cluster, "change_field", "Metadata", path="topics[*].partitions[*].leaderEpoch", value=99)
    assert cluster.submit(ALL, 5).topics[0].error_code == 0
    assert armed.hits == 1


@pytest.mark.parametrize("how", ["crc", "bit"])
def test_corrupt_records(cluster: Harness, how: str) -> None:
    cluster.submit(produce(("a", 0)), 9)
    partition = FetchRequest.FetchPartition(partition=0, partition_max_bytes=1000)
    fetch = FetchRequest(
        topics=[FetchRequest.FetchTopic(topic_id=cluster.image.topic_ids["a"], partitions=[partition])], max_bytes=1000
    )

    def records() -> bytes:
        return bytes(cluster.submit(fetch, 13).responses[0].partitions[0].records)

    whole = records()
    arm(cluster, "corrupt_records", "Fetch", how=how)
    damaged = records()
    assert sum(one != other for one, other in zip(whole, damaged, strict=True)) == 1
    with pytest.raises(WireError):
        list(records_of(damaged, 0, read_header(damaged), check_crc=True))
    assert records() == whole


def test_stale_metadata(cluster: Harness) -> None:
    armed = arm(cluster, "stale_metadata", "Metadata", times=None)
    cluster.create("c")
    assert {topic.name for topic in cluster.submit(ALL, 12).topics} == {"a", "b"}
    cluster.node.faults.disarm(armed)
    assert {topic.name for topic in cluster.submit(ALL, 12).topics} == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("action", "fields", "framing"),
    [
        ("wrong_correlation_id", {}, Framing(correlation_delta=1)),
        ("cut_frame", {"bytes": 5}, Framing(length=5, closes=True)),
        ("short_frame", {"bytes": 5}, Framing(length=5)),
        ("oversized_frame", {"bytes": 5}, Framing(size=5)),
        ("slow_frame", {"bytes_per_second": 5}, Framing(bytes_per_second=5)),
    ],
)
def test_a_frame_is_damaged(cluster: Harness, action: str, fields: dict[str, Any], framing: Framing) -> None:
    arm(cluster, action, "Metadata", **fields)
    pending = cluster.begin(ALL, 12)
    assert pending.altered is not None
    assert pending.altered.framing == framing


def test_rules_that_change_a_response_add_up(cluster: Harness) -> None:
    arm(cluster, "throttle", "Metadata", seconds=2)
    arm(cluster, "wrong_correlation_id", "Metadata")
    arm(cluster, "slow_frame", "*", bytes_per_second=10)
    altered = cluster.begin(ALL, 12).altered
    assert altered is not None
    assert (altered.mute_ms, altered.framing) == (2000, Framing(correlation_delta=1, bytes_per_second=10))


class TestFunction:
    def test_rule_function_sees_the_request_and_lets_it_continue(self, cluster: Harness) -> None:
        seen = []
        arm(cluster, "call", "Metadata", function=lambda request: seen.append((request.api, request.body)))
        assert len(cluster.submit(ALL, 12).topics) == 2
        assert seen == [("Metadata", ALL)]

    def test_rule_function_may_return_a_response(self, cluster: Harness) -> None:
        arm(cluster, "call", "Heartbeat", function=lambda request: HeartbeatResponse(error_code=27))
        assert cluster.submit(HeartbeatRequest(group_id="g"), 4).error_code == 27

    @pytest.mark.parametrize(
        ("action", "outcome"), [(Disconnect(), DISCONNECT), (Fail("UNKNOWN_MEMBER_ID"), 25), (Delay(1), 16)]
    )
    def test_rule_function_may_return_an_action(self, cluster: Harness, action: Any, outcome: Any) -> None:
        arm(cluster, "call", "Heartbeat", function=lambda request: action)
        pending = cluster.begin(HeartbeatRequest(group_id="g"), 4)
        assert pending.done != isinstance(action, Delay)
        cluster.tick(1000)
        assert pending.response is outcome or pending.response.error_code == outcome

    def test_rule_function_may_return_response_fields(self, cluster: Harness) -> None:
        arm(cluster, "call", "Heartbeat", function=lambda request: {"errorCode": 27})
        assert cluster.submit(HeartbeatRequest(group_id="g"), 4).error_code == 27

    @pytest.mark.parametrize(
        "function",
        [
            lambda request: 1 / 0,
            lambda request: "what",
            lambda request: ALL,
            lambda request: {"errorCod": 27},
            lambda request: HeartbeatResponse(error_code=1 << 20),
            lambda request: Fail("NO_SUCH_ERROR"),
            lambda request: Delay(-1),
            lambda request: CorruptRecords(),
            lambda request: RefuseConnections(),
            lambda request: pytest.fail("seen"),
        ],
    )
    def test_invalid_rule_function_is_a_server_error_kept_by_the_rule(
        self, cluster: Harness, function: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        armed = arm(cluster, "call", "Heartbeat", function=function)
        assert cluster.submit(HeartbeatRequest(group_id="g"), 4).error_code == -1
        assert "HeartbeatRequest v4" in caplog.text
        assert len(armed.errors) == 1
        assert cluster.submit(HeartbeatRequest(group_id="g"), 4).error_code == 16
        assert cluster.node.faults.rules == []


class TestMatch:
    def test_a_version(self, cluster: Harness) -> None:
        armed = arm(cluster, "disconnect", "Metadata", version=11)
        assert cluster.submit(ALL, 12) is not DISCONNECT
        assert cluster.submit(ALL, 11) is DISCONNECT
        assert armed.met == 1

    def test_a_listener(self, cluster: Harness) -> None:
        arm(cluster, "disconnect", "Metadata", listener="ELSEWHERE", times=None)
        assert cluster.submit(ALL, 12) is not DISCONNECT
        arm(cluster, "disconnect", "Metadata", listener="PLAINTEXT")
        assert cluster.submit(ALL, 12) is DISCONNECT

    def test_rule_with_a_predicate_matches_its_requests(self, cluster: Harness) -> None:
        arm(cluster, "disconnect", "Metadata", predicate=lambda request: request.body.topics is None)
        assert cluster.submit(MetadataRequest(topics=[]), 12) is not DISCONNECT
        assert cluster.submit(ALL, 12) is DISCONNECT

    def test_a_predicate_that_fails_is_an_error_of_the_server(self, cluster: Harness) -> None:
        armed = arm(cluster, "disconnect", "Heartbeat", predicate=lambda request: request.colour)
        assert cluster.submit(HeartbeatRequest(group_id="g"), 4).error_code == -1
        assert [type(problem) for problem in armed.errors] == [AttributeError]


def test_a_rule_for_a_time(cluster: Harness) -> None:
    arm(cluster, "disconnect", "Metadata", times=None, after_seconds=1, for_seconds=2)
    outcomes = []
    for _ in range(8):
        outcomes.append(cluster.submit(ALL, 12) is DISCONNECT)
        cluster.tick(500)
    assert outcomes == [False] * 2 + [True] * 4 + [False] * 2


@pytest.mark.parametrize(
    ("action", "fields", "problem"),
    [
        ("corrupt_records", {"api": "Produce"}, "corrupt_records is for Fetch, not for Produce"),
        ("stale_metadata", {"api": "*"}, "stale_metadata is for Metadata and"),
        ("respond", {"api": "*", "body": {}}, "respond is for one API, not for *"),
        ("respond", {"api": "Heartbeat", "body": {"errorcode": 1}}, "HeartbeatResponse has no field 'errorcode'"),
        ("respond", {"api": "Heartbeat", "body": {"errorCode": "x"}}, "HeartbeatResponse.errorCode = 'x' is not int16"),
        ("change_field", {"api": "*", "path": "x", "value": 1}, "change_field is for one API, not for *"),
        ("change_field", {"api": "Metadata", "path": "topic[0]", "value": 1}, "did you mean 'topics'?"),
        ("change_field", {"api": "Metadata", "path": "topics.name", "value": "x"}, "topics[0] or topics[*]"),
        ("change_field", {"api": "Metadata", "path": "clusterId.x", "value": "x"}, "clusterId has no fields"),
        ("change_field", {"api": "Metadata", "path": "clusterId[0]", "value": "x"}, "clusterId is no list"),
        ("change_field", {"api": "Metadata", "path": "topics[x]", "value": 1}, "'topics[x]' is not a name"),
        ("change_field", {"api": "Metadata", "path": "controllerId", "value": "x"}, "'x' is not int32"),
        ("disconnect", {"api": "Metadata", "version": 99}, "Metadata is served in versions 0 to 13, not 99"),
    ],
)
def test_rule_whose_action_never_applies_is_refused(
    cluster: Harness, action: str, fields: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        arm(cluster, action, **fields)
    assert problem in str(refused.value)
    assert cluster.node.faults.rules == []


def test_records_that_are_no_batch_are_not_corrupted_further() -> None:
    from kafkadouble.server.faults.alterations import corrupt

    batch = bytes(encode_batch([Record(0, NOW, None, b"x")]))
    for length in range(len(batch)):
        for how in ("crc", "bit"):
            assert len(corrupt(batch[:length], how)) == length
