"""A record as a value."""

import pytest

from kafkadouble.wire.batch import Record


def test_equality_is_by_value() -> None:
    record = Record(1, 2, b"k", b"v", (("h", None),))
    assert record == Record(1, 2, b"k", b"v", (("h", None),))
    others = [
        Record(0, 2, b"k", b"v", record.headers),
        Record(1, 0, b"k", b"v", record.headers),
        Record(1, 2, None, b"v", record.headers),
    ]
    others += [
        Record(1, 2, b"k", b"", record.headers),
        Record(1, 2, b"k", b"v"),
        Record(1, 2, b"k", b"v", (("h", b""),)),
    ]
    assert all(record != other for other in others)
    assert record != (1, 2, b"k", b"v", ())


def test_record_is_mutable_and_not_hashable() -> None:
    with pytest.raises(TypeError):
        hash(Record(0, 0, None, None))


def test_repr_is_a_bounded_sentence() -> None:
    assert repr(Record(7, 1000, None, b"value")) == "Record(7 at 1000: None -> b'value')"
    long = repr(Record(7, 1000, bytes(10**6), b"v" * 33, tuple(("name" * 1000, None) for _ in range(1000))))
    assert long.endswith("... (33 bytes), 1000 headers)")
    assert len(long) < 300
