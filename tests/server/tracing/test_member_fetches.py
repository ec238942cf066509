"""Which members have fetched what they were given: assignments and fetches in every order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafkadouble.messages.generated.share_fetch import ShareFetchRequest, ShareFetchResponse
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from kafkadouble.messages.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.fetched_partitions import ENTRY_BYTES, FetchedPartitions
from kafkadouble.server.tracing.given_partitions import GivenPartitions, MemberClient
from kafkadouble.server.tracing.member_fetches import FetchState, MemberFetches
from kafkadouble.server.tracing.trace import ANSWERED, DISCONNECTED, Trace
from tests.server.harness import NOW
from tests.support.listeners import BROKER

HOST = "127.0.0.1"
ORDERS = Uuid(bytes(15) + b"\x01")
YES, NO, UNCLEAR = FetchState

PORTS = count(1)


class OneClient:
    """A client with a connection for its groups and one for its fetches."""

    def __init__(self, trace: Trace, client_id: str = "rdkafka", host: str = HOST) -> None:
        self._trace, self.client_id = trace, client_id
        self.speaking, self.fetching = (Peer(next(PORTS), host, 1, BROKER) for _ in range(2))

    def _exchange(self, peer: Peer, key: int, body: Message, answer: Message | None, outcome: str = ANSWERED) -> None:
        traced = self._trace.begin(Request(key, 3, 1, self.client_id, body, peer, received=NOW, size=0))
        if answer is not None:
            traced.end(outcome, NOW, answer)

    def join(self, member_id: str, group: str = "shop") -> None:
        """JoinGroup, with its answer."""
        body = JoinGroupRequest(group_id=group, member_id=member_id, protocol_type="consumer")
        self._exchange(self.speaking, ApiKeys.JOIN_GROUP, body, JoinGroupResponse(member_id=member_id))

    def sync(self, member_id: str, partitions: Sequence[int], group: str = "shop", outcome: str = ANSWERED) -> None:
        """SyncGroup, with these partitions of the topic `orders`."""
        topic = ConsumerProtocolAssignment.TopicPartition(topic="orders", partitions=[*partitions])
        assignment = ConsumerProtocolAssignment(assigned_partitions=[topic])
        data = b"\0\3" + b"".join(bytes(part) for part in assignment.parts(3))
        body = SyncGroupRequest(group_id=group, member_id=member_id)
        self._exchange(self.speaking, ApiKeys.SYNC_GROUP, body, SyncGroupResponse(assignment=data), outcome)

    def heartbeat(self, member_id: str, partitions: Sequence[int] | None, epoch: int = 1, group: str = "shop") -> None:
        """ConsumerGroupHeartbeat; the answer has these partitions, or no assignment."""
        answer = ConsumerGroupHeartbeatResponse(member_id=member_id)
        if partitions is not None:
            topic = ConsumerGroupHeartbeatResponse.TopicPartitions(topic_id=ORDERS, partitions=[*partitions])
            answer.assignment = ConsumerGroupHeartbeatResponse.Assignment(topic_partitions=[topic])
        body = ConsumerGroupHeartbeatRequest(group_id=group, member_id=member_id, member_epoch=epoch)
        self._exchange(self.speaking, ApiKeys.CONSUMER_GROUP_HEARTBEAT, body, answer)

    def leave(self, member_id: str, group: str = "shop") -> None:
        """LeaveGroup."""
        members = [LeaveGroupRequest.MemberIdentity(member_id=member_id)]
        body = LeaveGroupRequest(group_id=group, members=members)
        self._exchange(self.speaking, ApiKeys.LEAVE_GROUP, body, LeaveGroupResponse())

    def fetch(
        self, partitions: Sequence[int], epoch: int = -1, forgotten: Sequence[int] = (), error: int | None = None
    ) -> None:
        """Fetch, by the name of the topic. With an error, it is answered."""
        parts = [FetchRequest.FetchPartition(partition=index) for index in partitions]
        topics = [FetchRequest.FetchTopic(topic="orders", partitions=parts)] if parts else []
        gone = [FetchRequest.ForgottenTopic(topic="orders", partitions=[*forgotten])] if forgotten else []
        body = FetchRequest(session_epoch=epoch, topics=topics, forgotten_topics_data=gone)
        answer = None
        if error is not None:
            data = [FetchResponse.PartitionData(partition_index=index, error_code=error) for index in partitions]
            responses = [FetchResponse.FetchableTopicResponse(topic="orders", partitions=data)]
            answer = FetchResponse(responses=responses)
        self._exchange(self.fetching, ApiKeys.FETCH, body, answer)

    def share_heartbeat(self, member_id: str, partitions: Sequence[int]) -> None:
        """ShareGroupHeartbeat of the group `tills`."""
        topic = ShareGroupHeartbeatResponse.TopicPartitions(topic_id=ORDERS, partitions=[*partitions])
        assignment = ShareGroupHeartbeatResponse.Assignment(topic_partitions=[topic])
        body = ShareGroupHeartbeatRequest(group_id="tills", member_id=member_id)
        answer = ShareGroupHeartbeatResponse(member_id=member_id, assignment=assignment)
        self._exchange(self.speaking, ApiKeys.SHARE_GROUP_HEARTBEAT, body, answer)

    def share_fetch(self, member_id: str, partitions: Sequence[int], is_answered: bool = True) -> None:
        """ShareFetch that opens a session."""
        parts = [ShareFetchRequest.FetchPartition(partition_index=index) for index in partitions]
        topics = [ShareFetchRequest.FetchTopic(topic_id=ORDERS, partitions=parts)]
        body = ShareFetchRequest(group_id="tills", member_id=member_id, topics=topics)
        self._exchange(self.fetching, ApiKeys.SHARE_FETCH, body, ShareFetchResponse() if is_answered else None)

    def disconnect(self) -> None:
        """Both connections end."""
        for peer in (self.speaking, self.fetching):
            self._trace.disconnected(peer)


class Observed:
    """A MemberFetches, and clients that it sees."""

    def __init__(self) -> None:
        self.known, self.trace = MemberFetches(), Trace(1)
        self.trace.subscribe(self.known)

    def client(self, client_id: str = "rdkafka", host: str = HOST) -> OneClient:
        return OneClient(self.trace, client_id, host)

    def of(self, member_id: str, index: int = 0, client_id: str = "rdkafka", group: str = "shop") -> FetchState:
        """What is known of a partition of a member."""
        return self.known.of_member(group, member_id, client_id, HOST, [(ORDERS, index), ("orders", index)])


@pytest.fixture
def observed() -> Observed:
    return Observed()


def test_partition_counts_when_it_is_fetched_after_the_assignment(observed: Observed) -> None:
    client = observed.client()
    client.join("m")
    client.sync("m", [0, 1])
    assert [observed.of("m", 0), observed.of("m", 1)] == [NO, NO]
    client.fetch([0])
    assert [observed.of("m", 0), observed.of("m", 1)] == [YES, NO]
    client.fetch([1])
    assert [observed.of("m", 0), observed.of("m", 1)] == [YES, YES], "a fetch may leave out what is buffered"


def test_fetch_of_another_client_id_or_host_does_not_count(observed: Observed) -> None:
    client = observed.client()
    client.sync("m", [0])
    observed.client("other").fetch([0])
    observed.client(host="10.0.0.1").fetch([0])
    assert observed.of("m") is NO


def test_member_that_joins_again_is_not_ready_until_its_next_assignment_is_fetched(observed: Observed) -> None:
    client = observed.client()
    client.sync("m", [0])
    client.fetch([0])
    client.join("m")
    client.fetch([0])
    assert observed.of("m") is NO, "it waits for an assignment"
    client.sync("m", [0])
    assert observed.of("m") is NO, "its positions may be lost"
    client.fetch([0])
    assert observed.of("m") is YES, "its own fetches may go on"


def test_previous_owner_that_goes_on_fetching_does_not_make_the_new_one_ready(observed: Observed) -> None:
    old, new = observed.client(), observed.client()
    old.sync("old", [0])
    old.fetch([0])
    new.sync("new", [0])
    old.fetch([0])
    assert observed.of("new") is UNCLEAR
    new.fetch([0])
    assert observed.of("new") is YES
    assert observed.of("old") is NO


def test_partition_that_comes_back_counts_for_its_first_client(observed: Observed) -> None:
    first, second = observed.client(), observed.client()
    first.sync("m1", [0])
    first.fetch([0])
    second.sync("m2", [0])
    second.fetch([0])
    first.sync("m1", [0])
    assert observed.of("m1") is UNCLEAR or observed.of("m1") is NO
    first.fetch([0])
    assert observed.of("m1") is YES


def test_client_that_joins_under_another_member_id_is_the_same(observed: Observed) -> None:
    client = observed.client()
    client.sync("m1", [0])
    client.fetch([0])
    client.sync("m2", [0])
    assert observed.of("m2") is NO
    client.fetch([0])
    assert observed.of("m2") is YES


def test_client_outside_of_groups_with_the_same_id_does_not_count(observed: Observed) -> None:
    loner = observed.client()
    loner.fetch([0])
    client = observed.client()
    client.sync("m", [0])
    loner.fetch([0])
    assert observed.of("m") is UNCLEAR


def test_members_of_two_groups_with_one_identity_need_two_connections(observed: Observed) -> None:
    one, two = observed.client(), observed.client()
    one.sync("m1", [0], group="one")
    two.sync("m2", [0], group="two")
    one.fetch([0])
    assert observed.of("m1", group="one") is UNCLEAR
    two.fetch([0])
    assert observed.of("m1", group="one") is YES
    assert observed.of("m2", group="two") is YES


def test_group_whose_client_has_gone_needs_no_connection(observed: Observed) -> None:
    gone, client = observed.client(), observed.client()
    gone.sync("m1", [0], group="one")
    client.sync("m2", [0], group="two")
    gone.disconnect()
    client.fetch([0])
    assert observed.of("m2", group="two") is YES


def test_incremental_fetch_includes_what_the_session_has(observed: Observed) -> None:
    client = observed.client()
    client.fetch([0, 1], epoch=0)
    client.sync("m", [0, 1])
    client.fetch([], epoch=1, forgotten=[1])
    assert [observed.of("m", 0), observed.of("m", 1)] == [UNCLEAR, NO], "it fetched both before it joined"
    client.fetch([1], epoch=2)
    assert observed.of("m", 1) is YES, "a new run"


def test_fetch_that_is_answered_with_an_error_does_not_count(observed: Observed) -> None:
    client = observed.client()
    client.sync("m", [0])
    client.fetch([0], epoch=0, error=error_codes.OFFSET_OUT_OF_RANGE)
    assert observed.of("m") is NO
    client.fetch([], epoch=1)
    assert observed.of("m") is YES


def test_fetches_of_a_connection_end_with_it(observed: Observed) -> None:
    client = observed.client()
    client.sync("m", [0])
    client.fetch([0])
    client.disconnect()
    assert observed.of("m") is NO


def test_assignment_that_was_not_sent_is_not_given(observed: Observed) -> None:
    client = observed.client()
    client.join("m")
    client.sync("m", [0], outcome=DISCONNECTED)
    client.fetch([0])
    assert observed.of("m") is NO, "it waits for its assignment"


def test_assignment_that_is_not_known_counts_as_old(observed: Observed) -> None:
    observed.client().fetch([0])
    assert observed.of("m") is YES


def test_new_protocol_gives_a_partition_once(observed: Observed) -> None:
    client = observed.client()
    client.heartbeat("m", [0], epoch=0)
    client.fetch([0])
    client.heartbeat("m", [0, 1])
    assert [observed.of("m", 0), observed.of("m", 1)] == [YES, NO]
    client.heartbeat("m", None)
    client.fetch([0, 1])
    assert observed.of("m", 1) is YES
    client.heartbeat("m", [0, 1], epoch=0)
    assert observed.of("m", 0) is NO, "a member that was fenced lost its positions"


def test_partition_that_a_member_lost_is_given_again(observed: Observed) -> None:
    client = observed.client()
    for partitions in ([0], [], [0]):
        client.heartbeat("m", partitions)
        assert observed.of("m") is NO
        client.fetch(partitions)
    assert observed.of("m") is YES


@pytest.mark.parametrize("leave", ["LeaveGroup", "heartbeat"])
def test_member_that_left_has_nothing(observed: Observed, leave: str) -> None:
    client = observed.client()
    client.sync("m", [0])
    client.fetch([0])
    if leave == "LeaveGroup":
        client.leave("m")
    else:
        client.heartbeat("m", None, epoch=-1)
    assert observed.of("m") is NO


def test_share_member_is_named_by_its_fetches(observed: Observed) -> None:
    one, two = observed.client(), observed.client()
    places = [(ORDERS, 0)]
    for client, member in ((one, "m1"), (two, "m2")):
        client.share_heartbeat(member, [0])
    one.share_fetch("m1", [0], is_answered=False)
    assert observed.known.of_share_member("tills", "m1", places) is NO, "its start offset is not known yet"
    one.share_fetch("m1", [0])
    assert observed.known.of_share_member("tills", "m1", places) is YES
    assert observed.known.of_share_member("tills", "m2", places) is NO


def test_task_of_a_streams_member_is_fetched_by_its_source_topic(observed: Observed) -> None:
    client = observed.client("app-1-consumer")
    body = StreamsGroupHeartbeatRequest(group_id="app", member_id="m")
    tasks = [StreamsGroupHeartbeatResponse.TaskIds(subtopology_id="sub", partitions=[0])]
    answer = StreamsGroupHeartbeatResponse(member_id="m", active_tasks=tasks)

    def of() -> FetchState:
        return observed.known.of_member("app", "m", "app-1-consumer", HOST, [("orders", 0)], ("sub", 0))

    client.fetch([0])
    client._exchange(client.speaking, ApiKeys.STREAMS_GROUP_HEARTBEAT, body, answer)
    assert of() is NO
    client.fetch([])
    client.fetch([0])
    assert of() is YES


def test_fetches_of_many_partitions_are_bounded() -> None:
    fetched = FetchedPartitions(max_bytes=100 * ENTRY_BYTES)
    for number in range(1, 40):
        parts = [FetchRequest.FetchPartition(partition=index) for index in range(10)]
        body = FetchRequest(topics=[FetchRequest.FetchTopic(topic=f"topic-{number}", partitions=parts)])
        fetched.fetch(Peer(number, HOST, 1, BROKER), "rdkafka", body, number)
    assert [len(list(fetched.runs("rdkafka", HOST, [(f"topic-{number}", 0)]))) for number in (1, 39)] == [0, 1]
    assert fetched._size_bytes <= 100 * ENTRY_BYTES


def test_assignments_of_many_groups_are_bounded() -> None:
    partitions: Any = GivenPartitions(max_bytes=20_000)
    for number in range(1, 100):
        partitions.joined(f"group-{number}", "m")
        partitions.give(f"group-{number}", "m", MemberClient(1, "c", HOST), [("orders", 0, "")], number, again=True)
    assert partitions.of("group-1", [("orders", 0, "")]) is None
    assert partitions.of("group-99", [("orders", 0, "")]).latest == 99
    sizes = [group.size_bytes for group in partitions._groups.values()]
    assert partitions._size_bytes == sum(sizes) <= 20_000
    for group in list(partitions._groups):
        partitions.left(group, "m")
    assert partitions._size_bytes == sum(group.size_bytes for group in partitions._groups.values())
    partitions.clear()
    assert partitions._size_bytes == 0
