"""Bytes that are cut off, changed or made up: reading raises only WireError, with a position, and
needs memory only in proportion to the bytes."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from kafkadouble.messages import FetchRequest, FetchResponse, MetadataRequest, MetadataResponse, ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.trace import trace
from kafkadouble.wire.errors import (
    BadLength,
    BadVarint,
    TrailingBytes,
    Truncated,
    UnknownMessage,
    UsageError,
    WireError,
)

from .making import Maker, every_version

SEED = 20261122


def refused(cls: type[Message], wire: bytes, version: int) -> WireError:
    """The error of bytes that cannot be read. Asserts that the slow pass found the position of the
    damage."""
    with pytest.raises(WireError) as caught:
        cls.decode(wire, version)
    error = caught.value
    assert 0 <= error.offset <= len(wire), error
    if not isinstance(error, TrailingBytes):
        assert error.path.startswith(cls.__name__), error
        assert "cannot be read" not in error.problem, error
    return error


def test_every_cut_of_every_message_is_refused() -> None:
    dice = random.Random(SEED)
    for cls, version in every_version():
        wire = Maker((SEED, cls.__name__, version), longest=3).message(cls, version).encode(version)
        cuts = {0, 1, len(wire) // 2, len(wire) - 1, *(dice.randrange(len(wire) + 1) for _ in range(4))}
        for cut in cuts & set(range(len(wire))):
            refused(cls, wire[:cut], version)


def test_a_byte_too_many_is_refused() -> None:
    for cls, version in every_version():
        wire = cls().encode(version)
        error = refused(cls, wire + b"\0", version)
        assert isinstance(error, TrailingBytes)
        assert error.offset == len(wire)


def test_changed_bytes_are_read_or_refused_and_nothing_else() -> None:
    """Whatever is read after a change must agree with the slow pass, and can be written again."""
    dice = random.Random(SEED)
    read = refusals = 0
    for cls, version in every_version():
        wire = bytearray(Maker((SEED, cls.__name__, version), longest=3).message(cls, version).encode(version))
        for _ in range(8 if wire else 0):
            changed = bytearray(wire)
            for _ in range(dice.choice((1, 1, 3))):
                changed[dice.randrange(len(changed))] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
            try:
                message = cls.decode(bytes(changed), version)
            except WireError:
                refused(cls, bytes(changed), version)
                refusals += 1
            else:
                assert trace(cls, bytes(changed), version)[1] is None
                assert cls.decode(message.encode(version), version).encode(version) == message.encode(version)
                read += 1
    assert read > 500
    assert refusals > 500


def test_random_bytes_are_refused_or_decoded() -> None:
    dice = random.Random(SEED)
    for cls, version in every_version():
        for size in (1, 7, 40):
            noise = dice.randbytes(size)
            try:
                cls.decode(noise, version)
            except WireError:
                refused(cls, noise, version)


@pytest.mark.parametrize(
    ("cls", "version", "wire"),
    [
        (MetadataRequest, 1, "7fffffff"),
        (MetadataRequest, 9, "ffffffff07"),
        (MetadataRequest, 9, "ffffffff0f"),
        (FetchResponse, 4, "00000000 7fffffff"),
        (FetchResponse, 12, "00000000 0000 00000000 ffffffff07"),
        (FetchRequest, 12, "ffffffff" * 3 + "00000000 00" + "00000000" * 2 + "01 02 02 61 ffffffff07"),
        (MetadataResponse, 9, "00000000 ffffffff07 00"),
        (MetadataResponse, 5, "00000000 7ffffff0 00000000"),
    ],
)
def test_array_length_of_a_request_allocates_nothing(cls: type[Message], version: int, wire: str) -> None:
    body = bytes.fromhex(wire)
    refused(cls, body, version)
    tracemalloc.start()
    with pytest.raises(WireError):
        cls.decode(body, version)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000


def test_a_count_is_held_against_the_bytes_that_remain() -> None:
    error = refused(MetadataRequest, bytes.fromhex("00000080") + b"\0\0", 1)
    assert isinstance(error, BadLength)
    assert str(error) == "128 elements are announced, 2 bytes remain at byte 0 in MetadataRequest.topics"
    assert refused(MetadataRequest, bytes.fromhex("00000003") + b"\0\0", 1).path == "MetadataRequest.topics"


def test_a_string_is_bounded_also_where_its_length_is_a_varint() -> None:
    longest = FetchRequest(rack_id="x" * 32767)
    assert FetchRequest.decode(longest.encode(12), 12) == longest
    with pytest.raises(UsageError, match="rack_id has 32768 bytes, a string has 32767 at most"):
        FetchRequest(rack_id="x" * 32768).encode(12)
    wire = FetchRequest(rack_id="x" * 200).encode(12)
    at = wire.index(b"\xc9\x01" + b"x")
    error = refused(FetchRequest, wire[:at] + b"\x81\x80\x02" + b"x" * 32768 + b"\0", 12)
    assert isinstance(error, BadLength)
    assert error.path == "FetchRequest.rack_id"


def test_a_varint_ends_after_five_bytes() -> None:
    head = FetchRequest().encode(12)[:-4]
    for bad in ("ffffffffff7f", "ffffffff7f", "ffffffff10"):
        error = refused(FetchRequest, head + bytes.fromhex(bad), 12)
        assert isinstance(error, BadVarint), bad
    assert isinstance(refused(FetchRequest, head + b"\xff\xff", 12), Truncated)


def test_a_long_varint_for_a_small_number_is_read() -> None:
    """Kafka accepts 0x80 0x00 for zero and 0x81 0x00 for one."""
    wire = MetadataRequest(topics=None, allow_auto_topic_creation=True).encode(9)
    assert wire[0] == 0
    assert MetadataRequest.decode(b"\x80\x00" + wire[1:], 9).topics is None
    assert MetadataRequest.decode(b"\x81\x80\x00" + wire[1:], 9).topics == []


def test_string_that_is_not_utf8_is_refused_with_its_path() -> None:
    wire = FetchRequest(rack_id="abc").encode(11)
    error = refused(FetchRequest, wire[:-1] + b"\xff", 11)
    assert type(error).__name__ == "BadText"
    assert (error.offset, error.path) == (len(wire) - 1, "FetchRequest.rack_id")


def test_the_place_is_counted_from_the_start_of_the_buffer() -> None:
    with pytest.raises(Truncated, match=r"at byte 13 in FetchRequest.max_wait_ms"):
        FetchRequest.decode(bytes(13), 12, offset=9)


def test_a_path_names_the_elements() -> None:
    partitions = [FetchRequest.FetchPartition(partition=index) for index in range(3)]
    topics = [FetchRequest.FetchTopic(topic="a"), FetchRequest.FetchTopic(topic="b", partitions=partitions)]
    wire = FetchRequest(topics=topics).encode(4)
    assert refused(FetchRequest, wire[:-3], 4).path == "FetchRequest.topics[1].partitions[2].partition_max_bytes"


def test_a_version_that_is_not_there() -> None:
    for version in (3, 19, -1, None):
        with pytest.raises(UnknownMessage, match="FetchRequest has no version"):
            FetchRequest.decode(b"", version)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(UsageError, match="FetchRequest has no version 3: it has 4 to 18"):
        FetchRequest().encode(3)
    with pytest.raises(UsageError, match="offset -1 is negative"):
        FetchRequest.decode(b"", 4, offset=-1)
    with pytest.raises(Truncated):
        FetchRequest.decode(b"", 4, offset=5)


def test_records_that_end_too_early() -> None:
    data = ProduceRequest.PartitionProduceData(index=1, records=b"x" * 50)
    topic = ProduceRequest.TopicProduceData(name="t", partition_data=[data])
    wire = ProduceRequest(topic_data=[topic]).encode(8)
    error = refused(ProduceRequest, wire[:-10], 8)
    assert error.path == "ProduceRequest.topic_data[0].partition_data[0].records"
    assert error.problem == "the bytes end too early: 50 bytes are needed, 40 remain"
