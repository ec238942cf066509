"""Whole logs, cleaned: what is left of them, and what may be cleaned at all."""

from __future__ import annotations

from random import Random

import pytest

from kafkadouble.server.log.compaction.cleaner import Cleaning, CleaningAborted, clean
from kafkadouble.server.log.compaction.ranges import cleanable, is_due
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.storage import ANY_TIMESTAMP
from kafkadouble.wire.batch import Record, decode_all, encode_batch, iter_batches, read_header
from tests.server.log.compaction.compacted_log import DAY, NOW, cleaned, compacted, fill, records, write

SEED = 20261121


def finish(steps: Cleaning) -> None:
    for _ in steps:
        pass


def last_values(records: list[Record]) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in records}


def test_every_key_keeps_its_last_value_and_the_active_segment_is_untouched() -> None:
    log = compacted()
    fill(log, 200, 7)
    before, active = records(log), log.segments[-1].base_offset
    found = cleaned(log)
    after = records(log)
    assert last_values(after) == last_values(before)
    assert found.cleaned_to == log.cleaned_to == active
    assert found.left < found.read
    below = [record for record in after if record.offset < active]
    assert len(below) <= 7 + 1
    assert [record for record in after if record.offset >= active] == [each for each in before if each.offset >= active]
    assert {record.offset for record in after} <= {record.offset for record in before}


def test_second_compaction_reads_only_new_segments() -> None:
    log = compacted()
    fill(log, 200, 7)
    first = cleaned(log)
    assert cleanable(log, NOW).dirty_bytes == 0
    assert not is_due(cleanable(log, NOW), 0.0)
    fill(log, 200, 3)
    second = cleaned(log)
    assert second.cleaned_to > first.cleaned_to
    assert {record.key for record in records(log)} == {b"k%d" % key for key in range(7)}


def test_offsets_reads_and_lookups_go_on_over_the_holes() -> None:
    log = compacted()
    fill(log, 200, 7)
    end = log.log_end_offset
    cleaned(log)
    assert log.log_end_offset == end
    found, offset = [], 0
    while offset < end:
        slice_ = log.read(offset, 1 << 20)
        found += decode_all(bytes(slice_.records))
        assert slice_.next_offset > offset
        offset = slice_.next_offset
    assert found == records(log)
    # As in Kafka, the first segment is late enough by the time of its last append, and is empty.
    sizes = [segment.size for segment in log.segments]
    assert sizes[0] == 0
    assert log.offset_for(NOW).offset == -1
    fill(log, 7, 7)
    log.roll()
    write(log, (b"k0", b"last"))
    cleaned(log)
    assert log.segments[0].size
    assert log.offset_for(NOW).offset == records(log)[0].offset


def test_only_the_end_of_what_may_be_cleaned_keeps_an_empty_batch() -> None:
    log = compacted(segment_bytes=700)
    fill(log, 200, 3)
    closed = list(log.segments[:-1])
    write(log, (b"k0", b"new"), (b"k1", b"new"), (b"k2", b"new"))
    log.roll()
    end = log.log_end_offset
    write(log, *[(b"k%d" % key, b"newer") for key in range(3)])
    log.roll()
    log.commit_all()
    cleaned(log)
    assert len(closed) > 3
    kept = [read_header(batch) for segment in log.segments for batch in segment.batches(0, ANY_TIMESTAMP)]
    assert [(each.base_offset, each.count) for each in kept] == [(end, 3)]
    write(log, *[(b"k%d" % key, b"newest") for key in range(3)])
    log.roll()
    found = cleanable(log, NOW)
    write(log, (b"k0", b"last"))
    cleaned(log)
    kept = [read_header(batch) for segment in log.segments for batch in segment.batches(0, ANY_TIMESTAMP)]
    assert [(each.base_offset, each.count) for each in kept] == [(found.end - 3, 3), (found.end, 1)]


def test_segments_that_have_become_small_are_put_together() -> None:
    log = compacted()
    fill(log, 300, 2)
    count = len(log.segments)
    cleaned(log)
    fill(log, 100, 2)
    cleaned(log)
    assert len(log.segments) < count
    bases = [segment.base_offset for segment in log.segments]
    assert bases == sorted(set(bases))


def test_leader_epochs_keep_where_they_begin() -> None:
    """If an epoch seemed to begin at its first surviving record, a follower whose history went on
    in the epoch before would not truncate."""
    log = compacted()
    fill(log, 60, 1, epoch=3)
    fill(log, 60, 1, epoch=4)
    entries = log.epochs.entries
    cleaned(log)
    assert log.epochs.entries == entries
    assert log.end_offset_for_epoch(3) == OffsetAndEpoch(60, 3)


def test_a_full_map_leaves_the_rest_to_the_next_cleaning() -> None:
    log = compacted()
    fill(log, 200, 50)
    expected = last_values(records(log))
    ends = [cleaned(log, most_keys=10).cleaned_to]
    while cleanable(log, NOW).end > log.cleaned_to:
        ends.append(cleaned(log, most_keys=10).cleaned_to)
    assert ends == sorted(set(ends))
    assert len(ends) > 2
    assert last_values(records(log)) == expected


def test_young_segments_are_left_alone() -> None:
    log = compacted(min_compaction_lag_ms=1000)
    fill(log, 100, 2)
    assert cleanable(log, NOW + 999).end == 0
    found = cleanable(log, NOW + 1000)
    assert found.end == log.segments[-1].base_offset
    assert found.ratio == 1.0


def test_log_past_max_compaction_lag_is_overdue() -> None:
    log = compacted(max_compaction_lag_ms=5000)
    fill(log, 100, 2)
    cleaned(log)
    fill(log, 30, 2)
    assert not cleanable(log, NOW + 5000).overdue
    assert is_due(cleanable(log, NOW + 5001), 0.99)


def test_an_undecided_transaction_stops_the_cleaning() -> None:
    log = compacted()
    fill(log, 40, 2)
    open_at = log.log_end_offset
    batch = encode_batch(
        [Record(0, NOW, b"t", b"v")], producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    log.append_as_leader(batch, 0, NOW)
    fill(log, 200, 2)
    assert cleanable(log, NOW, whole_segments=False).end == open_at
    bases = [segment.base_offset for segment in log.segments]
    assert open_at not in bases
    assert cleanable(log, NOW).end == max(base for base in bases if base < open_at)


@pytest.mark.parametrize("disturb", ["truncate", "delete"])
def test_a_log_that_changes_meanwhile_is_left_as_it_is(disturb: str) -> None:
    log = compacted(segment_bytes=200_000)
    value = b"x" * 5000
    for at in range(200):
        write(log, (b"k%d" % (at % 3), value))
    steps = clean(log, NOW, 100)
    for _ in range(len(log.segments) * 4 + 6):
        next(steps)
    if disturb == "truncate":
        log.truncate_to(5)
    else:
        log.config = LogConfig({"cleanup.policy": "compact,delete", "retention.ms": 1, "segment.bytes": 200_000})
        log.retain(NOW + DAY)
    before = records(log)
    with pytest.raises(CleaningAborted):
        finish(steps)
    assert records(log) == before


def test_a_truncation_at_any_step_drops_the_cleaning() -> None:
    """The values that were truncated are the newest of their keys in the offset map: without the
    truncation being noticed, the older ones would go, too."""
    steps_done = 1
    while True:
        log = compacted(segment_bytes=60_000)
        for at in range(40):
            write(log, (b"k%d" % (at % 10), b"%d" % at * 5000))
        steps = clean(log, NOW, 1000)
        if sum(1 for _ in zip(range(steps_done), steps, strict=False)) < steps_done:
            break
        log.truncate_to(15)
        expected = last_values(records(log))
        for at in range(40):
            write(log, (b"other%d" % at, b"%d" % at * 5000))
        with pytest.raises(CleaningAborted):
            finish(steps)
        assert expected.items() <= last_values(records(log)).items()
        steps_done += 1
    assert steps_done > 3


def test_truncated_log_is_dirty_again() -> None:
    log = compacted()
    fill(log, 200, 7)
    cleaned(log)
    log.truncate_to(50)
    assert log.cleaned_to <= 50
    fill(log, 100, 7)
    expected = last_values(records(log))
    cleaned(log)
    assert last_values(records(log)) == expected


def test_random_logs_keep_the_last_value_of_every_key(storage: str) -> None:
    random = Random(SEED)
    for _ in range(30 if storage == "memory" else 6):
        log = compacted(segment_bytes=random.choice([500, 2000, 20000]))
        expected: dict[bytes | None, bytes | None] = {}
        for at in range(random.randrange(20, 200)):
            batch = [
                (b"%d" % random.randrange(10), None if random.random() < 0.2 else b"%d" % at)
                for _ in range(random.randrange(1, 5))
            ]
            write(log, *batch)
            expected |= dict(batch)
            if random.random() < 0.05:
                cleaned(log, most_keys=random.choice([2, 1000]))
        assert last_values(records(log)) == expected
        cleaned(log)
        cleaned(log, NOW + 2 * DAY)
        values = last_values(records(log))
        assert {key: value for key, value in values.items() if value is not None} == {
            key: value for key, value in expected.items() if value is not None
        }
        for kept in log.batches(0):
            assert list(iter_batches(kept))
