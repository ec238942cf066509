"""Checks that the rows of a message cover each of its bytes."""

from __future__ import annotations

from kafkadouble.messages import show

SEED = 20260721


def assert_covers(rows: list[show.FieldRow], data: bytes, start: int = 0) -> None:
    """The rows of the first layer are the bytes, one behind the other."""
    for row in rows:
        if row.layer == 0:
            assert row.offset == start
            assert data[row.offset : row.end] == row.bytes
            start = row.end
    assert start == len(data)
