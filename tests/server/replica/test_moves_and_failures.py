"""Moves between log directories of which one fails, or whose machine loses power."""

from __future__ import annotations

import os
from random import Random

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.files.errors import DiskFailure
from tests.server.machine import Machine, produce_request, produced
from tests.server.moving import SETTINGS, moved


def test_a_move_to_an_offline_directory_is_refused() -> None:
    machine = Machine({}, "a", "b", "c")
    machine.create("one", "two", "t")
    [source] = [path for path, disk in machine.disks.items() if "t-0" in disk.folders()]
    target = next(path for path in "bc" if path != source)
    other = next(path for path in "abc" if path not in (source, target))
    machine.disks[target].failing = True
    with pytest.raises(DiskFailure):
        machine.disks[target].check()
    machine.tick(1)
    assert moved(machine, os.path.abspath(target)) == "KAFKA_STORAGE_ERROR"
    assert moved(machine, os.path.abspath(source)) == "NONE"
    if other != "a":
        assert moved(machine, os.path.abspath(other)) == "KAFKA_STORAGE_ERROR"


def in_a_move(*topics: str) -> tuple[Machine, str, str]:
    """A machine whose topic `t`, of twenty records, has begun to move: from where, and to where."""
    machine = Machine(SETTINGS, "a", "b", "c")
    machine.create(*topics)
    [source] = [path for path, disk in machine.disks.items() if "t-0" in disk.folders()]
    target = next(path for path in "bc" if path != source)
    for _ in range(20):
        assert produced(machine.begin(produce_request("t", b"v" * 200), 9))[0] == 0
    assert moved(machine, os.path.abspath(target)) == "NONE"
    machine.tick(1)
    return machine, source, target


def test_a_destination_that_fails_takes_the_future_replica_alone() -> None:
    machine, _, target = in_a_move("t")
    machine.disks[target].failing = True
    machine.tick(1)
    machine.tick(1)
    assert not machine.node.replica_alter_log_dirs_manager.moves
    assert produced(machine.begin(produce_request("t", b"more"), 9)) == (0, 20)
    machine.kill()
    assert machine.partition("t").log.log_end_offset == 21


def test_replica_move_from_a_failed_dir_continues_after_a_start() -> None:
    machine, source, target = in_a_move("one", "t")
    assert source != "a"
    machine.disks[source].failing = True
    assert produced(machine.begin(produce_request("t", b"v"), 9))[0] == error_codes.KAFKA_STORAGE_ERROR
    machine.tick(1)
    assert not machine.node.replica_alter_log_dirs_manager.moves
    assert moved(machine, os.path.abspath(target)) == "KAFKA_STORAGE_ERROR"
    machine.disks[source].failing = False
    machine.kill()
    for _ in range(100):
        machine.tick(1)
    assert "t-0" in machine.disks[target].folders()
    assert machine.partition("t").log.log_end_offset == 20


def test_future_replica_is_flushed_before_the_current_is_deleted() -> None:
    """With `flush.messages=1` a loss of power during or after a move loses no acknowledged record.
    It may lose the future replica, and so the move."""
    ended = 0
    for seed in range(10):
        machine = Machine({**SETTINGS, "log.flush.interval.messages": "1"}, "a", "b", "c")
        machine.create("t")
        machine.flush()
        [source] = [path for path, disk in machine.disks.items() if "t-0" in disk.folders()]
        target = next(path for path in "bc" if path != source)
        random, acknowledged = Random(seed), 0
        pending = [machine.begin(produce_request("t", b"v" * 200), 9) for _ in range(20)]
        machine.flush()
        acknowledged = sum(each.done for each in pending)
        assert acknowledged == 20
        assert moved(machine, os.path.abspath(target)) == "NONE"
        for _ in range(random.randrange(40)):
            machine.tick(1)
            if random.random() < 0.5:
                each = machine.begin(produce_request("t", b"w" * 200), 9)
                machine.flush()
                acknowledged += each.done
        while seed % 2 and machine.node.replica_alter_log_dirs_manager.moves:
            machine.flush()
            machine.tick(1)
        machine.lose_power(random)
        assert machine.partition("t").log.log_end_offset >= acknowledged, f"seed {seed}"
        for _ in range(200):
            machine.tick(1)
            machine.flush()
        assert machine.partition("t").log.log_end_offset >= acknowledged, f"seed {seed}"
        ended += "t-0" in machine.disks[target].folders()
    assert ended > 5
