"""Requests in flight on one connection, and their responses, without a socket."""

from __future__ import annotations

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.message import Message
from kafkadouble.server.client.client_connection import BadPeer, ClientConnection

VERSION = 12


def frame_of(answer: Message, correlation_id: int, key: int = ApiKeys.METADATA, version: int = VERSION) -> bytes:
    """The bytes of a response, with its size in front."""
    return b"".join(bytes(each) for each in headers.write_response(answer, correlation_id, key, version))


def sent(connection: ClientConnection, count: int = 1) -> None:
    for _ in range(count):
        connection.send(MetadataRequest(topics=[]), VERSION)


def test_requests_have_ascending_correlation_ids_and_the_client_id() -> None:
    connection = ClientConnection("me")
    frames = [b"".join(map(bytes, connection.send(MetadataRequest(topics=[]), VERSION))) for _ in range(3)]
    heads = [headers.read_request_header(frame[4:]) for frame in frames]
    assert [(head.correlation_id, head.client_id) for head in heads] == [(0, "me"), (1, "me"), (2, "me")]


def test_responses_belong_to_the_requests_in_their_order() -> None:
    connection = ClientConnection("me")
    connection.send(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4)
    sent(connection)
    versions = frame_of(ApiVersionsResponse(error_code=7), 0, ApiKeys.API_VERSIONS, 4)
    first = connection.receive(versions[4:])
    second = connection.receive(frame_of(MetadataResponse(controller_id=3), 1)[4:])
    assert isinstance(first, ApiVersionsResponse)
    assert first.error_code == 7
    assert isinstance(second, MetadataResponse)
    assert second.controller_id == 3
    assert not connection.in_flight


def test_a_request_without_a_response_is_not_waited_for() -> None:
    connection = ClientConnection("me")
    sent(connection, 2)
    connection.forget()
    assert len(connection.in_flight) == 1


def test_a_response_may_arrive_in_any_slices() -> None:
    whole = frame_of(MetadataResponse(controller_id=3), 0)
    for cut in range(1, len(whole)):
        connection = ClientConnection("me")
        sent(connection)
        assert connection.feed(whole[:cut]) is None
        answer = connection.feed(whole[cut:])
        assert isinstance(answer, MetadataResponse)
        assert answer.controller_id == 3


WHOLE = frame_of(MetadataResponse(controller_id=3), 0)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (frame_of(MetadataResponse(), 5), "its answer to Metadata has the correlation id 5 instead of 0"),
        (WHOLE + b"\0", "it sends more than it was asked for"),
        (WHOLE + WHOLE, "it sends more than it was asked for"),
        (b"\0\0\0\5" + bytes(5), "its answer to Metadata version 12 cannot be read: "),
        (b"\xff" * 8, "it sends a frame of -1 bytes"),
        ((1001).to_bytes(4, "big"), "it sends a frame of 1001 bytes where 1000 are allowed"),
    ],
)
def test_bytes_that_are_no_response_make_the_peer_a_bad_one(data: bytes, problem: str) -> None:
    connection = ClientConnection("me", max_frame=1000)
    sent(connection)
    with pytest.raises(BadPeer, match=problem):
        connection.feed(data)


def test_a_response_with_too_many_elements_is_not_decoded() -> None:
    of = MetadataResponse
    topics = [of.MetadataResponseTopic(name="t") for _ in range(20)]
    connection = ClientConnection("me", most_elements=19)
    sent(connection)
    with pytest.raises(BadPeer, match="cannot be read: more than 19 elements"):
        connection.feed(frame_of(of(topics=topics), 0))
