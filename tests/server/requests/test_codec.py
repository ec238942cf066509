"""The codec between frames and requests: what it reads, why it refuses, what it cuts."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.requests.bounds import MOST_ELEMENTS
from kafkadouble.server.requests.codec import (
    MalformedRequest,
    UnsupportedVersion,
    read_head,
    read_request,
    served_api,
    write_response,
)
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.wire.errors import UsageError
from tests.server.harness import NOW
from tests.support.listeners import BROKER

PEER = Peer(1, "a", 1, BROKER)
SIZE_FIELD = 4


def frame_of(body: Message, version: int) -> bytes:
    return b"".join(headers.write_request(body, 5, "app", version))[SIZE_FIELD:]


def read(frame: bytes) -> Request[MetadataRequest]:
    head = read_head(frame)
    return read_request(frame, head, served_api(head, SERVED), PEER, NOW)


def test_a_request_has_the_fields_of_its_frame() -> None:
    frame = frame_of(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t")]), 9)
    found = read(frame + b"ignored")
    assert (found.api_key, found.version, found.correlation_id, found.client_id) == (3, 9, 5, "app")
    assert (found.size, found.received, found.peer) == (len(frame) + 7, NOW, PEER)
    assert [topic.name for topic in found.body.topics or ()] == ["t"]


@pytest.mark.parametrize(
    ("frame", "reason", "has_head"),
    [
        (b"\0", "sent a header that cannot be read: ", False),
        (frame_of(MetadataRequest(topics=[]), 9)[:-3], "'app') sent a request Metadata version 9 that cannot", True),
        (frame_of(MetadataRequest(topics=[]), 9)[:-4] + b"\xff" * 3, "that cannot be read", True),
    ],
)
def test_malformed_request_names_its_error(frame: bytes, reason: str, has_head: bool) -> None:
    with pytest.raises(MalformedRequest) as found:
        read(frame)
    assert reason in found.value.reason
    assert (found.value.head is not None) == has_head


@pytest.mark.parametrize(("key", "version"), [(3, 999), (59, 0)])
def test_an_api_or_version_that_is_not_served_has_an_error_of_its_own(key: int, version: int) -> None:
    """Version 999 of Metadata, and FetchSnapshot, which only controllers serve."""
    rest = frame_of(MetadataRequest(topics=[]), 9)[4:]
    head = read_head(key.to_bytes(2) + version.to_bytes(2) + rest)
    with pytest.raises(UnsupportedVersion, match="sent a request") as found:
        served_api(head, SERVED)
    assert found.value.head is head


def test_request_with_too_many_elements_is_refused_before_decoding() -> None:
    topics = [MetadataRequest.MetadataRequestTopic(name="")] * (MOST_ELEMENTS + 1)
    with pytest.raises(MalformedRequest, match=f"of more than {MOST_ELEMENTS} elements"):
        read(frame_of(MetadataRequest(topics=topics), 9))


def test_a_text_that_is_too_long_for_the_wire_is_cut() -> None:
    result = CreateTopicsResponse.CreatableTopicResult(
        name="t", error_code=error_codes.INVALID_REQUEST, error_message="x" * 40_000
    )
    request: Request[CreateTopicsRequest] = Request(19, 4, 5, "app", CreateTopicsRequest(), PEER, NOW, 0)
    frame = b"".join(write_response(request, CreateTopicsResponse(topics=[result])))[SIZE_FIELD:]
    correlation_id, found = headers.read_response(frame, 19, 4)
    assert isinstance(found, CreateTopicsResponse)
    assert correlation_id == 5
    assert len(found.topics[0].error_message or "") < 40_000


def test_response_that_cannot_be_encoded_is_a_usage_error() -> None:
    result = CreateTopicsResponse.CreatableTopicResult(name="t", error_code=1 << 20)
    request: Request[CreateTopicsRequest] = Request(19, 4, 5, "app", CreateTopicsRequest(), PEER, NOW, 0)
    with pytest.raises(UsageError):
        write_response(request, CreateTopicsResponse(topics=[result]))
