"""Records of Kafka's own topics: the frames of metadata records, and the version prefixes of
coordinator records."""

from __future__ import annotations

import pytest

from kafkadouble.messages import (
    FetchRequest,
    GroupMetadataKey,
    OffsetCommitKey,
    OffsetCommitValue,
    RegisterBrokerRecord,
    RemoteLogSegmentMetadataRecord,
    TopicRecord,
    TransactionLogKey,
    TransactionLogValue,
    coordinator,
    framed,
    registry,
)
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import TrailingBytes, Truncated, UnknownMessage, UsageError, WireError

from .making import Maker


def test_a_metadata_record_by_hand() -> None:
    record = TopicRecord(name="orders", topic_id=Uuid(bytes(range(16))))
    wire = "01 02 00" + "07 6f7264657273" + "000102030405060708090a0b0c0d0e0f" + "00"
    assert framed.encode_record(record, 0).hex() == wire.replace(" ", "")
    assert framed.decode_record(bytes.fromhex(wire)) == (record, 0)


def test_every_metadata_record_in_every_version() -> None:
    for family in ("metadata", "storage"):
        for entry in registry.entries("metadata", family):
            for version in range(entry.versions[0], entry.versions[1] + 1):
                message = Maker((entry.name, version), longest=3).message(entry.message, version)
                assert framed.decode_record(framed.encode_record(message, version), family) == (message, version)


def test_the_families_number_their_records_each_on_their_own() -> None:
    wire = framed.encode_record(RemoteLogSegmentMetadataRecord(), 0)
    assert isinstance(framed.decode_record(wire, "storage")[0], RemoteLogSegmentMetadataRecord)
    assert wire[1] == RegisterBrokerRecord.api_key


@pytest.mark.parametrize(
    ("wire", "kind", "problem"),
    [
        ("", Truncated, "the bytes end inside the frame at byte 0 in frame version"),
        ("01", Truncated, "the bytes end inside the frame at byte 1 in type"),
        ("01 02", Truncated, "the bytes end inside the frame at byte 2 in version"),
        ("00 02 00", WireError, "frame version 0 is not 1"),
        ("02 02 00", WireError, "frame version 2 is not 1"),
        ("01 7f 00", UnknownMessage, "no metadata record has the type 127"),
        ("01 80 80 04 00", WireError, "65536 is too large at byte 1 in type"),
        ("01 02 09", UnknownMessage, "TopicRecord has no version 9"),
        ("01 02 00 02 61", Truncated, "in TopicRecord.topic_id"),
        ("01 02 00 01 " + "00" * 16 + "00 00", TrailingBytes, "1 bytes are left after TopicRecord"),
    ],
)
def test_a_frame_that_cannot_be_read(wire: str, kind: type[WireError], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        framed.decode_record(bytes.fromhex(wire))


def test_only_metadata_records_are_framed() -> None:
    with pytest.raises(UsageError, match="FetchRequest is not a metadata record"):
        framed.encode_record(FetchRequest(), 12)


def test_a_coordinator_record_by_hand() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=3)
    wire = bytes.fromhex("0001 0001 67 0001 74 00000003".replace(" ", ""))
    assert coordinator.encode_key(key) == wire
    assert coordinator.decode_key(wire, "group_coordinator") == key
    value = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=9)
    data = coordinator.encode_value(value, 3)
    assert data.hex() == "0003" + "0000000000000005" + "ffffffff" + "0001" + "6d" + "0000000000000009"
    assert coordinator.decode_value(data, key) == (value, 3)


def test_every_coordinator_record() -> None:
    seen = 0
    for topic, family in coordinator.FAMILIES.items():
        assert topic.startswith("__")
        for entry in registry.entries("coordinator-key", family):
            key = Maker(entry.name).message(entry.message, 0)
            wire = coordinator.encode_key(key)
            assert int.from_bytes(wire[:2], "big") == entry.api_key
            assert coordinator.decode_key(wire, family) == key
            values = coordinator.value_class(key)
            assert values.__name__ == entry.name.removesuffix("Key") + "Value"
            assert values.api_key == entry.api_key
            for version in range(values.versions[0], values.versions[1] + 1):
                value = Maker((entry.name, version), longest=3).message(values, version)
                assert coordinator.decode_value(coordinator.encode_value(value, version), key) == (value, version)
            seen += 1
    assert seen == 25


def test_coordinator_records_that_cannot_be_read() -> None:
    key = GroupMetadataKey(group="g")
    with pytest.raises(UnknownMessage, match="the group_coordinator has no record of type 99"):
        coordinator.decode_key(bytes.fromhex("0063"), "group_coordinator")
    with pytest.raises(UnknownMessage, match="the transaction_coordinator has no record of type 1"):
        coordinator.decode_key(bytes.fromhex("0001"), "transaction_coordinator")
    with pytest.raises(Truncated, match="inside the prefix"):
        coordinator.decode_key(b"\0", "group_coordinator")
    with pytest.raises(UnknownMessage, match="GroupMetadataValue has no version 9"):
        coordinator.decode_value(bytes.fromhex("0009"), key)
    with pytest.raises(Truncated, match=r"GroupMetadataKey\.group"):
        coordinator.decode_key(bytes.fromhex("0002 0005 61".replace(" ", "")), "group_coordinator")
    with pytest.raises(TrailingBytes):
        coordinator.decode_key(coordinator.encode_key(key) + b"x", "group_coordinator")


def test_only_keys_and_values_have_prefixes() -> None:
    with pytest.raises(UsageError, match="TransactionLogValue is not the key"):
        coordinator.encode_key(TransactionLogValue())
    with pytest.raises(UsageError, match="TransactionLogKey is not the value"):
        coordinator.encode_value(TransactionLogKey(), 0)
