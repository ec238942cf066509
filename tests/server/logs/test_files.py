"""Which log is in which directory, and which folders are stray."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble.dump.checking import check
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.formats import partition_metadata
from kafkadouble.server.log.formats.meta_properties import MetaProperties
from kafkadouble.server.log.formats.names import OFFSET_CHECKPOINTS, RECOVERY_POINT, is_deleted, is_stray
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.log_dir import LogDir
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.errors import UsageError
from tests.server.harness import NOW
from tests.server.log.batches import flush
from tests.server.log.files.lossy_disk import LossyDisk

from .folders import formatted, logs_in, new_id

ID, OTHER = Uuid(b"t" * 16), Uuid(b"o" * 16)
CONFIG = LogConfig()


def fill(logs: FileLogs, topic: str = "t", index: int = 0, topic_id: Uuid = ID) -> None:
    log = logs.open(topic, topic_id, index, CONFIG, NOW)
    log.append_as_leader(encode_batch([Record(0, NOW, None, b"v")]), 0, NOW)
    log.commit_all()


def with_its_start_at(offset: int, path: Path) -> None:
    """A log of one record more, flushed; the node that wrote it was killed."""
    logs = logs_in(path)
    for _ in range(offset + 1):
        fill(logs)
    log = logs.open("t", ID, 0, CONFIG, NOW)
    log.delete_records_before(offset)
    flush(log)
    logs.checkpoint(NOW)


def folders(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir() if entry.is_dir())


def test_new_partitions_go_where_the_fewest_are(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    formatted(a, b)
    logs = logs_in(a, b)
    logs.metadata(LogConfig(), NOW)
    for index in range(3):
        fill(logs, index=index)
    assert folders(a) == ["__cluster_metadata-0", "t-1"]
    assert folders(b) == ["t-0", "t-2"]
    logs.close(NOW, 5)
    again = logs_in(a, b)
    assert [again.open("t", ID, index, CONFIG, NOW).log_end_offset for index in range(3)] == [1, 1, 1]


def test_no_checkpoint_is_beyond_a_log_that_was_cut_inside_a_batch(tmp_path: Path) -> None:
    """The log end offset is where it was cut, and the files end before that batch."""
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    logs.metadata(LogConfig(), NOW)
    log = logs.open("t", ID, 0, CONFIG, NOW)
    log.append_as_leader(encode_batch([Record(at, NOW, None, b"v") for at in range(2)]), 0, NOW)
    log.commit_all()
    log.truncate_to(1)
    assert (log.log_end_offset, log.high_watermark) == (1, 1)
    logs.close(NOW, 5)
    assert check(tmp_path).first is None


def test_a_log_is_opened_once(tmp_path: Path) -> None:
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    assert logs.open("t", ID, 0, CONFIG, NOW) is logs.open("t", ID, 0, CONFIG, NOW)


def test_a_deleted_partition_is_renamed_and_removed_later(tmp_path: Path) -> None:
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    fill(logs)
    logs.delete("t", ID, 0, NOW)
    logs.delete("t", ID, 0, NOW)
    assert [is_deleted(name) for name in folders(tmp_path)] == [True]
    logs.tick(NOW + 59_999, 60_000)
    assert len(folders(tmp_path)) == 1
    logs.tick(NOW + 60_000, 60_000)
    assert folders(tmp_path) == []


def test_no_checkpoint_speaks_of_a_partition_that_was_removed(tmp_path: Path) -> None:
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    for topic in ("t", "u"):
        fill(logs, topic)
    logs.checkpoint(NOW)
    logs.delete("t", ID, 0, NOW)
    logs.tick(NOW + 60_000, 60_000)
    found = {name: (tmp_path / name).read_text() for name in OFFSET_CHECKPOINTS}
    assert not any("t 0 " in text for text in found.values()), found
    assert "u 0 " in found[RECOVERY_POINT]
    assert check(tmp_path).first is None, "as a process that is killed leaves it"


def test_directories_marked_for_deletion_are_removed_at_start(tmp_path: Path) -> None:
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    fill(logs)
    logs.delete("t", ID, 0, NOW)
    logs_in(tmp_path).tick(NOW, 60_000)
    assert folders(tmp_path) == []


def test_a_topic_of_the_same_name_does_not_get_anothers_records(tmp_path: Path) -> None:
    formatted(tmp_path)
    fill(logs_in(tmp_path), topic_id=OTHER)
    log = logs_in(tmp_path).open("t", ID, 0, CONFIG, NOW)
    assert log.log_end_offset == 0
    assert [name for name in folders(tmp_path) if is_stray(name)]


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_topic_of_the_same_name_begins_at_the_beginning(tmp_path: Path, is_deleted: bool) -> None:
    """Whatever is written down of the one that had its name before."""
    formatted(tmp_path)
    with_its_start_at(2, tmp_path)
    logs = logs_in(tmp_path)
    if is_deleted:
        assert logs.open("t", ID, 0, CONFIG, NOW).log_start_offset == 2
        logs.delete("t", ID, 0, NOW)
    log = logs.open("t", OTHER, 0, CONFIG, NOW)
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (0, 0, 0)
    fill(logs, topic_id=OTHER)
    # as after a kill, before the next checkpoint
    again = logs_in(tmp_path).open("t", OTHER, 0, CONFIG, NOW)
    assert (again.log_start_offset, again.log_end_offset) == (0, 1)


def test_no_checkpoint_goes_beyond_a_log_that_was_cut(tmp_path: Path) -> None:
    formatted(tmp_path)
    with_its_start_at(2, tmp_path)
    assert (tmp_path / "recovery-point-offset-checkpoint").read_text() == "0\n1\nt 0 3\n"
    logs_in(tmp_path).open("t", ID, 0, CONFIG, NOW).truncate_to(1)
    for name in ("recovery-point", "replication", "log-start"):
        words = (tmp_path / f"{name}-offset-checkpoint").read_text().split()
        assert words[-1] == "1"


def test_of_a_log_that_was_not_opened_stays_what_is_written_down(tmp_path: Path) -> None:
    formatted(tmp_path)
    with_its_start_at(2, tmp_path)
    mark = tmp_path / ".kafka_cleanshutdown"
    before = (tmp_path / "log-start-offset-checkpoint").read_text()
    logs_in(tmp_path).close(NOW, 7)
    assert (tmp_path / "log-start-offset-checkpoint").read_text() == before
    assert not mark.exists(), "nothing has read what the last life left"
    logs = logs_in(tmp_path)
    assert logs.open("t", ID, 0, CONFIG, NOW).log_start_offset == 2
    logs.close(NOW, 8)
    assert mark.exists()
    logs_in(tmp_path).close(NOW, 9)
    assert mark.exists(), "nothing has changed what a clean stop left"


def test_stray_log_directory_is_renamed_and_kept(tmp_path: Path) -> None:
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    fill(logs)
    fill(logs, "u", topic_id=OTHER)
    logs.close(NOW, 5)
    again = logs_in(tmp_path)
    again.put_aside_strays({(ID, 0)})
    assert [is_stray(name) for name in folders(tmp_path)] == [False, True]
    assert list((tmp_path / folders(tmp_path)[1]).glob("*.log"))


def test_a_damaged_topic_id_of_a_folder_without_records_is_written_again(tmp_path: Path) -> None:
    """A loss of power leaves it: the file is flushed before the first record is appended."""
    formatted(tmp_path)
    logs_in(tmp_path).open("t", ID, 0, CONFIG, NOW)
    (tmp_path / "t-0" / "partition.metadata").write_bytes(b"")
    assert logs_in(tmp_path).open("t", ID, 0, CONFIG, NOW).log_end_offset == 0
    assert str(ID) in (tmp_path / "t-0" / "partition.metadata").read_text()


def test_a_damaged_topic_id_of_a_folder_with_records_takes_the_directory_offline(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    formatted(a, b)
    fill(logs_in(a, b))
    (a / "t-0" / "partition.metadata").write_bytes(b"")
    again = logs_in(a, b)
    again.put_aside_strays({(ID, 0)})
    with pytest.raises(DiskFailure, match=r"partition\.metadata"):
        again.open("t", ID, 0, CONFIG, NOW)
    assert [(outage.path, outage.partitions) for outage in again.outages()] == [(str(a), [("t", 0)])]
    assert (folders(a), folders(b)) == (["t-0"], [])


def test_the_topic_id_of_a_folder_is_on_the_disk_before_the_first_record() -> None:
    disk = LossyDisk()
    log_dir = LogDir(disk, "a", MetaProperties("a-cluster", 1, new_id()))
    log = FileLogs([log_dir], new_id).open("t", ID, 0, CONFIG, NOW)
    disk.flush_folder("")
    assert "t-0/partition.metadata" not in disk.durable()
    log.append_as_leader(encode_batch([Record(0, NOW, None, b"v")]), 0, NOW)
    assert partition_metadata.read(disk.durable()["t-0/partition.metadata"]).topic_id == ID


def test_of_two_folders_of_a_partition_the_one_with_records_counts(tmp_path: Path) -> None:
    """A directory that fails while a partition is made leaves an empty folder."""
    a, b = tmp_path / "a", tmp_path / "b"
    formatted(a, b)
    fill(logs_in(a, b))
    logs_in(b).open("t", ID, 0, CONFIG, NOW)
    again = logs_in(a, b)
    again.check()
    assert again.open("t", ID, 0, CONFIG, NOW).log_end_offset == 1


def test_two_folders_of_a_partition_that_have_records_are_refused(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    formatted(a, b)
    fill(logs_in(a))
    fill(logs_in(b))
    with pytest.raises(UsageError, match=f"{a}/t-0 and {b}/t-0"):
        logs_in(a, b).check()


def test_of_two_folders_the_one_of_another_topic_is_put_aside(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    formatted(a, b)
    fill(logs_in(a))
    fill(logs_in(b), topic_id=OTHER)
    again = logs_in(a, b)
    again.check()
    assert again.open("t", ID, 0, CONFIG, NOW).log_end_offset == 1
    assert (folders(a), [is_stray(folder) for folder in folders(b)]) == (["t-0"], [True])


def test_clean_shutdown_file_counts_for_one_start(tmp_path: Path) -> None:
    formatted(tmp_path)
    mark = tmp_path / ".kafka_cleanshutdown"
    logs = logs_in(tmp_path)
    fill(logs)
    assert not mark.exists()
    logs.close(NOW, 17)
    assert mark.read_text() == '{"version":0,"brokerEpoch":17}'
    assert (tmp_path / "replication-offset-checkpoint").read_text() == "0\n1\nt 0 1\n"
    logs_in(tmp_path).begin()
    assert not mark.exists()


def test_clean_shutdown_file_survives_a_failed_start(tmp_path: Path) -> None:
    """What the node reads before `begin` leaves the mark of a clean stop, so that the next start is
    like this one."""
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    logs.metadata(CONFIG, NOW)
    logs.close(NOW, 17)
    mark = tmp_path / ".kafka_cleanshutdown"
    for _ in range(2):
        failing = logs_in(tmp_path)
        failing.metadata(CONFIG, NOW)
        assert mark.exists()
    failing.begin()
    assert not mark.exists()


def test_a_partition_is_not_opened_with_the_mark_in_its_place(tmp_path: Path) -> None:
    formatted(tmp_path)
    logs = logs_in(tmp_path)
    fill(logs)
    logs.close(NOW, 17)
    logs_in(tmp_path).open("t", ID, 0, CONFIG, NOW)
    assert not (tmp_path / ".kafka_cleanshutdown").exists()


def test_a_checkpoint_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    formatted(tmp_path)
    fill(logs_in(tmp_path))
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\nmany\n")
    assert logs_in(tmp_path).open("t", ID, 0, CONFIG, NOW).log_end_offset == 1
