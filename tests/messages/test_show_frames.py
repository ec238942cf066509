"""Shows whole frames as a line, a tree, a hexdump and JSON; with and without their size, whole and
damaged."""

from __future__ import annotations

import pytest

from kafkadouble.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    FetchResponse,
    MetadataResponse,
    ProduceRequest,
    registry,
    show,
)
from kafkadouble.messages.headers import write_request, write_response
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.errors import BadLength, Truncated, UnknownMessage
from tests.messages.making import Maker
from tests.messages.row_coverage import SEED, assert_covers

HELLO = b"".join(
    write_request(ApiVersionsRequest(client_software_name="kcat", client_software_version="1"), 7, "me", 3)
)


def test_a_request_as_a_line() -> None:
    assert show.frame(HELLO).line() == (
        "ApiVersions request, version 3, 25 bytes, correlation 7, client 'me': "
        "ApiVersionsRequest{ClientSoftwareName='kcat', ClientSoftwareVersion='1'}"
    )
    assert show.frame(HELLO).line(40) == "ApiVersions request, version 3, 25 by..."


def test_a_request_as_a_tree() -> None:
    assert show.frame(HELLO).tree() == (
        "ApiVersions request, version 3, 25 bytes\n"
        "  RequestHeader version 2\n"
        "    RequestApiKey: 18 ApiVersions\n"
        "    RequestApiVersion: 3\n"
        "    CorrelationId: 7\n"
        "    ClientId: 'me'\n"
        "  ApiVersionsRequest version 3\n"
        "    ClientSoftwareName: 'kcat'\n"
        "    ClientSoftwareVersion: '1'"
    )


def test_a_request_as_a_hexdump() -> None:
    assert show.frame(HELLO).hexdump().splitlines() == [
        "00000000  00 00 00 15              size = 21",
        "00000004  00 12                    RequestHeader.request_api_key = 18 ApiVersions",
        "00000006  00 03                    RequestHeader.request_api_version = 3",
        "00000008  00 00 00 07              RequestHeader.correlation_id = 7",
        "0000000c  00 02                    RequestHeader.client_id, length = 2",
        "0000000e  6d 65                    RequestHeader.client_id = 'me'",
        "00000010  00                       RequestHeader, count of tagged fields = 0",
        "00000011  05                       ApiVersionsRequest.client_software_name, length + 1 = 5",
        "00000012  6b 63 61 74              ApiVersionsRequest.client_software_name = 'kcat'",
        "00000016  02                       ApiVersionsRequest.client_software_version, length + 1 = 2",
        "00000017  31                       ApiVersionsRequest.client_software_version = '1'",
        "00000018  00                       ApiVersionsRequest, count of tagged fields = 0",
    ]


def test_a_request_as_json() -> None:
    header = {"requestApiKey": 18, "requestApiVersion": 3, "correlationId": 7, "clientId": "me"}
    body = {"clientSoftwareName": "kcat", "clientSoftwareVersion": "1"}
    assert show.frame(HELLO).json() == {
        "title": "ApiVersions request, version 3",
        "header": {"name": "RequestHeader", "version": 2, "data": header},
        "body": {"name": "ApiVersionsRequest", "version": 3, "data": body},
    }


def test_a_response_as_a_tree() -> None:
    partition = MetadataResponse.MetadataResponsePartition(error_code=5, partition_index=1, leader_id=-1)
    topic = MetadataResponse.MetadataResponseTopic(error_code=999, name=None, partitions=[partition])
    data = b"".join(write_response(MetadataResponse(topics=[topic], cluster_id="c"), 9, 3, 12))
    tree = show.response_frame(data, 3, 12).tree().splitlines()
    assert tree[0] == f"Metadata response, version 12, {len(data)} bytes"
    assert "        ErrorCode: 999 UNKNOWN_CODE_999" in tree
    assert "        Name: null" in tree
    assert "        TopicId: AAAAAAAAAAAAAAAAAAAAAA" in tree
    assert "            ErrorCode: 5 LEADER_NOT_AVAILABLE" in tree
    assert "            ReplicaNodes: []" in tree


def test_every_frame_is_read_back_with_and_without_its_size() -> None:
    for api in registry.apis():
        if api.retired:
            continue
        for version in (api.versions[0], api.versions[1]):
            maker = Maker((SEED, api.key, version), longest=2)
            request = maker.message(api.request, version)
            sized = b"".join(write_request(request, 5, "client", version))
            for data, start in ((sized, 0), (sized[4:], 0), (b"??" + sized, 2)):
                shown = show.frame(data, start)
                assert shown.message == api.request.decode(request.encode(version), version)
                assert (shown.start, shown.end) == (start, len(data))
                assert_covers(list(shown.rows()), data, start)
            response = maker.message(api.response, version)
            sized = b"".join(write_response(response, 5, api.key, version))
            # This also works if the correlation id, 5, happens to equal the size of the rest.
            for data in (sized, sized[4:]):
                shown = show.response_frame(data, api.key, version)
                assert shown.message == api.response.decode(response.encode(version), version)
                assert_covers(list(shown.rows()), data)


def test_a_frame_that_is_cut_off_is_known_by_what_is_left() -> None:
    data = b"".join(write_request(FetchRequest(max_wait_ms=500, rack_id="r"), 7, "me", 12))
    for end in range(8, len(data)):
        shown = show.frame(data[:end])
        assert shown.sized
        assert shown.title == "Fetch request, version 12"
        assert isinstance(shown.error, Truncated)
        assert_covers(list(shown.rows()), data[:end])
        assert shown.tree().splitlines()[-1].startswith("  !! ")
        assert "!! " in shown.line()
        assert shown.json()["broken"]["offset"] <= end


def test_frame_shorter_than_its_size_is_shown_with_the_error() -> None:
    shown = show.frame(b"\0\0\0\x20" + HELLO[4:], sized=True)
    assert isinstance(shown.error, Truncated)
    assert shown.error.offset == len(HELLO)
    assert "lacks 11 bytes" in shown.hexdump()


@pytest.mark.parametrize(("size", "kind"), [(b"\xff\xff\xff\xff", BadLength), (b"\0\0", Truncated)])
def test_frame_with_an_impossible_size_is_shown_with_the_error(size: bytes, kind: type[Exception]) -> None:
    for shown in (show.frame(size, sized=True), show.response_frame(size, 1, 12, sized=True)):
        assert isinstance(shown.error, kind)
        assert_covers(list(shown.rows()), size)


@pytest.mark.parametrize(
    ("head", "title", "expected"),
    [
        ("0001 0063", "Fetch request, version 99", "FetchRequest has no version 99"),
        ("03e7 0001", "API 999 request, version 1", "no API has the key 999"),
        ("0004 0001", "LeaderAndIsr request, version 1", "retired"),
    ],
)
def test_an_unknown_body_is_behind_a_header_that_is_shown(head: str, title: str, expected: str) -> None:
    data = bytes.fromhex(head + "00000007 ffff 00 0102")
    shown = show.frame(data, sized=False)
    assert shown.title == title
    assert isinstance(shown.error, UnknownMessage)
    assert expected in shown.tree()
    assert "CorrelationId: 7" in shown.tree()
    assert "ClientId: null" in shown.tree()
    assert_covers(list(shown.rows()), data)


def test_a_client_id_that_is_no_text_is_no_error_as_for_the_server() -> None:
    data = HELLO.replace(b"me", b"\xff\xfe")
    shown = show.frame(data)
    assert shown.error is None
    assert shown.message is not None
    assert_covers(list(shown.rows()), data)


def test_an_old_answer_to_api_versions_is_read() -> None:
    """A broker that does not know the version answers in version 0 (KIP-511)."""
    data = b"".join(write_response(ApiVersionsResponse(error_code=35), 7, 18, 0))
    shown = show.response_frame(data, 18, 4)
    assert shown.error is None
    assert "ErrorCode: 35 UNSUPPORTED_VERSION" in shown.tree()


def test_places_in_a_frame_count_from_the_first_byte_of_what_was_given() -> None:
    batch = bytearray(encode_batch([Record(0, 5, b"k", b"v")]))
    batch[-1] ^= 1
    partition = ProduceRequest.PartitionProduceData(index=0, records=bytes(batch))
    request = ProduceRequest(topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[partition])])
    data = b"abc" + b"".join(write_request(request, 7, "me", 8))
    shown = show.frame(data, 3)
    assert shown.error is not None
    assert shown.error.path == "ProduceRequest.topic_data[0].partition_data[0].records.batches[0].crc"
    assert shown.error.offset == data.index(bytes(batch)) + 17


def test_a_line_is_bounded_whatever_the_message() -> None:
    partitions = [FetchResponse.PartitionData(partition_index=number, error_code=6) for number in range(50_000)]
    message = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic="x" * 900, partitions=partitions)])
    assert 400 < len(show.line(message)) <= 500
    assert len(show.line(message, 60)) == 60
    assert "ErrorCode=6 NOT_LEADER_OR_FOLLOWER" in show.line(message)
    assert "... 49936 more" in show.tree(message)


def test_a_tree_without_a_version_shows_what_is_not_at_its_default() -> None:
    message = FetchRequest(max_wait_ms=500, cluster_id="c", unknown_tagged_fields={9: b"\1"})
    assert show.tree(message) == ("FetchRequest\n  ClusterId: 'c'\n  MaxWaitMs: 500\n  unknown tag 9: 1 bytes b'\\x01'")
    assert "ClusterId" not in show.tree(message, 11)
