"""A controller starts on a directory in which one byte is changed: it stops and names the file, or
goes on with the content that was there, and never with any other (KIP-595, KIP-630)."""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.server.controller.corrupt_metadata import (
    FOLDER,
    SEED,
    Left,
    files,
    formatted,
    left_by,
    spoilt,
    start_of,
    started,
)
from tests.server.log.files.lossy_disk import Contents

SAMPLE = 20
"""How many bytes of a file are changed, each in its own start; a smaller file has each byte
changed."""


def places(left: Left, path: str, random: Random) -> list[int]:
    size = len(left.disk.contents[path].data)
    return sorted(random.sample(range(size), min(size, SAMPLE)))


@pytest.mark.parametrize("clean", [False, True])
def test_intact_metadata_log_is_unchanged(clean: bool) -> None:
    left = left_by(clean)
    found = start_of(left.disk.copy())
    assert isinstance(found, Left)
    assert found[1:] == left[1:]
    assert len(left.log) > 300
    assert len(left.snapshots) > 1


def of(*endings: str) -> list[str]:
    return [path for path in files() if path.endswith(endings)]


def test_a_log_that_was_closed_well_and_is_corrupt_stops_the_start() -> None:
    """Every byte of the log is tried, also in old segments."""
    for path in of(".log"):
        random = Random(f"{SEED} {path}")
        for at in places(left_by(True), path, random):
            problem = start_of(spoilt(left_by(True), path, at, random.randrange(8)))
            assert isinstance(problem, str), at
            assert re.match(re.escape(path) + r": .+ at byte [0-9]+", problem), problem


def test_a_log_that_was_flushed_and_is_corrupt_stops_the_start_also_after_a_kill() -> None:
    for path in of(".log"):
        random = Random(f"{SEED} flushed {path}")
        end = left_by(True).disk.contents["recovery-point-offset-checkpoint"].data
        left = left_by(False)._replace(disk=left_by(False).disk.copy())
        left.disk.contents["recovery-point-offset-checkpoint"] = Contents(bytes(end))
        for at in places(left, path, random)[::3]:
            found = start_of(spoilt(left, path, at, random.randrange(8)))
            if isinstance(found, str):
                assert path in found or "epoch" in found, found
            else:  # an epoch has no checksum; after an unclean stop nothing else reveals it
                assert sum(a != b for a, b in zip(found.log, left.log, strict=True)) <= 1, at


def test_a_log_that_was_not_flushed_ends_where_it_is_corrupt() -> None:
    """As in Apache Kafka. The content of the newest snapshot is still there, and so is the vote."""
    for path in of(".log"):
        random, left = Random(f"{SEED} {path}"), left_by(False)
        for at in places(left, path, random):
            found = start_of(spoilt(left, path, at, random.randrange(8)))
            if isinstance(found, str):
                assert "epoch" in found, found
                continue
            whole = found.log == left.log[: len(found.log)] or len(found.log) == len(left.log)
            assert whole, at
            # A log that begins again at the end of the newest snapshot needs no older snapshot.
            assert found.snapshots == [snapshot for snapshot in left.snapshots if snapshot.offset >= found.start]
            assert found.snapshots[-1] == left.snapshots[-1]
            assert found.election == left.election


@pytest.mark.parametrize("clean", [False, True])
def test_a_snapshot_that_is_corrupt_stops_the_start(clean: bool) -> None:
    random, left = Random(SEED), left_by(clean)
    path = max(of(".checkpoint"))
    for at in range(clean, len(left.disk.contents[path].data), 3):
        problem = start_of(spoilt(left, path, at, random.randrange(8)))
        assert isinstance(problem, str), at
        assert re.match(re.escape(path) + r": .+ at byte [0-9]+", problem), problem


def test_corrupt_bootstrap_checkpoint_stops_the_start() -> None:
    random, disk = Random(SEED), formatted(1)
    path = f"{FOLDER}00000000000000000000-0000000000.checkpoint"
    left, true = Left(disk, 0, b"", None, []), started(disk.copy()).logs.bootstrap
    for at in range(len(disk.contents[path].data)):
        bad = spoilt(left, path, at, random.randrange(8))
        problem = start_of(bad.copy())
        if isinstance(problem, str):
            assert path in problem, problem
        else:  # an offset or an epoch: they have no checksum, and mean nothing here
            assert started(bad).logs.bootstrap == true, at


def test_a_damaged_vote_stops_the_start_where_the_damage_can_be_detected() -> None:
    """The file has no checksum: a changed digit gives another number, and so does a lost sign."""
    left, path = left_by(True), FOLDER + "quorum-state"
    data = left.disk.contents[path].data
    for at in range(len(data)):
        for bit in range(at % 2, 8, 2):
            found = start_of(spoilt(left, path, at, bit))
            if isinstance(found, str):
                assert path in found or "epoch" in found, found
            else:
                changed = bytes([data[at]]), bytes([data[at] ^ 1 << bit])
                assert all(each.isdigit() or each in b'"abcdefghijklmnopqrstuvwxyz-\r' for each in changed), (
                    at,
                    changed,
                )
                assert found.log == left.log


def test_a_folder_with_the_id_of_another_topic_stops_the_start() -> None:
    """A node that put the file aside and began with an empty log could vote twice in one epoch."""
    path, left = FOLDER + "partition.metadata", left_by(True)
    for at in range(len(left.disk.contents[path].data)):
        for bit in range(8):
            found = start_of(spoilt(left, path, at, bit))
            if isinstance(found, str):
                assert path in found
            else:
                assert found[1:] == left[1:], at


def test_lost_metadata_file_that_can_be_rebuilt_changes_nothing() -> None:
    """Or stops the start: if two files contradict each other, the node cannot know which is
    right."""
    for path in of("index", ".snapshot", "offset-checkpoint", "leader-epoch-checkpoint", ".kafka_cleanshutdown"):
        random, left = Random(f"{SEED} {path}"), left_by(True)
        for at in places(left, path, random) if path in left.disk.contents else ():
            found = start_of(spoilt(left, path, at, random.randrange(8)))
            if isinstance(found, str):
                assert path.rpartition("/")[2] in found, found
            else:
                assert found[1:] == left[1:], at
