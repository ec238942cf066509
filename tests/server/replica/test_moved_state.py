"""What a log knows besides its batches is the same after a move to another log directory:
transactions, producers, epochs, and how far it is compacted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble.server.log.compaction.cleaner import CleaningAborted
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producers import AppendOrigin
from tests.server.log.batches import marker, produced, transactional
from tests.server.moving import Dirs, moved


@pytest.fixture
def dirs(tmp_path: Path) -> Dirs:
    return Dirs(tmp_path)


def log_of(dirs: Dirs) -> PartitionLog:
    return dirs.node.partition("t").log


def append(dirs: Dirs, *batches: bytearray) -> None:
    log = log_of(dirs)
    for batch in batches:
        log.append_as_leader(batch, 0, dirs.node.now)
    log.commit_all()


def end(dirs: Dirs, *, commit: bool, producer: int = 7) -> None:
    log = log_of(dirs)
    made = marker(commit=commit, producer=producer)
    log.append_own(bytes(made), leader_epoch=0, now=dirs.node.now, origin=AppendOrigin.COORDINATOR)
    log.commit_all()


def move(dirs: Dirs) -> None:
    target = next(path for path in dirs.paths if path != dirs.of_partition())
    assert moved(dirs.node, target) == "NONE"
    dirs.finish()
    assert dirs.of_partition() == target


def known(dirs: Dirs) -> tuple[object, ...]:
    log = log_of(dirs)
    aborted = [(each.producer_id, each.first_offset, each.last_offset) for each in log.aborted_in(0, 1000)]
    producers = sorted((producer.producer_id, producer.last_sequence) for producer in log.producers)
    return log.log_end_offset, log.last_stable_offset, log.first_unstable_offset, aborted, producers


def test_open_committed_and_aborted_transactions_move(dirs: Dirs) -> None:
    append(dirs, produced(3), *(transactional(sequence) for sequence in range(3)))
    end(dirs, commit=False)
    append(dirs, transactional(0, producer=8), produced(2))
    before = known(dirs)
    for _ in range(2):
        move(dirs)
        assert known(dirs) == before
    dirs.restart()
    assert known(dirs) == before
    end(dirs, commit=True, producer=8)
    after = known(dirs)
    assert after[1] == after[0]
    move(dirs)
    dirs.kill()
    assert known(dirs) == after


def test_an_epoch_without_a_record_moves(dirs: Dirs) -> None:
    append(dirs, produced(3))
    log_of(dirs).begin_epoch(4)
    move(dirs)
    assert [entry.epoch for entry in log_of(dirs).epochs.entries] == [0, 4]


def test_moved_replica_keeps_its_cleaner_checkpoint(tmp_path: Path) -> None:
    dirs = Dirs(tmp_path, {"log.cleanup.policy": "compact", "log.cleaner.min.cleanable.ratio": "0"})
    for number in range(30):
        append(dirs, produced(1, key=b"%d" % (number % 2)))
    log_of(dirs).roll()
    for _ in dirs.node.node.cleaner.clean_now(log_of(dirs)):
        pass
    before, cleaned_to = dirs.batches(), log_of(dirs).cleaned_to
    assert len(before) < 30
    assert cleaned_to == 30
    move(dirs)
    assert (dirs.batches(), log_of(dirs).cleaned_to, log_of(dirs).log_end_offset) == (before, 30, 30)
    dirs.restart()
    assert (dirs.batches(), log_of(dirs).cleaned_to) == (before, 30)


def test_a_log_that_moves_is_not_cleaned(tmp_path: Path) -> None:
    settings = {"log.cleanup.policy": "compact", "log.cleaner.min.cleanable.ratio": "0", "log.cleaner.backoff.ms": "5"}
    dirs = Dirs(tmp_path, {**settings, "replica.fetch.max.bytes": "1"})
    for number in range(30):
        append(dirs, produced(1, key=b"%d" % (number % 2)))
    log_of(dirs).roll()
    before = dirs.batches()
    target = next(path for path in dirs.paths if path != dirs.of_partition())
    assert moved(dirs.node, target) == "NONE"
    dirs.step(25)
    assert dirs.batches() == before
    dirs.finish()
    assert dirs.batches() == before
    log_of(dirs).roll()
    dirs.step(100)
    assert len(dirs.batches()) < 30


def test_a_log_that_moves_is_not_compacted_on_demand(tmp_path: Path) -> None:
    """A marker that is removed before it is copied would leave the copied records as committed."""
    settings = {"log.cleanup.policy": "compact", "log.cleaner.delete.retention.ms": "0"}
    dirs = Dirs(tmp_path, {**settings, "replica.fetch.max.bytes": "1"})
    append(dirs, transactional(0, key=b"k"))
    end(dirs, commit=False)
    append(dirs, transactional(1, key=b"l"))
    end(dirs, commit=True)
    log_of(dirs).roll()
    before = known(dirs)
    target = next(path for path in dirs.paths if path != dirs.of_partition())
    assert moved(dirs.node, target) == "NONE"
    dirs.step(1)
    for _ in range(3):
        with pytest.raises(CleaningAborted, match="moves to another log directory"):
            list(dirs.node.node.cleaner.clean_now(log_of(dirs)))
    dirs.finish()
    assert dirs.of_partition() == target
    assert known(dirs) == before
    assert before[3] == [(7, 0, 1)]
