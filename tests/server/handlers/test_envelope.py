"""Envelope: a client's request to a broker, answered by a controller (KIP-590)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kafkadouble.messages.generated.envelope import EnvelopeRequest, EnvelopeResponse
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.request_header import RequestHeader
from kafkadouble.messages.message import Message
from kafkadouble.server.apis.served import CONTROLLER_SERVED, ROWS
from kafkadouble.server.requests.answer import DISCONNECT
from kafkadouble.server.requests.bounds import MOST_ELEMENTS
from kafkadouble.server.requests.request import Peer, Refusal, Request
from kafkadouble.server.requests.waiting import Until, Waiters
from tests.server.harness import NOW, SEED, Harness, Pending
from tests.server.topic_requests import creating
from tests.support.listeners import CONTROLLER

APIS = CONTROLLER_SERVED
SIZE_FIELD = 4


def principal(type: str = "User", name: str = "alice") -> bytes:
    return bytes(2) + DefaultPrincipalData(type=type, name=name).encode(0)


def inside(message: Message, version: int, correlation_id: int = 77) -> bytes:
    """A request as a client sends it, without its length."""
    return b"".join(headers.write_request(message, correlation_id, "a client", version))[SIZE_FIELD:]


def forward(
    cluster: Harness,
    data: bytes,
    principal_bytes: bytes | None = principal(),
    address: bytes = bytes((10, 0, 0, 9)),
    apis: Mapping[int, Any] = APIS,
) -> Pending:
    body = EnvelopeRequest(request_data=data, request_principal=principal_bytes, client_host_address=address)
    broker = Peer(3, "127.0.0.1", 50_001, CONTROLLER._replace(apis=apis))
    broker.may_act_for = lambda id: True
    request = Request(ApiKeys.ENVELOPE, 0, 5, "1", body, broker, received=cluster.now, size=len(data) + 40)
    return cluster.hand_in(request)


def answered(cluster: Harness, data: bytes, **given: Any) -> EnvelopeResponse:
    response = forward(cluster, data, **given).response
    assert isinstance(response, EnvelopeResponse)
    return response


def code(cluster: Harness, data: bytes, **given: Any) -> str:
    """The error of the envelope."""
    response = answered(cluster, data, **given)
    assert response.response_data is None
    return error_codes.name(response.error_code)


@pytest.fixture
def cluster() -> Harness:
    return Harness()


@pytest.mark.parametrize("version", range(2, 8))
def test_envelope_is_answered_like_the_request_of_the_client(cluster: Harness, version: int) -> None:
    response = answered(cluster, inside(creating("t"), version))
    assert response.error_code == 0
    assert response.response_data is not None
    correlation_id, found = headers.read_response(bytes(response.response_data), ApiKeys.CREATE_TOPICS, version)
    assert correlation_id == 77
    assert isinstance(found, CreateTopicsResponse)
    assert [(topic.name, topic.error_code) for topic in found.topics] == [("t", 0)]
    assert cluster.image.topic_named("t") is not None


def test_the_answer_is_byte_for_byte_that_of_the_inner_request(cluster: Harness) -> None:
    response = answered(cluster, inside(creating("bad name"), 5))
    direct = cluster.submit(creating("bad name"), 5)
    expected = b"".join(headers.write_response(direct, 77, ApiKeys.CREATE_TOPICS, 5))[SIZE_FIELD:]
    assert response.response_data == expected


class Odd:
    """An API whose handler belongs to the test; it replaces CreateTopics in the table."""

    request = CreateTopicsRequest
    lowest, highest = 2, 7
    precheck = None

    def __init__(self, answer: Callable[[Any, Any], Any]) -> None:
        self.handler, self.refuse, self.name = SimpleNamespace(answer=answer), refuse, "CreateTopics"


def refuse(request: Any, code: int, message: str | None) -> CreateTopicsResponse:
    result = CreateTopicsResponse.CreatableTopicResult(name="t", error_code=code, error_message=message)
    return CreateTopicsResponse(topics=[result])


def odd(answer: Callable[[Any, Any], Any]) -> dict[int, Any]:
    return {**APIS, ApiKeys.CREATE_TOPICS: Odd(answer)}


def inner_code(response: EnvelopeResponse) -> str:
    assert response.error_code == 0
    assert response.response_data is not None
    found = headers.read_response(bytes(response.response_data), ApiKeys.CREATE_TOPICS, 7)[1]
    assert isinstance(found, CreateTopicsResponse)
    return error_codes.name(found.topics[0].error_code)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        (bytes((10, 0, 0, 9)), "10.0.0.9"),
        (bytes(15) + b"\1", "::1"),
        (bytes(10) + b"\xff\xff" + bytes((10, 0, 0, 9)), "10.0.0.9"),
    ],
)
def test_envelope_handler_gets_the_peer_of_the_client(cluster: Harness, address: bytes, host: str) -> None:
    seen: list[Request[Any]] = []

    def note(node: Any, request: Any) -> Message:
        seen.append(request)
        return CreateTopicsResponse()

    apis = odd(note)
    answered(cluster, inside(creating("t"), 7), principal_bytes=principal("User", "bob:x"), address=address, apis=apis)
    [request] = seen
    assert (request.peer.principal, request.peer.host, request.peer.listener.name) == ("User:bob:x", host, "CONTROLLER")
    assert (request.client_id, request.correlation_id, request.version) == ("a client", 77, 7)
    assert request.peer.apis is apis
    assert request.received == NOW


def test_a_request_inside_that_waits_makes_the_envelope_wait(cluster: Harness) -> None:
    waiters = Waiters()

    def wait(node: Any, request: Any) -> Iterator[Until]:
        moved = yield Until(node.now + 1000, [waiters])
        raise Refusal(error_codes.REQUEST_TIMED_OUT if not moved else error_codes.TOPIC_ALREADY_EXISTS)

    first, second = (forward(cluster, inside(creating("t"), 7), apis=odd(wait)) for _ in range(2))
    assert not first.done
    second.close()
    waiters.wake()
    cluster.tick(0)
    assert inner_code(first.response) == "TOPIC_ALREADY_EXISTS"
    third = forward(cluster, inside(creating("t"), 7), apis=odd(wait))
    cluster.tick(1000)
    assert inner_code(third.response) == "REQUEST_TIMED_OUT"
    assert not second.done
    assert not waiters.tasks


def test_an_unforeseen_error_is_the_inner_request_s_own(cluster: Harness) -> None:
    def broken(node: Any, request: Any) -> Message:
        raise RuntimeError("on purpose")

    response = answered(cluster, inside(creating("t"), 7), apis=odd(broken))
    assert inner_code(response) == "UNKNOWN_SERVER_ERROR"


def test_an_answer_too_long_for_the_wire_is_cut(cluster: Harness) -> None:
    def talkative(node: Any, request: Any) -> Message:
        raise Refusal(error_codes.INVALID_REQUEST, "x" * 40_000)

    assert inner_code(answered(cluster, inside(creating("t"), 7), apis=odd(talkative))) == "INVALID_REQUEST"


@pytest.mark.parametrize("result", [None, DISCONNECT])
def test_envelope_of_a_request_without_a_response_has_none(cluster: Harness, result: Any) -> None:
    assert forward(cluster, inside(creating("t"), 7), apis=odd(lambda *_: result)).response is result


def test_a_controller_that_does_not_lead_answers_so_on_the_envelope(cluster: Harness) -> None:
    def elsewhere(node: Any, request: Any) -> Message:
        raise Refusal(error_codes.NOT_CONTROLLER)

    assert code(cluster, inside(creating("t"), 7), apis=odd(elsewhere)) == "NOT_CONTROLLER"


def test_describe_quorum_in_an_envelope_maps_not_leader_to_not_controller(cluster: Harness) -> None:
    def quorum(error_code: int) -> dict[int, Any]:
        partition = DescribeQuorumResponse.PartitionData(error_code=error_code)
        topic = DescribeQuorumResponse.TopicData(topic_name="__cluster_metadata", partitions=[partition])
        api = Odd(lambda *_: DescribeQuorumResponse(topics=[topic]))
        api.request = DescribeQuorumRequest  # type: ignore[assignment]  # a stand-in for the other API
        api.lowest, api.highest = 0, 2
        return {**APIS, 55: api}

    data = inside(DescribeQuorumRequest(topics=[]), 2)
    assert code(cluster, data, apis=quorum(error_codes.NOT_LEADER_OR_FOLLOWER)) == "NOT_CONTROLLER"
    assert answered(cluster, data, apis=quorum(error_codes.NOT_CONTROLLER)).error_code == 0


WHOLE, OWN = inside(creating("t"), 7), principal()
ALTER = inside(AlterConfigsRequest(), 0)


@pytest.mark.parametrize(
    ("data", "given", "expected"),
    [
        *(
            (WHOLE, {"principal_bytes": each}, "PRINCIPAL_DESERIALIZATION_FAILURE")
            for each in (
                None,
                b"",
                b"\0",
                b"\0\0",
                b"\0\1" + OWN[2:],  # a version that is not known
                b"\xff\xff" + OWN[2:],
                OWN[:-3],
                bytes(2) + b"\3\xff\xfe\2a\0\0",  # no text
            )
        ),
        *((WHOLE, {"address": each}, "INVALID_REQUEST") for each in (b"", bytes(3), bytes(5), bytes(17), b"127.0.0.1")),
        (inside(MetadataRequest(), 12), {}, "INVALID_REQUEST"),  # APIs that are not forwarded
        (inside(FindCoordinatorRequest(), 4), {}, "INVALID_REQUEST"),
        (inside(EnvelopeRequest(), 0), {}, "INVALID_REQUEST"),
        *(
            (each, {}, "UNSUPPORTED_VERSION")
            for each in (
                b"",
                WHOLE[:7],
                WHOLE[:-4],
                b"\x7f\x00" + WHOLE[2:],  # an API that does not exist
                WHOLE[:2] + b"\0\x63" + WHOLE[4:],  # version 99
                WHOLE[:2] + b"\xff\xff" + WHOLE[4:],
                ALTER[:2] + b"\0\3" + ALTER[4:],  # newer than served
                inside(creating(*[""] * 60_000), 7),
            )
        ),
        # As in Apache Kafka: principal, address, header, API, body.
        (b"", {"principal_bytes": b"", "address": b""}, "PRINCIPAL_DESERIALIZATION_FAILURE"),
        (b"", {"address": b""}, "INVALID_REQUEST"),
        (inside(MetadataRequest(), 12)[:-1], {}, "INVALID_REQUEST"),
    ],
)
def test_envelope_that_cannot_be_is_refused(cluster: Harness, data: bytes, given: Any, expected: str) -> None:
    assert code(cluster, data, **given) == expected
    assert cluster.image.topic_named("t") is None


def test_envelope_of_unserved_api_is_refused(cluster: Harness) -> None:
    apis = {key: served for key, served in APIS.items() if key != ApiKeys.CREATE_TOPICS}
    assert code(cluster, inside(creating("t"), 7), apis=apis) == "UNSUPPORTED_VERSION"


def test_the_header_inside_counts_towards_the_limit_of_elements(cluster: Harness) -> None:
    plain = inside(creating("t"), 7)
    body = plain[headers.read_request_header(plain).body_offset :]
    for tags, known in ((MOST_ELEMENTS - 10, True), (MOST_ELEMENTS, False)):
        named = dict.fromkeys(range(tags), b"")
        header = RequestHeader(
            request_api_key=ApiKeys.CREATE_TOPICS, request_api_version=7, unknown_tagged_fields=named
        )
        response = answered(cluster, header.encode(2) + body)
        assert (response.error_code == 0) == known


def test_bytes_after_the_request_in_an_envelope_are_ignored(cluster: Harness) -> None:
    assert answered(cluster, inside(creating("t"), 7) + b"more").error_code == 0


def test_randomly_damaged_envelope_is_answered(cluster: Harness) -> None:
    dice = random.Random(SEED)
    for _ in range(2000):
        data = bytearray(inside(creating("t", validate_only=True), dice.choice((4, 5, 7))))
        for _ in range(dice.randrange(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        corrupted = bytearray(principal())
        corrupted[dice.randrange(len(corrupted))] ^= dice.choice((0, 0, 0, 1, 255))
        pending = forward(
            cluster, bytes(data[: dice.choice((None, dice.randrange(len(data))))]), principal_bytes=bytes(corrupted)
        )
        while cluster.node.waiting.is_busy:  # a topic of many partitions is created in slices
            cluster.tick(0)
        assert pending.done


def test_envelope_and_its_request_are_in_the_history(cluster: Harness) -> None:
    """Like requests between nodes."""
    history = cluster.node.history
    assert history is not None
    history.keeps_peers = True
    answered(cluster, inside(creating("t"), 7))
    assert [(seen.api, seen.outcome) for seen in history.of_peers()] == [
        ("Envelope", "answered"),
        ("CreateTopics", "answered"),
    ]
    assert len(history) == 0


def test_forwardable_apis_are_served_to_clients() -> None:
    """AllocateProducerIds is a request that brokers send for themselves."""
    forwarded = [row for row in ROWS if row.forwarded]
    assert len(forwarded) == 22
    assert [row.name for row in forwarded if "broker" not in row.listeners] == ["AllocateProducerIds"]
