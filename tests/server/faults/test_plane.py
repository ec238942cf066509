"""Applies fault rules to requests, through dispatch and real handlers, in stepped time."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.produce import ProduceResponse
from kafkadouble.server.faults.armed import Armed
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.requests.answer import DISCONNECT
from kafkadouble.wire.errors import UsageError
from tests.server.faults.producing import produce
from tests.server.harness import Harness
from tests.server.topic_requests import creating

NOT_LEADER, NOT_ENOUGH, UNKNOWN, TIMED_OUT = 6, 19, 3, 7


@pytest.fixture
def cluster() -> Harness:
    harness = Harness()
    harness.create("a", "b", partitions=2)
    return harness


def arm(cluster: Harness, **fields: Any) -> Armed:
    return cluster.node.faults.arm(Rule.of(**fields))


def outcome(response: ProduceResponse) -> dict[tuple[str, int], tuple[int, int]]:
    """Error and base offset by partition."""
    return {
        (topic.name, part.index): (part.error_code, part.base_offset)
        for topic in response.responses
        for part in topic.partition_responses
    }


def ends(cluster: Harness) -> dict[tuple[str, int], int]:
    return {(topic, index): cluster.partition(topic, index).high_watermark for topic in "ab" for index in (0, 1)}


def test_fail_rule_applies_to_as_many_requests_as_it_says(cluster: Harness) -> None:
    armed = arm(cluster, action="fail", api="Produce", error=NOT_ENOUGH, times=2)
    codes = [outcome(cluster.submit(produce(("a", 0)), 9))["a", 0][0] for _ in range(3)]
    assert codes == [NOT_ENOUGH, NOT_ENOUGH, 0]
    assert (armed.hits, armed.spent, cluster.node.faults.rules) == (2, True, [])
    assert cluster.partition("a").high_watermark == 1, "failed batches were not appended"


def test_fail_rules_apply_in_the_order_of_arming(cluster: Harness) -> None:
    for error in (NOT_ENOUGH, NOT_LEADER, TIMED_OUT):
        arm(cluster, action="fail", api="Produce", error=error)
    codes = [outcome(cluster.submit(produce(("a", 0)), 9))["a", 0][0] for _ in range(4)]
    assert codes == [NOT_ENOUGH, NOT_LEADER, TIMED_OUT, 0]


def test_fail_rule_applies_from_the_nth_request_on(cluster: Harness) -> None:
    arm(cluster, action="fail", api="Produce", error=NOT_ENOUGH, on_call=3, times=2)
    codes = [outcome(cluster.submit(produce(("a", 0)), 9))["a", 0][0] for _ in range(6)]
    assert codes == [0, 0, NOT_ENOUGH, NOT_ENOUGH, 0, 0]


def test_rule_with_probability_repeats_with_its_seed(cluster: Harness) -> None:
    def run() -> list[int]:
        armed = arm(cluster, action="fail", api="Produce", error=NOT_ENOUGH, probability=0.5, seed=11, times=None)
        codes = [outcome(cluster.submit(produce(("a", 0)), 9))["a", 0][0] for _ in range(40)]
        cluster.node.faults.disarm(armed)
        return codes

    first = run()
    assert first == run()
    assert 5 < first.count(NOT_ENOUGH) < 35


def test_fail_rule_of_a_partition_spares_the_others(cluster: Harness) -> None:
    arm(cluster, action="fail", api="Produce", error=NOT_LEADER, topic="a", partition=1, message="moved")
    response = cluster.submit(produce(("a", 0), ("a", 1), ("b", 1)), 9)
    assert outcome(response) == {("a", 0): (0, 0), ("a", 1): (NOT_LEADER, -1), ("b", 1): (0, 0)}
    assert ends(cluster) == {("a", 0): 1, ("a", 1): 0, ("b", 0): 0, ("b", 1): 1}
    messages = [p.error_message for t in response.responses for p in t.partition_responses if p.error_code]
    assert messages == ["moved"]


def test_two_rules_share_one_request(cluster: Harness) -> None:
    arm(cluster, action="fail", api="Produce", error=NOT_LEADER, topic="a", times=None)
    arm(cluster, action="fail", api="Produce", error=UNKNOWN, times=None)
    response = cluster.submit(produce(("a", 0), ("b", 0)), 9)
    assert outcome(response) == {("a", 0): (NOT_LEADER, -1), ("b", 0): (UNKNOWN, -1)}
    assert set(ends(cluster).values()) == {0}


def test_a_rule_that_does_not_match_is_not_used_up(cluster: Harness) -> None:
    armed = arm(cluster, action="fail", api="Produce", error=NOT_LEADER, topic="a")
    cluster.submit(produce(("b", 0)), 9)
    other = arm(cluster, action="fail", api="Produce", error=NOT_LEADER, client_id="else")
    cluster.submit(produce(("b", 0)), 9)
    assert (armed.met, armed.hits, other.met) == (0, 0, 0)
    assert outcome(cluster.submit(produce(("b", 0)), 9, "else"))["b", 0][0] == NOT_LEADER


def test_fail_rule_after_processing_keeps_the_records(cluster: Harness) -> None:
    arm(cluster, action="fail", api="Produce", error=TIMED_OUT, when="after", topic="a")
    response = cluster.submit(produce(("a", 0), ("b", 0)), 9)
    assert outcome(response) == {("a", 0): (TIMED_OUT, -1), ("b", 0): (0, 0)}
    assert cluster.partition("a").high_watermark == 1


def test_acks_0_is_failed_by_closing_the_connection(cluster: Harness) -> None:
    arm(cluster, action="fail", api="Produce", error=NOT_LEADER)
    assert cluster.submit(produce(("a", 0), acks=0), 9) is DISCONNECT
    assert cluster.submit(produce(("a", 0), acks=0), 9) is None
    arm(cluster, action="fail", api="Produce", error=NOT_LEADER, topic="a")
    assert cluster.submit(produce(("a", 0), ("b", 0), acks=0), 9) is DISCONNECT
    assert ends(cluster) == {("a", 0): 1, ("a", 1): 0, ("b", 0): 1, ("b", 1): 0}


def test_respond_rule_sends_no_answer_to_produce_with_acks_0(cluster: Harness) -> None:
    arm(cluster, action="respond", api="Produce", body={"responses": []}, times=None)
    arm(cluster, action="call", api="Produce", function=lambda _: ProduceResponse(), times=None)
    assert cluster.submit(produce(("a", 0), acks=0), 9) is None
    assert cluster.submit(produce(("a", 0)), 9) == ProduceResponse()
    assert ends(cluster) == {("a", 0): 0, ("a", 1): 0, ("b", 0): 0, ("b", 1): 0}


@pytest.mark.parametrize(("when", "end"), [("before", 0), ("after", 1)])
def test_disconnect_rule_closes_the_connection(cluster: Harness, when: str, end: int) -> None:
    arm(cluster, action="disconnect", api="Produce", when=when)
    assert cluster.submit(produce(("a", 0)), 9) is DISCONNECT
    assert cluster.partition("a").high_watermark == end


@pytest.mark.parametrize(("when", "end"), [("before", 0), ("after", 1)])
def test_delay_rule_holds_the_request_or_the_response(cluster: Harness, when: str, end: int) -> None:
    arm(cluster, action="delay", api="Produce", seconds=0.5, when=when)
    pending = cluster.begin(produce(("a", 0)), 9)
    assert (pending.done, cluster.partition("a").high_watermark) == (False, end)
    cluster.tick(499)
    assert not pending.done
    cluster.tick(1)
    assert outcome(pending.response) == {("a", 0): (0, 0)}


def test_delay_rules_add_up_and_precede_a_fail_rule(cluster: Harness) -> None:
    arm(cluster, action="delay", api="*", seconds=0.2)
    arm(cluster, action="delay", api="Produce", seconds=0.3, topic="a")
    arm(cluster, action="fail", api="Produce", error=NOT_LEADER)
    pending = cluster.begin(produce(("a", 0)), 9)
    cluster.tick(499)
    assert not pending.done
    cluster.tick(1)
    assert outcome(pending.response) == {("a", 0): (NOT_LEADER, -1)}


def test_delayed_request_is_dropped_when_its_connection_closes(cluster: Harness) -> None:
    arm(cluster, action="delay", api="Produce", seconds=1)
    pending = cluster.begin(produce(("a", 0)), 9)
    pending.close()
    cluster.tick(5000)
    assert not pending.done
    assert cluster.partition("a").high_watermark == 0


def test_fail_rule_with_api_star_applies_to_each_api(cluster: Harness) -> None:
    arm(cluster, action="fail", api="*", error="UNKNOWN_SERVER_ERROR", times=None)
    assert cluster.submit(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 3).error_code == -1
    assert outcome(cluster.submit(produce(("a", 0)), 9)) == {("a", 0): (-1, -1)}


def test_fail_rule_for_one_partition_of_list_offsets(cluster: Harness) -> None:
    arm(cluster, action="fail", api="ListOffsets", error=NOT_LEADER, partition=1)
    parts = [ListOffsetsRequest.ListOffsetsPartition(partition_index=index, timestamp=-1) for index in (0, 1)]
    topic = ListOffsetsRequest.ListOffsetsTopic(name="a", partitions=parts)
    response = cluster.submit(ListOffsetsRequest(topics=[topic]), 7)
    offsets = {part.partition_index: (part.error_code, part.offset) for part in response.topics[0].partitions}
    assert offsets == {0: (0, 0), 1: (NOT_LEADER, -1)}


def test_fail_rule_for_one_topic_of_create_topics(cluster: Harness) -> None:
    arm(cluster, action="fail", api="CreateTopics", error="POLICY_VIOLATION", topic="bad", message="not here")
    response = cluster.submit(creating("bad", "good"), 7)
    assert {one.name: one.error_code for one in response.topics} == {"bad": 44, "good": 0}
    assert (cluster.image.topic_named("bad"), cluster.image.topic_named("good") is None) == (None, False)


class TestFetch:
    """A fetch in a session also means partitions that it does not name, and its answer must keep
    the session valid."""

    @staticmethod
    def fetch(
        cluster: Harness, *partitions: tuple[int, int], session: tuple[int, int] = (0, -1), wait: int = 0
    ) -> FetchRequest:
        fetch_partitions = [
            FetchRequest.FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1000)
            for index, offset in partitions
        ]
        topics = (
            [FetchRequest.FetchTopic(topic_id=cluster.image.topic_ids["a"], partitions=fetch_partitions)]
            if fetch_partitions
            else []
        )
        session_id, epoch = session
        return FetchRequest(
            max_wait_ms=wait, min_bytes=1, max_bytes=10_000, topics=topics, session_id=session_id, session_epoch=epoch
        )

    @staticmethod
    def partitions_in(response: FetchResponse) -> dict[int, tuple[int, int]]:
        return {
            part.partition_index: (part.error_code, len(part.records or b""))
            for topic in response.responses
            for part in topic.partitions
        }

    def test_a_code_of_partitions_is_set_at_the_partitions(self, cluster: Harness) -> None:
        arm(cluster, action="fail", api="Fetch", error=NOT_LEADER)
        response = cluster.submit(self.fetch(cluster, (0, 0), (1, 0)), 13)
        assert response.error_code == 0
        assert self.partitions_in(response) == {0: (NOT_LEADER, 0), 1: (NOT_LEADER, 0)}

    def test_a_code_of_the_session_is_set_at_the_top(self, cluster: Harness) -> None:
        arm(cluster, action="fail", api="Fetch", error="FETCH_SESSION_ID_NOT_FOUND")
        response = cluster.submit(self.fetch(cluster, (0, 0)), 13)
        assert (response.error_code, response.session_id) == (70, 0)

    def test_rule_for_topic_name_matches_request_by_topic_id(self, cluster: Harness) -> None:
        cluster.submit(produce(("a", 0), ("a", 1)), 9)
        arm(cluster, action="fail", api="Fetch", error=NOT_LEADER, topic="a", partition=0)
        partitions = self.partitions_in(cluster.submit(self.fetch(cluster, (0, 0), (1, 0)), 13))
        assert partitions[0] == (NOT_LEADER, 0)
        assert partitions[1][0] == 0
        assert partitions[1][1] > 0

    def test_rule_fails_partitions_of_a_fetch_session(self, cluster: Harness) -> None:
        opened = cluster.submit(self.fetch(cluster, (0, 0), (1, 0), session=(0, 0)), 13)
        arm(cluster, action="fail", api="Fetch", error=NOT_LEADER, topic="a", partition=1)
        response = cluster.submit(self.fetch(cluster, session=(opened.session_id, 1), wait=500), 13)
        assert self.partitions_in(response) == {1: (NOT_LEADER, 0)}, "at once, without the long poll"
        cluster.submit(produce(("a", 1)), 9)
        partitions = self.partitions_in(cluster.submit(self.fetch(cluster, session=(opened.session_id, 2)), 13))
        assert partitions.keys() == {1}
        assert partitions[1][0] == 0

    def test_a_wrong_session_keeps_its_own_error(self, cluster: Harness) -> None:
        arm(cluster, action="fail", api="Fetch", error=NOT_LEADER)
        assert cluster.submit(self.fetch(cluster, session=(77, 5)), 13).error_code == 70

    def test_fetch_that_a_rule_does_not_match_waits(self, cluster: Harness) -> None:
        arm(cluster, action="fail", api="Fetch", error=NOT_LEADER, topic="b")
        pending = cluster.begin(self.fetch(cluster, (0, 0), wait=500), 13)
        assert not pending.done
        cluster.submit(produce(("a", 0)), 9)
        assert self.partitions_in(pending.response)[0][0] == 0


class TestMetadata:
    """A client ignores an answer without brokers, so the brokers are always listed."""

    @pytest.mark.parametrize("version", [1, 12])
    @pytest.mark.parametrize("topics", [None, ["a", "b"]])
    def test_a_topic_fails_and_the_brokers_are_listed(
        self, cluster: Harness, version: int, topics: list[str] | None
    ) -> None:
        requested = None if topics is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in topics]
        arm(cluster, action="fail", api="Metadata", error="LEADER_NOT_AVAILABLE", topic="a")
        response = cluster.submit(MetadataRequest(topics=requested), version)
        assert {topic.name: (topic.error_code, len(topic.partitions)) for topic in response.topics} == {
            "a": (5, 0),
            "b": (0, 2),
        }
        assert len(response.brokers) == 1

    def test_all_topics_fail_and_the_brokers_are_listed(self, cluster: Harness) -> None:
        arm(cluster, action="fail", api="Metadata", error=UNKNOWN)
        response = cluster.submit(MetadataRequest(topics=None), 12)
        assert {topic.name: topic.error_code for topic in response.topics} == {"a": UNKNOWN, "b": UNKNOWN}
        assert len(response.brokers) == 1

    def test_topic_failed_by_a_rule_is_not_created(self, cluster: Harness) -> None:
        arm(cluster, action="fail", api="Metadata", error=UNKNOWN)
        topic = MetadataRequest.MetadataRequestTopic(name="new")
        response = cluster.submit(MetadataRequest(topics=[topic], allow_auto_topic_creation=True), 12)
        assert [one.error_code for one in response.topics] == [UNKNOWN]
        assert cluster.image.topic_named("new") is None


class TestOffsets:
    """OffsetFetch has errors for groups and for partitions. A rule for a topic fails only its
    partitions."""

    @staticmethod
    def commit(cluster: Harness, group: str) -> None:
        cluster.submit(FindCoordinatorRequest(coordinator_keys=[group]), 4)
        parts = [
            OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=index, committed_offset=5)
            for index in (0, 1)
        ]
        topic = OffsetCommitRequest.OffsetCommitRequestTopic(name="a", partitions=parts)
        response = cluster.submit(
            OffsetCommitRequest(group_id=group, generation_id_or_member_epoch=-1, topics=[topic]), 8
        )
        assert {part.error_code for part in response.topics[0].partitions} == {0}

    @staticmethod
    def fetch(*groups: str) -> OffsetFetchRequest:
        topic = OffsetFetchRequest.OffsetFetchRequestTopics(name="a", partition_indexes=[0, 1])
        return OffsetFetchRequest(
            groups=[OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=[topic]) for group in groups]
        )

    def test_fail_rule_for_one_partition_of_offset_fetch(self, cluster: Harness) -> None:
        self.commit(cluster, "g")
        arm(cluster, action="fail", api="OffsetFetch", error="UNSTABLE_OFFSET_COMMIT", topic="a", partition=1)
        group = cluster.submit(self.fetch("g"), 8).groups[0]
        offsets = {
            part.partition_index: (part.error_code, part.committed_offset) for part in group.topics[0].partitions
        }
        assert offsets == {0: (0, 5), 1: (88, -1)}

    def test_fail_rule_for_one_group_of_offset_fetch(self, cluster: Harness) -> None:
        self.commit(cluster, "g")
        self.commit(cluster, "h")
        arm(cluster, action="fail", api="OffsetFetch", error="NOT_COORDINATOR", group="g")
        groups = cluster.submit(self.fetch("g", "h"), 8).groups
        assert {group.group_id: group.error_code for group in groups} == {"g": 16, "h": 0}


def test_arm_refuses_a_rule_that_could_never_apply(cluster: Harness) -> None:
    with pytest.raises(UsageError, match="requests of ApiVersions name no topic"):
        arm(cluster, action="fail", api="ApiVersions", error=3, topic="t")
    with pytest.raises(UsageError, match="LeaderAndIsr is not served here"):
        arm(cluster, action="fail", api="LeaderAndIsr", error=3)
    assert cluster.node.faults.rules == []


def test_disarmed_and_cleared_rules_do_not_apply(cluster: Harness) -> None:
    armed = arm(cluster, action="fail", api="Produce", error=3, times=None)
    cluster.node.faults.disarm(armed)
    cluster.node.faults.disarm(armed)
    arm(cluster, action="fail", api="Produce", error=3, times=None)
    cluster.node.faults.clear()
    assert outcome(cluster.submit(produce(("a", 0)), 9)) == {("a", 0): (0, 0)}
