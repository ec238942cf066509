"""The producer's choice of partitions, for columns of keys."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.pipeline.wire.partitioning import Partitioner, murmur2
from kafkadouble.records.partitioner import murmur2 as plain
from kafkadouble.records.partitioner import partition_for


@given(st.lists(st.none() | st.binary(max_size=40), max_size=30), st.integers(0, 3))
def test_a_column_hashes_as_its_keys_do(keys: list[bytes | None], skipped: int) -> None:
    column = pa.array(keys, pa.binary())[skipped:]
    found = murmur2(column).tolist()
    assert [h for h, key in zip(found, keys[skipped:], strict=True) if key is not None] == [
        plain(key) for key in keys[skipped:] if key is not None
    ]


def test_rows_with_a_key_go_where_kafkas_producer_sends_them() -> None:
    keys = [f"key {number}".encode() for number in range(50)]
    chosen = Partitioner(7, 0).choose(pa.array(keys, pa.binary()), None)
    assert chosen.tolist() == [partition_for(key, 7) for key in keys]


def test_rows_without_a_key_stay_together_and_the_next_ones_go_elsewhere() -> None:
    partitioner = Partitioner(3, 0)
    keys = pa.nulls(4, pa.binary())
    turns = [set(partitioner.choose(keys, None).tolist()) for _ in range(4)]
    assert turns == [{1}, {2}, {0}, {1}]


def test_the_partition_of_a_row_overrides_its_key() -> None:
    keys = pa.array([b"a", b"b", None], pa.binary())
    chosen = Partitioner(100, 0).choose(keys, pa.array([5, None, 6], pa.int32()))
    np.testing.assert_array_equal(chosen, [5, partition_for(b"b", 100), 6])
