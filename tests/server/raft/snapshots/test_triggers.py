"""When a snapshot is due, as shipped and as adopted."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from kafkadouble.server.raft.snapshots.triggers import SinceSnapshot, SnapshotTriggers, reason

from .making import NOW

SHIPPED = SnapshotTriggers(max_bytes=1000, max_interval_ms=500)
ADOPTED = SnapshotTriggers(max_bytes=1000, max_interval_ms=500, min_changed_ratio=0.5)


def unasked() -> NoReturn:
    raise AssertionError("the size is not needed")


@pytest.mark.parametrize(
    ("size", "age", "due"), [(999, 499, False), (1000, 0, True), (0, 500, True), (1000, 500, True), (0, 0, False)]
)
def test_shipped_bytes_or_time(size: int, age: int, due: bool) -> None:
    assert (reason(SHIPPED, SinceSnapshot(size, NOW - age), NOW, unasked) is not None) == due


def test_without_an_interval_time_does_not_count() -> None:
    never = SnapshotTriggers(max_bytes=1000, max_interval_ms=0)
    assert reason(never, SinceSnapshot(999, 0), NOW, unasked) is None
    assert reason(never, SinceSnapshot(1000, NOW), NOW, unasked) == "1000 bytes of records"


@pytest.mark.parametrize(
    ("size", "changed", "due"), [(1000, 0.5, True), (1000, 0.49, False), (1000, 1.0, True), (5000, 0.0, False)]
)
def test_adopted_bytes_and_the_share_of_what_has_changed(size: int, changed: float, due: bool) -> None:
    assert (reason(ADOPTED, SinceSnapshot(size, 0), NOW, lambda: changed) is not None) == due


def test_adopted_the_share_is_computed_only_after_the_bytes() -> None:
    assert reason(ADOPTED, SinceSnapshot(999, 0), NOW, unasked) is None


def test_bytes_add_up() -> None:
    assert SinceSnapshot(5, 7).committed(3).committed(0) == SinceSnapshot(8, 7)


def test_settings_have_kafkas_defaults_and_names() -> None:
    assert SnapshotTriggers.of({}) == SnapshotTriggers(20 << 20, 3_600_000, None)
    given: dict[str, Any] = {
        "metadata.log.max.record.bytes.between.snapshots": 1,
        "metadata.log.max.snapshot.interval.ms": 2,
        "metadata.snapshot.min.changed_records.ratio": 0.25,
        "other": 3,
    }
    assert SnapshotTriggers.of(given) == SnapshotTriggers(1, 2, 0.25)
