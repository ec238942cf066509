"""Where queries begin and end, by their options alone."""

from __future__ import annotations

import pytest

from kafkadouble.pipeline.client import TopicPartition
from kafkadouble.pipeline.wire import bounds, options
from kafkadouble.pipeline.wire.bounds import EARLIEST, LATEST, Bound
from kafkadouble.pipeline.wire.options import BATCH, SOURCE, STREAM, QueryOptions
from kafkadouble.wire.errors import UsageError

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def settings(**given: str) -> QueryOptions:
    return options.read({"kafka.bootstrap.servers": "h:1", "subscribe": "t", **given}, SOURCE)


def test_a_batch_begins_at_the_earliest_and_a_stream_at_the_latest() -> None:
    assert bounds.starting(settings(), BATCH).everywhere == EARLIEST
    assert bounds.starting(settings(), STREAM).everywhere == LATEST
    assert bounds.ending(settings()).everywhere == LATEST


def test_a_timestamp_for_all_goes_before_timestamps_and_those_before_offsets() -> None:
    times, offsets = '{"t":{"0":5}}', '{"t":{"0":7}}'
    every = {"startingTimestamp": "9", "startingOffsetsByTimestamp": times, "startingOffsets": offsets}
    found = bounds.starting(settings(**every), BATCH)
    assert found == Bound("startingTimestamp", "timestamp", 9, strict=True)
    del every["startingTimestamp"]
    assert bounds.starting(settings(**every), BATCH) == Bound(
        "startingOffsetsByTimestamp", "timestamp", each={T0: 5}, strict=True
    )
    del every["startingOffsetsByTimestamp"]
    assert bounds.starting(settings(**every), BATCH) == Bound("startingOffsets", "offset", each={T0: 7})


def test_only_the_start_can_insist_on_a_record() -> None:
    assert not bounds.starting(
        settings(startingTimestamp="9", startingOffsetsByTimestampStrategy="latest"), BATCH
    ).strict
    assert not bounds.ending(settings(endingTimestamp="9")).strict


@pytest.mark.parametrize(
    "given",
    [
        {"startingOffsets": "latest"},
        {"startingOffsets": '{"t":{"0":-1}}'},
        {"endingOffsets": "earliest"},
        {"endingOffsets": '{"t":{"0":-2}}'},
    ],
)
def test_a_batch_neither_begins_at_the_latest_nor_ends_at_the_earliest(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(given))} cannot be (latest|earliest)"):
        bounds.check(bounds.starting(settings(**given), BATCH), bounds.ending(settings(**given)))


def test_a_stream_may_begin_anywhere() -> None:
    given = settings(startingOffsets='{"t":{"0":-1,"1":-2}}')
    assert bounds.starting(given, STREAM).each == {T0: LATEST, T1: EARLIEST}


def test_both_ends_must_name_the_same_partitions() -> None:
    start, end = Bound("startingOffsets", "offset", each={T0: 1}), Bound("endingOffsets", "offset", each={T1: 2})
    with pytest.raises(UsageError, match="t-0, t-1 is in one of them only"):
        bounds.check(start, end)


@pytest.mark.parametrize(
    ("first", "last", "wrong"), [(5, 4, True), (5, 5, False), (5, LATEST, False), (EARLIEST, 0, False)]
)
def test_starting_offset_behind_the_ending_offset_is_refused(first: int, last: int, wrong: bool) -> None:
    start, end = Bound("startingOffsets", "offset", each={T0: first}), Bound("endingOffsets", "offset", each={T0: last})
    if not wrong:
        return bounds.check(start, end)
    with pytest.raises(UsageError, match="startingOffsets has 5 for t-0, which is behind 4 of endingOffsets"):
        bounds.check(start, end)
    return None
