"""The errors of every group API, and the shape of a response in which everything failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.describe_groups import DescribeGroupsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from kafkadouble.messages.generated.offset_delete import OffsetDeleteRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.messages.message import Message, Struct, field_names
from kafkadouble.server import dispatch
from kafkadouble.server.apis.served import TABLE
from kafkadouble.server.requests.request import Peer, Request
from tests.server.groups.asking import commit_request, fetch_request
from tests.server.groups.bench import GROUP, GROUP_APIS, START, Bench
from tests.support.listeners import BROKER

JOIN = JoinGroupRequest(
    group_id=GROUP,
    session_timeout_ms=10_000,
    member_id="m",
    protocol_type="consumer",
    protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range")],
)
SYNC = SyncGroupRequest(group_id=GROUP, generation_id=1, member_id="m", protocol_type="consumer", protocol_name="range")
BEAT = HeartbeatRequest(group_id=GROUP, generation_id=1, member_id="m")
LEAVE = LeaveGroupRequest(group_id=GROUP, members=[LeaveGroupRequest.MemberIdentity(member_id="m")])
DESCRIBE = DescribeGroupsRequest(groups=[GROUP, "h"])
DELETE = DeleteGroupsRequest(groups_names=[GROUP, "h"])
FORGET = OffsetDeleteRequest(
    group_id=GROUP,
    topics=[
        OffsetDeleteRequest.OffsetDeleteRequestTopic(
            name="t", partitions=[OffsetDeleteRequest.OffsetDeleteRequestPartition(partition_index=0)]
        )
    ],
)
COMMIT = commit_request({"t": {0: 1, 1: 2}})
FETCH = fetch_request({GROUP: {"t": [0]}, "h": None})
OLD_FETCH = OffsetFetchRequest(
    group_id=GROUP, topics=[OffsetFetchRequest.OffsetFetchRequestTopic(name="t", partition_indexes=[0, 1])]
)

REQUESTS: dict[str, tuple[Message, int]] = {
    "join": (JOIN, 9),
    "sync": (SYNC, 5),
    "heartbeat": (BEAT, 4),
    "leave": (LEAVE, 5),
    "describe": (DESCRIBE, 6),
    "delete": (DELETE, 3),
    "forget": (FORGET, 0),
    "commit": (COMMIT, 9),
    "fetch": (FETCH, 9),
    "old fetch": (OLD_FETCH, 7),
    "oldest fetch": (OLD_FETCH, 1),
}


def error_codes_in(value: object) -> Iterator[int]:
    """Every error code of an answer, from the outside in."""
    if isinstance(value, Struct):
        for name in field_names(type(value)):
            if name == "error_code":
                yield getattr(value, name)
            else:
                yield from error_codes_in(getattr(value, name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from error_codes_in(each)


@pytest.mark.parametrize("name", REQUESTS)
def test_without_the_offsets_topic_every_request_gets_not_coordinator(name: str) -> None:
    bench = Bench(with_offsets_topic=False)
    bench.create_topic("t", 2)
    body, version = REQUESTS[name]
    found = [code for code in error_codes_in(bench.ask(body, version)) if code]
    assert found
    assert set(found) == {codes.NOT_COORDINATOR}


def test_refused_list_groups_lists_no_group() -> None:
    answer = Bench(with_offsets_topic=False).ask(ListGroupsRequest())
    assert (answer.error_code, list(answer.groups)) == (0, [])


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("join", codes.UNKNOWN_MEMBER_ID),
        ("sync", codes.UNKNOWN_MEMBER_ID),
        ("heartbeat", codes.UNKNOWN_MEMBER_ID),
        ("leave", codes.UNKNOWN_MEMBER_ID),
        ("describe", codes.GROUP_ID_NOT_FOUND),
        ("delete", codes.GROUP_ID_NOT_FOUND),
        ("forget", codes.GROUP_ID_NOT_FOUND),
        ("commit", codes.NONE),
        ("fetch", codes.NONE),
    ],
)
def test_the_answers_about_an_unknown_group(name: str, code: int) -> None:
    bench = Bench()
    bench.create_topic("t", 2)
    body, version = REQUESTS[name]
    assert {each for each in error_codes_in(bench.ask(body, version)) if each} == ({code} if code else set())


@pytest.mark.parametrize("api", GROUP_APIS)
def test_refusals_can_be_written_in_every_version(api: str) -> None:
    served = next(served for served in TABLE if served.name == api)
    for version in range(served.lowest, served.highest + 1):
        body = example(api, version)
        request: Request[Any] = Request(
            served.api.key, version, 1, "c", body, Peer(1, "h", 1, BROKER), received=START, size=0
        )
        answer = dispatch.refused(request, codes.COORDINATOR_LOAD_IN_PROGRESS)
        assert isinstance(answer, Message)
        again = type(answer).decode(answer.encode(version), version)
        assert codes.COORDINATOR_LOAD_IN_PROGRESS in set(error_codes_in(again)), (api, version)


def example(api: str, version: int) -> Message:
    """A request of this API that can be written in this version, and names something."""
    bodies: dict[str, Message] = {
        "JoinGroup": JOIN,
        "SyncGroup": SYNC,
        "Heartbeat": BEAT,
        "DescribeGroups": DESCRIBE,
        "DeleteGroups": DELETE,
        "OffsetDelete": FORGET,
        "OffsetCommit": COMMIT,
        "ListGroups": ListGroupsRequest(),
        "OffsetFetch": FETCH if version >= 8 else OLD_FETCH,
        "FindCoordinator": FindCoordinatorRequest(coordinator_keys=["g"])
        if version >= 4
        else FindCoordinatorRequest(key="g"),
        "LeaveGroup": LEAVE if version >= 3 else LeaveGroupRequest(group_id=GROUP, member_id="m"),
    }
    body = bodies[api]
    return type(body).decode(body.encode(version), version)


def test_every_api_is_in_the_table() -> None:
    assert {served.name for served in TABLE} >= set(GROUP_APIS)
