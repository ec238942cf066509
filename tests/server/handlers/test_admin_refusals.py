"""The answer to a request that failed as a whole: injected faults and unforeseen errors are
reported in each API's own structure, at every version."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.message import Message
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.requests.request import Peer, Request
from tests.server.harness import Harness, versions
from tests.support.listeners import BROKER

CODE = error_codes.CLUSTER_AUTHORIZATION_FAILED


def message(name: str) -> Any:
    return registry.message(f"{name}Request")


def a_request(api: str, version: int) -> Message:
    """A request for topics, groups or other names: "x" and "y"."""
    cls = message(api)
    made: Message = BODIES[api](cls, version)
    return made


def _delete_topics(cls: Any, version: int) -> Any:
    if version >= 6:
        return cls(topics=[cls.DeleteTopicState(name=name) for name in "xy"])
    return cls(topic_names=["x", "y"])


def _resources(cls: Any, resource: str) -> Any:
    return cls(
        resources=[
            getattr(cls, resource)(resource_type=2, resource_name=name, **{LIST_OF[resource]: []}) for name in "xy"
        ]
    )


LIST_OF = {"DescribeConfigsResource": "configuration_keys", "AlterConfigsResource": "configs"}

BODIES: dict[str, Any] = {
    "CreateTopics": lambda cls, _: cls(
        topics=[cls.CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in "xy"]
    ),
    "DeleteTopics": _delete_topics,
    "CreatePartitions": lambda cls, _: cls(
        topics=[cls.CreatePartitionsTopic(name=name, count=2, assignments=None) for name in "xy"]
    ),
    "DescribeConfigs": lambda cls, _: _resources(cls, "DescribeConfigsResource"),
    "AlterConfigs": lambda cls, _: _resources(cls, "AlterConfigsResource"),
    "IncrementalAlterConfigs": lambda cls, _: _resources(cls, "AlterConfigsResource"),
    "Metadata": lambda cls, _: cls(topics=[cls.MetadataRequestTopic(name=name) for name in "xy"]),
    "DescribeTopicPartitions": lambda cls, _: cls(topics=[cls.TopicRequest(name=name) for name in "xy"]),
    "DescribeCluster": lambda cls, _: cls(),
    "InitProducerId": lambda cls, _: cls(transactional_id=None),
    "ApiVersions": lambda cls, _: cls(),
    "ListConfigResources": lambda cls, _: cls(),
}

# The APIs whose answer has one part for each requested item, and the key of that part.
PARTS = {
    "CreateTopics": ("topics", "name"),
    "DeleteTopics": ("responses", "name"),
    "CreatePartitions": ("results", "name"),
    "DescribeConfigs": ("results", "resource_name"),
    "AlterConfigs": ("responses", "resource_name"),
    "IncrementalAlterConfigs": ("responses", "resource_name"),
    "Metadata": ("topics", "name"),
    "DescribeTopicPartitions": ("topics", "name"),
}

CASES = [(api, version) for api in BODIES for version in versions(api)]


@pytest.mark.parametrize("message", [None, "because"])
@pytest.mark.parametrize(("api", "version"), CASES)
def test_every_item_of_the_request_fails(api: str, version: int, message: str | None) -> None:
    served = next(served for served in TABLE_BY_NAME.values() if served.name == api)
    body = a_request(api, version)
    request = Request(served.api.key, version, 1, "test", body, Peer(1, "h", 1, BROKER), received=0, size=0)
    answer = served.refuse(request, CODE, message)
    assert answer is not None
    found: Any = type(answer).decode(answer.encode(version), version)
    if api in PARTS:
        parts, name = PARTS[api]
        assert [(getattr(part, name), part.error_code) for part in getattr(found, parts)] == [("x", CODE), ("y", CODE)]
    else:
        assert found.error_code == CODE


TABLE_BY_NAME = {served.name: served for served in SERVED.values()}


@pytest.mark.parametrize("api", PARTS)
def test_a_handler_that_breaks_is_answered_all_the_same(
    api: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As in Kafka: UNKNOWN_SERVER_ERROR, and the traceback in the log."""

    def broken(node: Any, request: Any) -> Any:
        raise RuntimeError("on purpose")

    cluster = Harness()
    monkeypatch.setattr(TABLE_BY_NAME[api].handler, "answer", broken)
    version = TABLE_BY_NAME[api].highest
    parts, name = PARTS[api]
    answer = cluster.submit(a_request(api, version), version)
    assert [(getattr(part, name), part.error_code) for part in getattr(answer, parts)] == [("x", -1), ("y", -1)]
    assert "on purpose" in caplog.text
