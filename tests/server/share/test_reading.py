"""What a share fetch reads: where a group begins, transactions, and bytes (KIP-932)."""

from __future__ import annotations

import pytest

from kafkadouble.server.log.transactions import AbortedTransaction
from kafkadouble.server.share.aborted_records import aborted_batches, archive_aborted
from kafkadouble.server.share.acquisition import AcquiredRecords, ShareAcquireMode
from kafkadouble.server.share.auto_offset_reset import duration_ms
from kafkadouble.server.share.delayed_share_fetch import DelayedShareFetch, ShareFetchParams
from kafkadouble.server.share.fetched_batches import FetchedBatches
from kafkadouble.server.share.in_flight_records import InFlightRecords
from kafkadouble.server.share.record_state import ACQUIRED, ARCHIVED
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.batch_header import CONTROL_FLAG, TRANSACTIONAL_FLAG
from kafkadouble.wire.record import Record
from tests.server.harness import Harness

from .shapes import header, states, take


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("PT1S", 1_000),
        ("PT0.5S", 500),
        ("pt1,25s", 1_250),
        ("P1D", 86_400_000),
        ("P2DT3H4M5S", 183_845_000),
        ("PT+10M", 600_000),
    ],
)
def test_reset_duration_of_a_share_group_is_parsed(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


def batches(*ranges: tuple[int, int]) -> bytes:
    """Record batches with these offsets."""
    return b"".join(
        bytes(encode_batch([Record(offset, 0, None, b"x") for offset in range(first, last + 1)], base_offset=first))
        for first, last in ranges
    )


@pytest.mark.parametrize(
    ("acquired", "covered"),
    [
        ([(0, 9)], (0, 4)),
        ([(0, 0)], (0, 1)),
        ([(3, 4)], (1, 2)),
        ([(4, 6)], (1, 3)),
        ([(0, 0), (9, 9)], (0, 4)),
        ([(9, 9)], (3, 4)),
    ],
)
def test_a_response_has_the_batches_of_what_was_acquired(
    acquired: list[tuple[int, int]], covered: tuple[int, int]
) -> None:
    ranges = [(0, 2), (3, 5), (6, 8), (9, 9)]
    fetched = FetchedBatches(batches(*ranges))
    got = fetched.covering([AcquiredRecords(*each, 1) for each in acquired])
    assert bytes(got) == batches(*ranges[slice(*covered)])


def test_the_batches_of_aborted_transactions() -> None:
    """Producer 1 aborts, and commits what follows; producer 2 aborts later."""
    seven = [
        (header(0, 1, 1, TRANSACTIONAL_FLAG), False),
        (header(2, 2, 2, TRANSACTIONAL_FLAG), False),
        (header(3, 3, 3), False),
        (header(4, 4, 1, TRANSACTIONAL_FLAG | CONTROL_FLAG), True),
        (header(5, 6, 1, TRANSACTIONAL_FLAG), False),
        (header(7, 8, 2, TRANSACTIONAL_FLAG), False),
        (header(9, 9), False),
    ]
    transactions = [AbortedTransaction(2, 2, 10, 11), AbortedTransaction(1, 0, 4, 5)]
    assert [batch.base_offset for batch in aborted_batches(seven, transactions)] == [0, 2, 7]


def test_aborted_records_are_archived_and_not_delivered() -> None:
    records = InFlightRecords(0)
    acquired = take(records, (0, 9), (10, 19), size=10)
    left = archive_aborted(records, [header(2, 4), header(8, 11)], acquired)
    assert left == [(0, 1, 1), (5, 7, 1), (12, 19, 1)]
    assert [(first, last) for first, last, state, *_ in states(records) if state is ARCHIVED] == [(2, 4), (8, 11)]
    assert {state for _, _, state, *_ in states(records)} == {ACQUIRED, ARCHIVED}


@pytest.mark.parametrize(
    ("max_bytes", "count", "parts"),
    [(100, 0, []), (100, 1, [100]), (100, 3, [34, 33, 33]), (3, 3, [1, 1, 1]), (2, 3, [1, 1, 0])],
)
def test_each_partition_may_give_the_same_number_of_bytes(max_bytes: int, count: int, parts: list[int]) -> None:
    params = ShareFetchParams("m", 500, 500, ShareAcquireMode.BATCH_OPTIMIZED, 1, max_bytes, False)
    assert DelayedShareFetch(Harness().node, params, [])._max_bytes(count) == parts
