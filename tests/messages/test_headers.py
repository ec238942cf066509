"""Request and response headers: the hand-written codec compared with the generated header messages,
and with bytes worked out here."""

from __future__ import annotations

import random

import pytest

from kafkadouble.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    ProduceRequest,
    RequestHeader,
    ResponseHeader,
    SaslHandshakeRequest,
    headers,
    registry,
)
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.wire.errors import Truncated, UnknownMessage, UsageError, WireError


def test_a_request_header_by_hand() -> None:
    frame = bytes.fromhex("0003 0009 00000007 0005 636c693031 00 00 00 00 00".replace(" ", ""))
    head = headers.read_request_header(frame)
    assert (head.api_key, head.api_version, head.correlation_id, head.client_id, head.body_offset) == (
        3,
        9,
        7,
        "cli01",
        16,
    )
    assert repr(head) == "RequestHead(Metadata version 9, correlation 7, client 'cli01')"


def test_the_header_may_stand_behind_something() -> None:
    frame = b"\0" * 7 + bytes.fromhex("0003 0001 00000007 ffff ffffffff".replace(" ", ""))
    head = headers.read_request_header(frame, 7)
    assert (head.client_id, head.body_offset) == ("", 17)
    assert MetadataRequest.decode(frame, 1, head.body_offset).topics is None


def test_every_api_and_version_against_the_header_messages() -> None:
    dice = random.Random(20261125)
    for api in registry.apis():
        for version in range(api.versions[0], api.versions[1] + 1):
            correlation, client = dice.randint(-(2**31), 2**31 - 1), dice.choice((None, "", "me", "ü" * 100))
            frame = b"".join(headers.write_request(api.request(), correlation, client, version))
            assert int.from_bytes(frame[:4], "big") == len(frame) - 4
            sent = (api.key, version, correlation)
            read, end = RequestHeader.read(frame, api.request_header_version(version), 4)
            assert (read.request_api_key, read.request_api_version, read.correlation_id) == sent
            assert read.client_id == client
            head = headers.read_request_header(frame, 4)
            assert (head.api_key, head.api_version, head.correlation_id) == sent
            assert (head.client_id, head.body_offset) == (client or "", end)
            assert api.request.decode(frame, version, end) == api.request()

            frame = b"".join(headers.write_response(api.response(), correlation, api.key, version))
            assert int.from_bytes(frame[:4], "big") == len(frame) - 4
            answer, end = ResponseHeader.read(frame, api.response_header_version(version), 4)
            assert answer.correlation_id == correlation
            assert headers.read_response(frame[4:], api.key, version) == (correlation, api.response())
            assert api.response.decode(frame, version, end) == api.response()


def test_tags_in_a_header_are_survived() -> None:
    frame = RequestHeader(
        request_api_key=ApiKeys.FETCH,
        request_api_version=12,
        client_id="x",
        unknown_tagged_fields={3: b"abc", 200: b""},
    ).encode(2)
    head = headers.read_request_header(frame + b"body")
    assert head.body_offset == len(frame)
    answer = ResponseHeader(correlation_id=9, unknown_tagged_fields={0: b"zzz"}).encode(1) + FetchResponse().encode(12)
    assert headers.read_response(answer, ApiKeys.FETCH, 12) == (9, FetchResponse())


def test_an_unknown_key_still_shows_what_can_be_read() -> None:
    with pytest.raises(UnknownMessage, match="no API has the key 4242") as caught:
        headers.read_request_header(bytes.fromhex("1092 0003 0000000b 0001 61".replace(" ", "")))
    error = caught.value
    assert isinstance(error, headers.UnknownRequest)
    assert (error.api_key, error.api_version, error.correlation_id) == (4242, 3, 11)


def test_a_version_that_the_api_does_not_have_is_read_as_kafka_reads_it() -> None:
    """The header of an ApiVersions request of a future version is readable, so that a broker can
    answer it in version 0 (KIP-511)."""
    frame = (
        RequestHeader(
            request_api_key=ApiKeys.API_VERSIONS, request_api_version=99, correlation_id=5, client_id="new"
        ).encode(2)
        + b"whatever"
    )
    head = headers.read_request_header(frame)
    assert (head.api_version, head.correlation_id, head.client_id) == (99, 5, "new")
    assert not registry.api(ApiKeys.API_VERSIONS).has_version(head.api_version)
    assert headers.read_request_header(bytes.fromhex("0007 0000 00000001 ffff".replace(" ", ""))).api_key == 7


def test_every_cut_of_a_header_is_refused() -> None:
    frame = RequestHeader(
        request_api_key=ApiKeys.FETCH, request_api_version=12, client_id="abc", unknown_tagged_fields={3: b"abc"}
    ).encode(2)
    for cut in range(len(frame)):
        with pytest.raises(WireError) as caught:
            headers.read_request_header(frame[:cut])
        assert caught.value.path.startswith("RequestHeader"), cut
    answer = ResponseHeader(correlation_id=9).encode(1)
    for cut in range(len(answer)):
        with pytest.raises(Truncated):
            headers.read_response(answer[:cut], ApiKeys.FETCH, 12)


def test_noise_is_a_header_or_a_wire_error() -> None:
    dice = random.Random(20261126)
    for _ in range(3000):
        noise = bytes((0, dice.randrange(100), 0, dice.randrange(20))) + dice.randbytes(dice.randrange(40))
        try:
            head = headers.read_request_header(noise)
        except WireError:
            continue
        assert head.body_offset <= len(noise)


def test_a_client_id_that_is_not_utf8_is_survived() -> None:
    head = headers.read_request_header(bytes.fromhex("0001 0004 00000001 0002 ff61".replace(" ", "")))
    assert head.client_id == "\ufffda"


def test_an_old_answer_to_api_versions_is_understood() -> None:
    """A broker that does not have the version answers in version 0 with error 35 (KIP-511)."""
    old = ApiVersionsResponse(
        error_code=35, api_keys=[ApiVersionsResponse.ApiVersion(api_key=ApiKeys.API_VERSIONS, max_version=2)]
    )
    frame = b"".join(headers.write_response(old, 3, 18, 0))[4:]
    assert headers.read_response(frame, ApiKeys.API_VERSIONS, 4) == (3, old)
    with pytest.raises(WireError):
        headers.read_response(frame[:-1], ApiKeys.API_VERSIONS, 4)
    with pytest.raises(WireError):
        headers.read_response(frame + b"x", ApiKeys.API_VERSIONS, 0)


def test_large_bytes_stay_their_own_buffer() -> None:
    records = bytes(50_000)
    data = ProduceRequest.PartitionProduceData(index=1, records=records)
    request = ProduceRequest(topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[data])])
    buffers = headers.write_request(request, 1, "me", 9)
    assert len(buffers) == 3
    assert buffers[1] is records


def test_unwritable_header_is_refused() -> None:
    with pytest.raises(UsageError, match="header does not fit"):
        headers.write_request(FetchRequest(), 1 << 31, "me", 12)
    with pytest.raises(UsageError, match="header does not fit"):
        headers.write_request(FetchRequest(), 1, "x" * 40_000, 12)
    with pytest.raises(UsageError, match="header does not fit"):
        headers.write_response(FetchResponse(), 1 << 31, 1, 12)
    with pytest.raises(UsageError, match="FetchResponse is not a request"):
        headers.write_request(FetchResponse(), 1, "me", 12)
    with pytest.raises(UsageError, match="has no version 99"):
        headers.write_request(ApiVersionsRequest(), 1, "me", 99)
    with pytest.raises(UnknownMessage):
        headers.write_response(FetchResponse(), 1, 4242, 12)


def test_a_request_that_is_never_flexible() -> None:
    frame = b"".join(headers.write_request(SaslHandshakeRequest(mechanism="PLAIN"), 4, None, 1))
    assert frame.hex() == "00000011" + "0011" + "0001" + "00000004" + "ffff" + "0005" + b"PLAIN".hex()
