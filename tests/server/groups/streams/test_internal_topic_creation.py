"""Internal topics of streams groups on a broker whose controller is another node: they are
requested, and the errors of the response are kept for a while."""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.server.groups.streams.internal_topic_creation import MOST_ERRORS, InternalTopicCreation
from tests.server.groups.streams.broker_node import BrokerNode

RETRY_MS = 10_000


def topic(name: str) -> CreateTopicsRequest.CreatableTopic:
    return CreateTopicsRequest.CreatableTopic(name=name, num_partitions=2, replication_factor=3)


def answered(**codes: int) -> CreateTopicsResponse:
    result = CreateTopicsResponse.CreatableTopicResult
    return CreateTopicsResponse(topics=[result(name=name, error_code=code) for name, code in codes.items()])


def creation_on(node: BrokerNode) -> InternalTopicCreation:
    return InternalTopicCreation(node)  # type: ignore[arg-type]


def test_a_topic_that_cannot_be_created_is_requested_again_later() -> None:
    node = BrokerNode()
    creation = creation_on(node)
    creation.create([topic("a"), topic("b")], RETRY_MS)
    assert node.lifecycle.requested == ["a", "b"]
    assert creation.errors("ab") == {}, "the response is not there yet"
    node.lifecycle.done.pop()(answered(a=error_codes.NONE, b=error_codes.INVALID_REPLICATION_FACTOR))
    assert creation.errors("ab") == {"b": "INVALID_REPLICATION_FACTOR"}
    node.now += RETRY_MS - 1
    creation.create([topic("a"), topic("b")], RETRY_MS)
    assert node.lifecycle.requested == ["a", "b", "a"]
    node.now += 1
    assert creation.errors("ab") == {}
    creation.create([topic("b")], RETRY_MS)
    assert node.lifecycle.requested == ["a", "b", "a", "b"]


def test_a_request_that_is_never_answered_is_an_error_of_all_its_topics() -> None:
    node = BrokerNode()
    creation = creation_on(node)
    creation.create([topic("a"), topic("b")], RETRY_MS)
    node.lifecycle.done.pop()(None)
    assert creation.errors("abc").keys() == {"a", "b"}


def test_errors_of_internal_topic_creation_are_bounded() -> None:
    node = BrokerNode()
    creation = creation_on(node)
    names = [f"t{number}" for number in range(MOST_ERRORS + 5)]
    for name in names:
        creation.create([topic(name)], RETRY_MS)
        node.lifecycle.done.pop()(answered(**{name: error_codes.POLICY_VIOLATION}))
        node.now += 1
    assert [*creation.errors(names)] == names[5:], "the oldest are forgotten"
