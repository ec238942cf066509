"""`preallocate`: a segment has its full size on disk from its beginning, until it is closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.log import PartitionLog

from ..batches import NOW, produced

ONE = len(produced(1))
SIZE = 5 * ONE + 1


def opened(folder: Path, *, clean: bool = False, most_open: int | None = None, **settings: object) -> PartitionLog:
    config = LogConfig.of({"internal.segment.bytes": SIZE, "preallocate": True, **settings})
    disk = RealDisk(str(folder), most_open)
    return open_log(disk, "t-0", "t", 0, config, clean=clean, recovery_point=0, log_start_offset=0, now=NOW)


def append(log: PartitionLog, count: int) -> list[bytes]:
    for _ in range(count):
        log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    log.commit_all()
    return everything(log)


def everything(log: PartitionLog) -> list[bytes]:
    return [bytes(batch) for batch in log.batches(0)]


def sizes(folder: Path) -> list[int]:
    return [file.stat().st_size for file in sorted(folder.glob("t-0/*.log"))]


def test_a_segment_has_its_full_size_until_the_next_one_begins(tmp_path: Path) -> None:
    log = opened(tmp_path)
    assert (sizes(tmp_path), log.size) == ([SIZE], 0)
    append(log, 2)
    assert (sizes(tmp_path), log.size) == ([SIZE], 2 * ONE)
    append(log, 6)
    assert (sizes(tmp_path), log.size) == ([5 * ONE, SIZE], 8 * ONE)
    assert log.read(0, 100_000).records == b"".join(everything(log)[:5])
    log.close()
    assert sizes(tmp_path) == [5 * ONE, 3 * ONE]


@pytest.mark.parametrize("count", [0, 1, 5, 7, 10])
def test_preallocated_segment_is_trimmed_after_a_crash(
    tmp_path: Path, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    before = append(opened(tmp_path), count)
    log = opened(tmp_path)
    assert everything(log) == before
    assert sizes(tmp_path) == ([count * ONE] if count <= 5 else [5 * ONE, (count - 5) * ONE])
    assert append(log, 1)[:-1] == before
    assert f"the log is truncated there, at offset {count}" in caplog.text


def test_preallocated_segment_is_trimmed_at_a_clean_stop(tmp_path: Path) -> None:
    log = opened(tmp_path)
    before = append(log, 7)
    log.close()
    log = opened(tmp_path, clean=True)
    assert (everything(log), sizes(tmp_path)) == (before, [5 * ONE, 2 * ONE])
    append(log, 4)
    assert sizes(tmp_path) == [5 * ONE, 5 * ONE, SIZE]


def test_a_truncation_and_a_new_beginning(tmp_path: Path) -> None:
    log = opened(tmp_path)
    before = append(log, 8)
    log.truncate_to(3)
    assert append(log, 4)[:3] == before[:3]
    log.truncate_fully_and_start_at(100)
    assert sizes(tmp_path) == [SIZE]
    assert log.size == 0


def test_files_that_are_closed_and_opened_again_are_written_at_their_end(tmp_path: Path) -> None:
    """Of many logs only some files are open at once."""
    log = opened(tmp_path, most_open=1)
    before = append(log, 9)
    assert sizes(tmp_path) == [5 * ONE, SIZE]
    assert everything(opened(tmp_path)) == before


def test_without_it_a_segment_grows(tmp_path: Path) -> None:
    log = opened(tmp_path, preallocate=False)
    append(log, 7)
    assert sizes(tmp_path) == [5 * ONE, 2 * ONE]


def test_failed_append_leaves_no_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = opened(tmp_path)
    before = append(log, 2)

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(DiskFailure):
        append(log, 1)
    monkeypatch.undo()
    assert everything(opened(tmp_path)) == before
