"""Decodes records as text, as JSON, by header, and with functions of the user. An error names the
topic, partition and offset of the record."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble import KafkaDouble, ReadRecord, UsageError


def record(value: bytes | None, key: bytes | None = b"k", headers: Any = ()) -> ReadRecord:
    return ReadRecord("orders", 2, 7, 0, key, value, headers)


def test_decoded_record_is_a_tuple_with_named_fields() -> None:
    decoded = record(b"v", headers=(("a", b"1"),))
    assert decoded == ("orders", 2, 7, 0, b"k", b"v", (("a", b"1"),))
    assert ReadRecord._fields == ("topic", "partition", "offset", "timestamp", "key", "value", "headers")


def test_text_and_json_return_the_decoded_value() -> None:
    assert record("zwölf".encode()).text() == "zwölf"
    assert record(b'{"id": 42, "items": [null]}').json() == {"id": 42, "items": [None]}
    assert record(b"null").json() is None


def test_decoders_return_none_for_a_tombstone() -> None:
    tombstone = record(None, key=None)
    assert (tombstone.text(), tombstone.json(), tombstone.decode(int), tombstone.decode_key(int)) == (None,) * 4


def test_header_returns_the_last_value_of_a_repeated_name() -> None:
    decoded = record(b"", headers=[("trace", b"1"), ("other", b"2"), ("trace", b"3"), ("empty", b"")])
    assert (decoded.header("trace"), decoded.header("empty"), decoded.header("Trace")) == (b"3", b"", None)


def test_header_returns_none_if_the_last_value_is_null() -> None:
    assert record(b"", headers=[("trace", b"1"), ("trace", None)]).header("trace") is None


def test_decode_and_decode_key_call_the_given_function() -> None:
    decoded = record(b"12", key=b"7")
    assert (decoded.decode(int), decoded.decode_key(int)) == (12, 7)


def test_decode_error_names_topic_partition_and_offset() -> None:
    with pytest.raises(UsageError, match=r"^orders-2@7: the value is not JSON: JSONDecodeError: .*; it is b'\{'$"):
        record(b"{").json()
    with pytest.raises(UsageError, match=r"orders-2@7: the value is not text: UnicodeDecodeError: "):
        record(b"\xff").text()
    with pytest.raises(
        UsageError, match=r"orders-2@7: the key is not what int reads: ValueError: .*; it is b'k'"
    ) as failed:
        record(b"1").decode_key(int)
    assert isinstance(failed.value.__cause__, ValueError)
    with pytest.raises(UsageError, match=rf"it is b'{'x' * 40}'\.\.\.$"):
        record(b"x" * 10_000).json()


def test_record_of_a_double_decodes_json_and_header() -> None:
    with KafkaDouble() as kafka:
        kafka.produce("orders", '{"id": 42}', headers={"trace": "abc"})
        (decoded,) = kafka.records("orders")
        assert (decoded.json(), decoded.header("trace")) == ({"id": 42}, b"abc")
