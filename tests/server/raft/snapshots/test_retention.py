"""What is kept: as shipped by size and age, as adopted by what replicas have reached."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.snapshots.retention import (
    SnapshotInfo,
    SnapshotRetention,
    before,
    expired,
    followers_start,
    leaders_start,
)

from .making import NOW


def kept(offset: int, size: int = 10, age: int | None = 0, epoch: int = 1) -> SnapshotInfo:
    return SnapshotInfo(OffsetAndEpoch(offset, epoch), size, None if age is None else NOW - age)


def log_size(start: int) -> int:
    """A byte for each offset up to 100."""
    return 100 - start


def removed(snapshots: Sequence[SnapshotInfo], **bounds: int) -> list[int]:
    retention = SnapshotRetention(**{"max_bytes": -1, "max_ms": -1, **bounds})
    return [each.id.offset for each in expired(snapshots, 5, log_size, retention, NOW)]


THREE = [kept(10, age=300), kept(50, age=200), kept(90, age=100)]


@pytest.mark.parametrize(
    ("max_bytes", "expected"), [(125, []), (124, [10]), (70, [10]), (69, [10, 50]), (0, [10, 50]), (-1, [])]
)
def test_shipped_the_oldest_go_until_log_and_snapshots_fit_and_one_stays(max_bytes: int, expected: list[int]) -> None:
    """The log goes from 5 to 100: 95, 50 and 10 bytes of it remain, with 30, 20 and 10 bytes of
    snapshots.
    """
    assert removed(THREE, max_bytes=max_bytes) == expected


@pytest.mark.parametrize(("max_ms", "expected"), [(300, []), (299, [10]), (199, [10, 50]), (0, [10, 50]), (-1, [])])
def test_shipped_snapshots_that_are_too_old_are_deleted_but_one(max_ms: int, expected: list[int]) -> None:
    assert removed(THREE, max_ms=max_ms) == expected


def test_shipped_snapshots_are_deleted_by_either_bound() -> None:
    assert removed(THREE, max_bytes=124, max_ms=199) == [10, 50]


def test_shipped_snapshot_without_a_timestamp_is_not_too_old() -> None:
    assert removed([kept(10, age=None), kept(50)], max_ms=0) == []


@pytest.mark.parametrize("snapshots", [[], THREE[:1]])
def test_shipped_last_snapshot_stays(snapshots: list[SnapshotInfo]) -> None:
    assert removed(snapshots, max_bytes=0, max_ms=0) == []


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 50), st.integers(0, 100)), max_size=8),
    st.integers(-1, 300),
    st.integers(-1, 100),
)
def test_shipped_snapshots_are_deleted_oldest_first_and_never_all(
    steps: list[tuple[int, int, int]], max_bytes: int, max_ms: int
) -> None:
    snapshots, offset = [], 0
    for step, size, age in steps:
        offset += step
        snapshots.append(kept(offset, size, age))
    found = list(expired(snapshots, 0, lambda start: max(0, 200 - start), SnapshotRetention(max_bytes, max_ms), NOW))
    assert found == snapshots[: len(found)]
    assert not snapshots or len(found) < len(snapshots)


@pytest.mark.parametrize(
    ("replicas", "lag", "expected"),
    [
        ([100, 60], 1000, 50),  # both have reached 50
        ([100, 50], 1000, 50),
        ([100, 49], 1000, 10),
        ([9], 1000, None),
        ([9], 200, 50),  # that which is so old
        ([9], 100, 90),
        ([], 1000, None),  # no replica is known, and nothing is old enough
        ([], 300, 10),
    ],
)
def test_adopted_the_leaders_log_starts_where_all_have_been_or_after_so_long(
    replicas: list[int], lag: int, expected: int | None
) -> None:
    found = leaders_start(THREE, 0, replicas, lag, NOW)
    assert (found and found.offset) == expected


def test_adopted_log_start_offset_never_moves_back() -> None:
    assert leaders_start(THREE, 90, [100], 0, NOW) is None
    assert leaders_start(THREE, 50, [60], 1000, NOW) is None


@pytest.mark.parametrize(("start", "leaders", "expected"), [(0, 70, 50), (0, 50, 50), (0, 9, None), (50, 70, None)])
def test_adopted_a_followers_log_starts_where_the_leaders_does_as_far_as_it_has_snapshots(
    start: int, leaders: int, expected: int | None
) -> None:
    found = followers_start([each.id for each in THREE], start, leaders)
    assert (found and found.offset) == expected


def test_adopted_those_go_that_end_before_the_log_starts() -> None:
    ids = [each.id for each in THREE]
    assert [before(ids, start) for start in (10, 11, 50, 51, 90, 1000)] == [
        [], ids[:1], ids[:1], ids[:2], ids[:2], ids[:2],
    ]  # fmt: skip
    assert before([], 5) == []


def test_settings_have_kafkas_defaults_and_names() -> None:
    assert SnapshotRetention.of({}) == SnapshotRetention(100 << 20, 7 * 86_400_000, None)
    names = (
        "metadata.max.retention.bytes",
        "metadata.max.retention.ms",
        "metadata.start.offset.lag.time.max.ms",
        "other",
    )
    assert SnapshotRetention.of(dict(zip(names, (1, 2, 3, 4), strict=True))) == SnapshotRetention(1, 2, 3)
