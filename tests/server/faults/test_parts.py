"""The table of parts names lists that exist, and requests and answers are split along it."""

from collections.abc import Iterator

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Struct
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.part_lists import KINDS, PATHS, kinds_of, path_of
from kafkadouble.server.apis.row import PartList
from kafkadouble.server.apis.served import ROWS
from kafkadouble.server.faults.parts import divide, mirrored, overlay

CASES = [(api, path) for api, paths in PATHS.items() for path in paths]
SOME_ID = Uuid(b"0123456789abcdef")


def name_of(topic_id: object) -> str | None:
    return "by-id" if topic_id == SOME_ID else None


def structs(cls: type[Struct], names: list[str]) -> Iterator[type[Struct] | None]:
    """The struct of each list on the path; None where a list holds plain values."""
    for name in names:
        field = next((field for field in fields_of(cls) if field.name == name), None)
        assert field is not None, f"{cls.__qualname__} has no {name}"
        assert field.array, f"{name} of {cls.__qualname__} is no list"
        yield field.struct
        if field.struct is None:
            return
        cls = field.struct


@pytest.mark.parametrize(("api", "path"), CASES)
def test_the_lists_are_there(api: str, path: tuple[PartList, ...]) -> None:
    found = registry.api_named(api)
    question = list(structs(found.request, [level.requested for level in path]))
    answered = list(structs(found.response, [level.answered for level in path]))
    assert len(question) == len(answered) == len(path)
    assert None not in answered
    innermost = answered[-1]
    assert innermost is not None
    assert any(field.name.endswith("error_code") for field in fields_of(innermost))


def test_every_api_that_lists_topics_is_in_the_table() -> None:
    """APIs that are missing here are requested by brokers and controllers, or have no error per
    topic."""
    unlisted = {
        "DescribeLogDirs", "DescribeQuorum", "ListPartitionReassignments", "BeginQuorumEpoch", "EndQuorumEpoch",
        "Vote", "FetchSnapshot", "AlterPartition",
    }  # fmt: skip
    listing = {row.name for row in ROWS if "topics" in row.api.request.__slots__}
    assert listing - set(PATHS) == unlisted


def parts_of(body: ListOffsetsRequest | None) -> list[tuple[str, int]]:
    topics = () if body is None else body.topics
    return [(topic.name, part.partition_index) for topic in topics for part in topic.partitions]


ALL = [("a", 0), ("a", 1), ("b", 0)]


@pytest.mark.parametrize(
    ("scope", "hit"),
    [
        ({}, ALL),
        ({"topic": "a"}, ALL[:2]),
        ({"topic": "a", "partition": 1}, [("a", 1)]),
        ({"partition": 0}, [("a", 0), ("b", 0)]),
        ({"topic": "c"}, []),
        ({"topic": "b", "partition": 1}, []),
        ({"group": "g"}, []),
    ],
)
def test_divide_by_topic_and_partition(scope: dict[str, str | int], hit: list[tuple[str, int]]) -> None:
    def topic(name: str, *partitions: int) -> ListOffsetsRequest.ListOffsetsTopic:
        listed = [ListOffsetsRequest.ListOffsetsPartition(partition_index=index) for index in partitions]
        return ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=listed)

    body = ListOffsetsRequest(topics=[topic("a", 0, 1), topic("b", 0)], isolation_level=1)
    inside, outside = divide("ListOffsets", body, scope, name_of)
    assert parts_of(inside) == hit
    assert sorted(parts_of(inside) + parts_of(outside)) == ALL
    assert parts_of(body) == ALL, "the request itself is not changed"
    assert all(half is None or half.isolation_level == 1 for half in (inside, outside))


def test_a_topic_that_comes_by_id_is_known_by_name() -> None:
    topics = [
        ProduceRequest.TopicProduceData(topic_id=topic_id, partition_data=[ProduceRequest.PartitionProduceData()])
        for topic_id in (SOME_ID, Uuid(b"another---------"))
    ]
    hit, rest = divide("Produce", ProduceRequest(topic_data=topics), {"topic": "by-id"}, name_of)
    assert hit is not None
    assert rest is not None
    assert [topic.topic_id for topic in hit.topic_data] == [SOME_ID]
    assert [topic.topic_id for topic in rest.topic_data] == [b"another---------"]


def test_a_request_that_is_about_one_group() -> None:
    body = HeartbeatRequest(group_id="g")
    assert divide("Heartbeat", body, {"group": "g"}, name_of) == (body, None)
    assert divide("Heartbeat", body, {"group": "h"}, name_of) == (None, body)
    assert divide("Heartbeat", body, {"topic": "t"}, name_of) == (None, body)


def test_coordinator_keys_are_groups_or_transactional_ids() -> None:
    new = FindCoordinatorRequest(coordinator_keys=["g", "h"])
    hit, rest = divide("FindCoordinator", new, {"group": "g"}, name_of)
    assert hit is not None
    assert rest is not None
    assert (hit.coordinator_keys, rest.coordinator_keys) == (["g"], ["h"])
    old = FindCoordinatorRequest(key="t", key_type=1)
    assert divide("FindCoordinator", old, {"transactional_id": "t"}, name_of) == (old, None)


def test_a_resource_is_a_topic_only_if_its_type_is_topic() -> None:
    resources = [
        DescribeConfigsRequest.DescribeConfigsResource(resource_type=kind, resource_name="x") for kind in (2, 4, 32)
    ]
    body = DescribeConfigsRequest(resources=resources)
    for scope, kind in (("topic", 2), ("group", 32)):
        hit, _ = divide("DescribeConfigs", body, {scope: "x"}, name_of)
        assert hit is not None
        assert [resource.resource_type for resource in hit.resources] == [kind]


def offsets_of_two_groups() -> OffsetFetchRequest:
    def group(name: str) -> OffsetFetchRequest.OffsetFetchRequestGroup:
        topics = [OffsetFetchRequest.OffsetFetchRequestTopics(name="a", partition_indexes=[0, 1])]
        return OffsetFetchRequest.OffsetFetchRequestGroup(group_id=name, topics=topics)

    return OffsetFetchRequest(groups=[group("g"), group("h")])


def test_request_is_divided_three_levels_deep() -> None:
    hit, rest = divide("OffsetFetch", offsets_of_two_groups(), {"group": "h", "partition": 1}, name_of)
    assert hit is not None
    assert rest is not None
    assert [(group.group_id, group.topics[0].partition_indexes) for group in hit.groups] == [("h", [1])]
    assert [(group.group_id, group.topics[0].partition_indexes) for group in rest.groups] == [("g", [0, 1]), ("h", [0])]


def test_error_response_has_the_error_in_every_innermost_part() -> None:
    body = offsets_of_two_groups()
    answer = mirrored(OffsetFetchResponse, body, path_of("OffsetFetch", body), 3)
    changed = [
        (group.group_id, topic.name, part.partition_index, part.error_code)
        for group in answer.groups
        for topic in group.topics
        for part in topic.partitions
    ]
    assert changed == [("g", "a", 0, 3), ("g", "a", 1, 3), ("h", "a", 0, 3), ("h", "a", 1, 3)]


def answer(*parts: tuple[str, int, int]) -> ListOffsetsResponse:
    topics: dict[str, list[ListOffsetsResponse.ListOffsetsPartitionResponse]] = {}
    for name, index, code in parts:
        part = ListOffsetsResponse.ListOffsetsPartitionResponse(partition_index=index, error_code=code)
        topics.setdefault(name, []).append(part)
    return ListOffsetsResponse(
        topics=[ListOffsetsResponse.ListOffsetsTopicResponse(name=name, partitions=of) for name, of in topics.items()]
    )


def test_overlaid_response_replaces_and_appends_partitions() -> None:
    good = answer(("a", 0, 0), ("a", 1, 0))
    overlay(good, answer(("a", 1, 6), ("a", 2, 6), ("b", 0, 6)), PATHS["ListOffsets"][0], name_of)
    assert good == answer(("a", 0, 0), ("a", 1, 6), ("a", 2, 6), ("b", 0, 6))


def test_kinds_of_an_api() -> None:
    kinds = {api: kinds_of(api, registry.api_named(api).request) for api in ("Fetch", "Heartbeat", "FindCoordinator")}
    assert kinds == {
        "Fetch": {"topic", "partition"},
        "Heartbeat": {"group"},
        "FindCoordinator": {"group", "transactional_id"},
    }
    assert kinds_of("DescribeConfigs", DescribeConfigsRequest) == set(KINDS["resource"])
