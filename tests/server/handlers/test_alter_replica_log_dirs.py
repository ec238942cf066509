"""AlterReplicaLogDirs: replicas move between the log directories of a broker (KIP-113, KIP-858)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.server.log.formats import names
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.machine import produce_request, produced
from tests.server.moving import Dirs, moved, moving


@pytest.fixture
def dirs(tmp_path: Path) -> Dirs:
    return Dirs(tmp_path)


def test_a_replica_moves_in_steps_with_its_bytes(dirs: Dirs) -> None:
    dirs.produce(20)
    before, size = dirs.batches(), dirs.node.partition("t").log.size
    assert moved(dirs.node, dirs.target) == "NONE"
    assert dirs.futures() == {str(dirs.target): (0, 20)}
    dirs.step(2)
    [(copied, lag)] = dirs.futures().values()
    assert 0 < copied < size
    assert copied == sum(map(len, before[: 20 - lag]))
    assert dirs.of_partition() == dirs.source
    assert dirs.folders() == sorted([f"{dirs.source.name}/t-0", f"{dirs.target.name}/t-0-future"])
    dirs.finish()
    assert dirs.of_partition() == dirs.target == dirs.assigned()
    assert dirs.batches() == before
    assert dirs.folders() == sorted([f"{dirs.source.name}/t-0-delete", f"{dirs.target.name}/t-0"])
    dirs.node.tick(200_000)
    assert dirs.folders() == [f"{dirs.target.name}/t-0"]


def test_records_that_are_produced_meanwhile_move_too(dirs: Dirs) -> None:
    dirs.produce(20)
    assert moved(dirs.node, dirs.target) == "NONE"
    for _ in range(12):
        dirs.step()
        dirs.produce()
    before = dirs.batches()
    dirs.finish()
    assert dirs.batches() == before
    assert len(before) == 32
    assert produced(dirs.node.begin(produce_request("t", b"more"), 9)) == (0, 32)


@pytest.mark.parametrize("end", ["restart", "kill"])
@pytest.mark.parametrize("steps", [0, 3, 100])
def test_replica_move_continues_after_a_start(dirs: Dirs, end: str, steps: int) -> None:
    dirs.produce(20)
    before = dirs.batches()
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.step(steps)
    getattr(dirs, end)()
    dirs.finish()
    assert dirs.of_partition() == dirs.target
    assert dirs.batches() == before
    getattr(dirs, end)()
    assert dirs.batches() == before
    assert produced(dirs.node.begin(produce_request("t", b"more"), 9)) == (0, 20)


def test_replica_move_recovers_from_a_crash_between_the_renames(dirs: Dirs) -> None:
    """The current replica is deleted by name, and the future one is not in use yet. Apache Kafka
    recovers it too."""
    dirs.produce(20)
    before = dirs.batches()
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.finish()
    dirs.node.node.close(dirs.node.now)
    (dirs.target / "t-0").rename(dirs.target / f"t-0.{'0' * 32}-future")
    dirs.start()
    assert dirs.of_partition() == dirs.target
    assert dirs.batches() == before


def test_the_same_directory_is_nothing_to_do(dirs: Dirs) -> None:
    assert moved(dirs.node, dirs.source) == "NONE"
    assert not dirs.node.node.replica_alter_log_dirs_manager.moves
    assert moved(dirs.node, dirs.target) == moved(dirs.node, dirs.target) == "NONE"
    assert len(dirs.folders()) == 2


def test_replica_move_to_another_dir_replaces_the_first(dirs: Dirs) -> None:
    dirs.produce(20)
    before = dirs.batches()
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.step(3)
    assert moved(dirs.node, dirs.other) == "NONE"
    assert [*dirs.futures()] == [str(dirs.other)]
    dirs.finish()
    assert dirs.of_partition() == dirs.other == dirs.assigned()
    assert dirs.batches() == before
    dirs.node.tick(200_000)
    assert dirs.folders() == [f"{dirs.other.name}/t-0"]


def test_the_current_directory_cancels_the_move(dirs: Dirs) -> None:
    dirs.produce(20)
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.step(3)
    assert moved(dirs.node, dirs.source) == "NONE"
    dirs.step(100)
    assert dirs.futures() == {}
    assert dirs.of_partition() == dirs.source
    assert dirs.folders() == sorted([f"{dirs.source.name}/t-0", f"{dirs.target.name}/t-0-delete"])
    dirs.restart()
    assert dirs.of_partition() == dirs.source


def test_a_new_partition_goes_to_the_directory_that_was_preferred(dirs: Dirs) -> None:
    for path in dirs.paths:
        assert moved(dirs.node, path, f"in-{path.name}") == "UNKNOWN_TOPIC_OR_PARTITION"
    dirs.node.create(*(f"in-{path.name}" for path in reversed(dirs.paths)))
    assert all((path / f"in-{path.name}-0").exists() for path in dirs.paths)


def test_preferences_do_not_fill_the_memory(dirs: Dirs) -> None:
    indexes = range(30_000)
    dirs.node.submit(moving(dirs.target, "nowhere", *indexes), 2)
    assert len(dirs.node.node.logs._preferred) == 10_000  # type: ignore[attr-defined]


def test_a_deleted_topic_takes_its_future_replica_along(dirs: Dirs) -> None:
    dirs.produce(20)
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.step(3)
    dirs.node.submit(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    dirs.step(2)
    assert not dirs.node.node.replica_alter_log_dirs_manager.moves
    assert dirs.folders() == sorted([f"{dirs.source.name}/t-0-delete", f"{dirs.target.name}/t-0-delete"])
    dirs.node.create("t")
    dirs.restart()
    assert dirs.node.partition("t").log.log_end_offset == 0


def test_a_future_replica_of_another_topic_is_put_aside(dirs: Dirs) -> None:
    """A topic of the same name was deleted while its directory was away."""
    dirs.produce(20)
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.step(3)
    dirs.node.node.close(dirs.node.now)
    [future] = dirs.target.glob("*-future")
    away = future.rename(dirs.target.parent / "away")
    dirs.start()
    dirs.node.submit(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    dirs.node.create("t")
    dirs.node.node.close(dirs.node.now)
    away.rename(future)
    dirs.start()
    assert dirs.futures() == {}
    assert any(name.endswith("t-0-stray") for name in dirs.folders())


def test_a_purge_moves_the_log_start_offset_of_both(dirs: Dirs) -> None:
    dirs.produce(20)
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.step(2)
    dirs.node.partition("t").log.delete_records_before(15)
    dirs.finish()
    log = dirs.node.partition("t").log
    assert (log.log_start_offset, log.log_end_offset) == (15, 20)
    dirs.restart()
    log = dirs.node.partition("t").log
    assert (log.log_start_offset, log.log_end_offset) == (15, 20)


def test_the_offsets_of_an_earlier_log_do_not_count_when_a_partition_comes_back(dirs: Dirs) -> None:
    """Its recovery point would say that unflushed records are flushed."""
    dirs.produce(20)
    dirs.restart()
    logs = dirs.node.node.logs
    [source] = [each for each in logs._dirs if each.path == str(dirs.source)]  # type: ignore[attr-defined]
    assert source.offset(names.RECOVERY_POINT, ("t", 0)) == 20
    for path in (dirs.target, dirs.source):
        assert moved(dirs.node, path) == "NONE"
        if path == dirs.source:
            assert source.offset(names.RECOVERY_POINT, ("t", 0)) == 0
        dirs.finish()


def test_a_log_that_does_not_begin_at_0_moves(dirs: Dirs) -> None:
    dirs.produce(20)
    dirs.node.partition("t").log.delete_records_before(7)
    before = dirs.batches()[7:]
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.finish()
    log = dirs.node.partition("t").log
    assert (log.log_start_offset, log.log_end_offset, dirs.batches()) == (7, 20, before)


def test_a_truncation_of_the_current_log_truncates_the_future_one(dirs: Dirs) -> None:
    dirs.produce(20)
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.step(5)
    log = dirs.node.partition("t").log
    log.truncate_to(4)
    log.begin_epoch(7)
    for _ in range(3):
        log.append_as_leader(encode_batch([Record(0, 1, None, b"other")]), 7, dirs.node.now)
    log.commit_all()
    before = dirs.batches()
    dirs.finish()
    assert dirs.batches() == before
    assert dirs.node.partition("t").log.epochs.latest == 7


def test_an_idempotent_producer_notices_nothing(dirs: Dirs) -> None:
    """Neither that its last batch was appended, nor how its next one is checked."""

    def send(sequence: int) -> tuple[int, int]:
        return produced(dirs.node.begin(produce_request("t", b"v", producer=(7, 0, sequence)), 9))

    assert [send(sequence) for sequence in range(3)] == [(0, 0), (0, 1), (0, 2)]
    assert moved(dirs.node, dirs.target) == "NONE"
    dirs.finish()
    assert send(2) == (0, 2)
    assert send(3) == (0, 3)
    assert send(7)[0] == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    dirs.kill()
    assert send(3) == (0, 3)


def test_many_partitions_move_to_and_fro(dirs: Dirs) -> None:
    dirs.node.create("many", partitions=20)
    paths = [*dirs.paths, dirs.paths[0]]
    for path in paths:
        response = dirs.node.submit(moving(path, "many", *range(20)), 2)
        assert {each.error_code for each in response.results[0].partitions} == {0}
        dirs.finish()
        assert len(list(path.glob("many-*[0-9]"))) >= 20


def test_replica_move_is_throttled(tmp_path: Path) -> None:
    """By `replica.alter.log.dirs.io.max.bytes.per.second`, as Apache Kafka measures it."""
    dirs = Dirs(tmp_path)
    dirs.produce(100)
    size = dirs.node.partition("t").log.size
    settings = dirs.node.node.settings.altered({}, {"replica.alter.log.dirs.io.max.bytes.per.second": "1000"})
    dirs.node.node.settings = settings
    assert moved(dirs.node, dirs.target) == "NONE"
    begun = dirs.node.now
    dirs.finish(100)
    seconds = (dirs.node.now - begun) / 1000
    assert size / 1000 * 0.6 < seconds < size / 1000 * 1.5
