"""Every kind of refusal logs one line: the peer, the client, the API, the version, the byte, the
field."""

from __future__ import annotations

import pytest

from kafkadouble.messages import FetchRequest, MetadataRequest, ProduceRequest, headers
from kafkadouble.messages.message import Message

from .mutations import framed
from .stage import Line, Stage, logged


def header(key: int, version: int, client: bytes = b"me", tags: bytes = b"") -> bytes:
    return key.to_bytes(2) + version.to_bytes(2) + b"\0\0\0\1" + len(client).to_bytes(2) + client + tags


def request(message: Message, version: int) -> bytes:
    return b"".join(headers.write_request(message, 1, "me", version))[4:]


PARTITION = FetchRequest.FetchPartition(partition=1)
FETCH = request(FetchRequest(topics=[FetchRequest.FetchTopic(topic="t", partitions=[PARTITION])]), 11)
PRODUCE = request(
    ProduceRequest(
        topic_data=[
            ProduceRequest.TopicProduceData(
                name="t", partition_data=[ProduceRequest.PartitionProduceData(index=0, records=b"x" * 40)]
            )
        ]
    ),
    9,
)
WHOLE = {
    "unknown key": (
        header(999, 3),
        "(client 'me') sent a request of API key 999 version 3 whose header cannot be read: no API has the key 999 at byte 0 in "
        "RequestHeader.request_api_key",
    ),
    "negative key": (
        header(65535, 0),
        "(client 'me') sent a request of API key -1 version 0 whose header cannot be read: no API has the key -1 at byte 0 in "
        "RequestHeader.request_api_key",
    ),
    "retired key": (
        header(4, 1),
        "(client 'me') sent a request LeaderAndIsr version 1, an API that is not served, at byte 0 in RequestHeader.request_api_key",
    ),
    "key that is not served here": (
        header(52, 0, tags=b"\0"),
        "(client 'me') sent a request Vote version 0, an API that is not served, at byte 0 in RequestHeader.request_api_key",
    ),
    "version too new": (
        header(3, 99, tags=b"\0"),
        "(client 'me') sent a request Metadata version 99; versions 0 to 13 are served, at byte 2 in RequestHeader.request_api_version",
    ),
    "version too old": (
        header(1, 3),
        "(client 'me') sent a request Fetch version 3; versions 4 to 18 are served, at byte 2 in RequestHeader.request_api_version",
    ),
    "short header": (
        b"\0\3\0\1\0",
        "sent a header that cannot be read: the bytes end inside the header at byte 5 in RequestHeader",
    ),
    "nothing": (b"", "sent a header that cannot be read: the bytes end inside the header at byte 0 in RequestHeader"),
    "client id past the end": (
        b"\0\3\0\1\0\0\0\1\0\x20me",
        "(client 'me') sent a request of Metadata version 1 whose header cannot be read: the bytes end inside the client id at byte 10 in "
        "RequestHeader.client_id",
    ),
    "tags of the header": (
        header(3, 9, tags=b"\xff\xff"),
        "(client 'me') sent a request of Metadata version 9 whose header cannot be read: the bytes end inside the header at byte 14 in "
        "RequestHeader",
    ),
    "body cut": (
        FETCH[:-10],
        "(client 'me') sent a request Fetch version 11 that cannot be read: the bytes end too early: 4 bytes are needed, 0 remain at byte "
        f"{len(FETCH) - 10} in FetchRequest.topics[0].partitions[0].partition_max_bytes",
    ),
    "count": (
        header(3, 1) + b"\x7f\xff\xff\xff\0\0",
        "(client 'me') sent a request Metadata version 1 that cannot be read: 2147483647 elements are announced, 2 bytes remain at byte 12 "
        "in MetadataRequest.topics",
    ),
    "text": (
        header(3, 1) + b"\0\0\0\1\0\2a\xff",
        "(client 'me') sent a request Metadata version 1 that cannot be read: not UTF-8: invalid start byte at byte 19 in "
        "MetadataRequest.topics[0].name",
    ),
    "records": (
        PRODUCE[:-20],
        "(client 'me') sent a request Produce version 9 that cannot be read: the bytes end too early: 40 bytes are needed, 23 remain at byte "
        f"{len(PRODUCE) - 43} in ProduceRequest.topic_data[0].partition_data[0].records",
    ),
    "a client with a long and strange name": (
        header(999, 0, b"\n" + b"\x1b[31m" + b"x" * 3000),
        "(client '\\n\\x1b[31m"
        + "x" * 94
        + "...') sent a request of API key 999 version 0 whose header cannot be read: no API has the key "
        "999 at byte 0 in RequestHeader.request_api_key",
    ),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_log_line_names_client_request_and_error(kind: str) -> None:
    frame, expected = WHOLE[kind]
    assert line_for(framed(frame)) == f"203.0.113.9:1 {expected}: closing"


LENGTHS = {
    "negative": (b"\xff\xff\xff\xfe", "a frame of -2 bytes at byte 0"),
    "too large": (b"\x06\x40\0\1", "a frame of 104857601 bytes where 104857600 are allowed at byte 0"),
    "HTTP": (
        b"GET / HTTP/1.1\r\n",
        "a frame of 1195725856 bytes where 104857600 are allowed at byte 0; this looks like HTTP, and Kafka's protocol is another",
    ),
    "TLS": (
        b"\x16\x03\x01\x00\xc8\x01",
        "a frame of 369295616 bytes where 104857600 are allowed at byte 0; this looks like TLS, which this listener does not speak "
        "(security.protocol=SSL or SASL_SSL in the client?)",
    ),
}


@pytest.mark.parametrize("kind", LENGTHS)
def test_a_length_that_cannot_be(kind: str) -> None:
    data, expected = LENGTHS[kind]
    assert line_for(data) == f"203.0.113.9:1 sent bytes that are no request: {expected}: closing"


def test_the_byte_of_a_later_frame_is_counted_from_the_start_of_the_connection() -> None:
    first = framed(request(MetadataRequest(topics=[]), 1))
    assert line_for(first, b"\xff\xff\xff\xff").endswith(f"a frame of -1 bytes at byte {len(first)}: closing")


def test_api_versions_in_a_version_that_is_not_served_is_answered_in_version_0() -> None:
    """KIP-511: the answer is UNSUPPORTED_VERSION, with the versions of ApiVersions itself; no
    connection is closed, and nothing is logged."""
    with logged() as log:
        hostile = Stage(log, seed=1).hostile()
        hostile.line = hostile.connection._line = line = Line(keep=True)
        hostile.connection.receive(framed(header(18, 77, tags=b"\0")), 0)
        assert not line.closed
        assert line.written is not None
        assert line.written[0][4:].startswith(b"\0\0\0\1" + b"\0\x23" + b"\0\0\0\1" + b"\0\x12\0\0\0\5")
        assert log.taken() == []


def line_for(*pieces: bytes) -> str:
    """The log lines for these bytes, which end the connection."""
    with logged() as log:
        hostile = Stage(log, seed=1).hostile()
        for piece in pieces:
            hostile.connection.receive(piece, 0)
        assert hostile.line.closed
        (record,) = log.taken()
        return record.getMessage()
