"""How much a micro-batch takes, and which task reads which offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.pipeline.client import TopicPartition
from kafkadouble.pipeline.wire.planning import Admission, OffsetRange, backlog, cut, limited, tasks

A, B, C = (TopicPartition("t", number) for number in range(3))
SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 2000)), max_size=8).map(
    lambda rows: [OffsetRange(TopicPartition("t", at), start, start + size) for at, (start, size) in enumerate(rows)]
)


def test_offsets_of_a_plan_are_in_proportion_to_the_lag() -> None:
    assert limited(100, {A: 0, B: 50, C: 0}, {A: 300, B: 150, C: 0}) == {A: 75, B: 75, C: 0}


def test_a_small_partition_is_not_starved() -> None:
    assert limited(10, {A: 0, B: 0}, {A: 100_000, B: 1}) == {A: 9, B: 1}


def test_a_partition_with_a_lower_end_keeps_that_end() -> None:
    assert limited(10, {A: 0, B: 9}, {A: 5, B: 4}) == {A: 5, B: 4}


@given(SPANS, st.integers(1, 3000))
def test_limited_offsets_advance_and_never_pass_the_end(spans: list[OffsetRange], most: int) -> None:
    start, end = {span.tp: span.start for span in spans}, {span.tp: span.end for span in spans}
    found = limited(most, start, end)
    assert all(start[tp] <= found[tp] <= end[tp] for tp in end)
    assert all(found[tp] > start[tp] for tp in end if end[tp] > start[tp])
    assert backlog(start, found) <= max(most, 0) + len(spans)


@pytest.mark.parametrize(
    ("spans", "least", "sizes"),
    [
        ([1000], 4, [250, 250, 250, 250]),
        ([10], 3, [3, 3, 4]),
        ([5, 500], 6, [5, 100, 100, 100, 100, 100]),
        ([100, 100], 2, [100, 100]),
        ([0, 3], 5, [1, 1, 1]),
        ([7, 7, 7], None, [7, 7, 7]),
    ],
)
def test_large_partitions_are_split_until_there_are_about_enough(
    spans: list[int], least: int | None, sizes: list[int]
) -> None:
    found = tasks([OffsetRange(TopicPartition("t", at), 9, 9 + size) for at, size in enumerate(spans)], least)
    assert [span.size for span in found] == sizes


def test_no_task_is_larger_than_its_limit() -> None:
    assert [s.size for s in tasks([OffsetRange(A, 0, 10), OffsetRange(B, 5, 6)], most=4)] == [3, 3, 4, 1]


@given(SPANS, st.none() | st.integers(1, 40), st.none() | st.integers(1, 700))
def test_tasks_cover_every_offset_once(spans: list[OffsetRange], least: int | None, most: int | None) -> None:
    found = tasks(spans, least, most)
    assert all(span.size > 0 for span in found)
    assert most is None or all(span.size <= most for span in found)
    for span in spans:
        at = span.start
        for piece in (piece for piece in found if piece.tp == span.tp):
            assert piece.start == at
            at = piece.end
        assert at == span.end


def test_a_span_is_cut_evenly() -> None:
    assert [piece.size for piece in cut(OffsetRange(A, 3, 10), 3)] == [2, 2, 3]


def test_a_micro_batch_waits_for_enough_or_long_enough() -> None:
    admission = Admission(100, 1000)
    assert admission.admits(1, now=10_000)  # the first
    assert not admission.admits(99, now=10_500)
    assert admission.admits(100, now=10_600)
    assert not admission.admits(5, now=11_500)
    assert admission.admits(5, now=11_600)
    assert Admission(None, 1000).admits(0, now=0)
