"""The decoders of a record: text, JSON, headers, and functions of the user; an error names the
record."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble import KafkaDouble, ReadRecord, UsageError


def record(value: bytes | None, key: bytes | None = b"k", headers: Any = ()) -> ReadRecord:
    return ReadRecord("orders", 2, 7, 0, key, value, headers)


def test_decoded_record_is_a_tuple_with_named_fields() -> None:
    found = record(b"v", headers=(("a", b"1"),))
    assert found == ("orders", 2, 7, 0, b"k", b"v", (("a", b"1"),))
    assert ReadRecord._fields == ("topic", "partition", "offset", "timestamp", "key", "value", "headers")


def test_decoded_record_as_text_and_json() -> None:
    assert record("zwölf".encode()).text() == "zwölf"
    assert record(b'{"id": 42, "items": [null]}').json() == {"id": 42, "items": [None]}
    assert record(b"null").json() is None


def test_a_tombstone_has_no_value_in_any_form() -> None:
    tombstone = record(None, key=None)
    assert (tombstone.text(), tombstone.json(), tombstone.decode(int), tombstone.decode_key(int)) == (None,) * 4


def test_the_last_header_of_a_name_counts() -> None:
    found = record(b"", headers=[("trace", b"1"), ("other", b"2"), ("trace", b"3"), ("empty", b"")])
    assert (found.header("trace"), found.header("empty"), found.header("Trace")) == (b"3", b"", None)


def test_a_null_header_that_comes_last_counts() -> None:
    assert record(b"", headers=[("trace", b"1"), ("trace", None)]).header("trace") is None


def test_functions_of_the_user() -> None:
    found = record(b"12", key=b"7")
    assert (found.decode(int), found.decode_key(int)) == (12, 7)


def test_an_error_names_the_record() -> None:
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


def test_records_of_a_double() -> None:
    with KafkaDouble() as kafka:
        kafka.produce("orders", '{"id": 42}', headers={"trace": "abc"})
        (found,) = kafka.records("orders")
        assert (found.json(), found.header("trace")) == ({"id": 42}, b"abc")
