"""The disk that the system has: files that are open by turns, and what the system refuses."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files import real_file
from kafkadouble.server.log.files.disk import WORTH_IT
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.wire.batch import read_header
from kafkadouble.wire.file_slice import FileSlice

from ..batches import NOW, everything, produced


def test_few_files_are_open_and_none_notices(tmp_path: Path) -> None:
    disk = RealDisk(str(tmp_path), most_open=3)
    files = [disk.open(f"{number}") for number in range(10)]
    for turn in range(3):
        for number, file in enumerate(files):
            file.append([b"%d-" % number, b"%d " % turn])
            assert len(disk._open) <= 3
    assert [file.read(4, 3) for file in files] == [b"%d-1" % number for number in range(10)]
    assert files[4].size == 12
    files[4].truncate(4)
    files[4].rename("four")
    files[5].close()
    files[4].append([b"more"])
    assert disk.read_whole("four") == b"4-0 more"
    assert bytes(files[4].view()) == b"4-0 more"


def test_a_deleted_file_is_not_read_as_an_empty_one(tmp_path: Path) -> None:
    disk = RealDisk(str(tmp_path))
    file = disk.open("file")
    file.append([b"abc"])
    file.close()
    (tmp_path / "file").unlink()
    with pytest.raises(DiskFailure, match="file"):
        file.read(0, 3)
    with pytest.raises(DiskFailure):
        file.append([b"x"])
    assert not (tmp_path / "file").exists()


def test_short_writes_and_reads_of_a_file_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, read = os.write, os.pread
    monkeypatch.setattr(real_file, "_write", lambda fd, buffers: write(fd, b"".join(buffers)[:3]))
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:2]))
    monkeypatch.setattr(real_file, "_read", lambda fd, size, position: read(fd, min(size, 4), position))
    file = RealDisk(str(tmp_path)).open("file")
    file.append([b"abc", b"defg", b"h"])
    file.append([b"ijkl"])
    assert (file.size, file.read(0, 12), file.read(9, 50)) == (12, b"abcdefghijkl", b"jkl")


def test_partial_append_to_a_file_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RealDisk(str(tmp_path)).open("file")
    file.append([b"abc"])
    write = os.write

    def full(fd: int, data: bytes) -> int:
        write(fd, data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DiskFailure, match="No space left"):
        file.append([b"defg"])
    monkeypatch.undo()
    assert (file.size, (tmp_path / "file").read_bytes()) == (3, b"abc")
    with pytest.raises(DiskFailure):  # the log dir is not used any more
        file.append([b"d"])


def test_a_flush_on_another_thread_outlives_the_file(tmp_path: Path) -> None:
    disk = RealDisk(str(tmp_path), most_open=1)
    file = disk.open("file")
    file.append([b"abc"])
    flushing = file.flushing()
    disk.open("other").append([b"x"])
    file.rename("gone")
    disk.remove("gone")
    flushing()
    flushing()


def test_whole_files(tmp_path: Path) -> None:
    disk = RealDisk(str(tmp_path))
    disk.make_folder("t-0")
    for data, flush in ((b"one", True), (b"two", False)):
        disk.write_whole("t-0/name", data, flush=flush)
        assert (disk.read_whole("t-0/name"), disk.size("t-0/name")) == (data, 3)
    assert (disk.names("t-0"), disk.folders(), disk.exists("t-0/other")) == (["name"], ["t-0"], False)
    assert disk.modified("t-0/name") > NOW
    disk.remove("t-0/other")
    disk.remove_folder("t-0")
    disk.remove_folder("t-0")
    assert disk.folders() == []
    for refused in (lambda: disk.read_whole("none"), lambda: disk.names("t-0"), lambda: disk.rename("a", "b")):
        with pytest.raises(DiskFailure) as caught:
            refused()
        assert caught.value.folder == str(tmp_path)


def test_many_logs_with_few_files_open(tmp_path: Path) -> None:
    disk = RealDisk(str(tmp_path), most_open=4)
    config = LogConfig.of({"segment.bytes": 300})
    how: dict[str, Any] = {"recovery_point": 0, "log_start_offset": 0, "now": NOW}
    logs = [open_log(disk, f"t-{number}", "t", number, config, clean=True, **how) for number in range(8)]
    for _ in range(10):
        for log in logs:
            log.append_as_leader(produced(2), leader_epoch=0, now=NOW)
    for number, log in enumerate(logs):
        assert everything(log) == list(range(20))
        log.close()
        again = open_log(disk, f"t-{number}", "t", number, config, clean=True, **how)
        assert everything(again) == list(range(20))


def test_a_log_that_was_emptied_is_opened_though_its_indexes_are_full(tmp_path: Path) -> None:
    disk = RealDisk(str(tmp_path))
    config = LogConfig.of({"index.interval.bytes": 1})
    how: dict[str, Any] = {"recovery_point": 0, "log_start_offset": 0, "now": NOW}
    log = open_log(disk, "t-0", "t", 0, config, clean=True, **how)
    for _ in range(9):
        log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    log.close()
    (tmp_path / "t-0" / "00000000000000000000.log").write_bytes(b"")
    again = open_log(disk, "t-0", "t", 0, config, clean=True, **how)
    assert everything(again) == []
    again.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    assert everything(again) == [0]


def open_files() -> list[str]:
    """The path of each file descriptor that this process holds."""
    found = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks at /proc")
def test_slices_of_a_file_share_one_descriptor_and_give_it_back(tmp_path: Path) -> None:
    """Who does not read must not use up what the process may have open."""
    file, path = RealDisk(str(tmp_path)).open("file"), str(tmp_path / "file")
    file.append([bytes(WORTH_IT)])
    before = open_files().count(path)
    slices = [file.slice(0, WORTH_IT) for _ in range(100)]
    assert all(isinstance(file_slice, FileSlice) for file_slice in slices)
    assert open_files().count(path) == before + 1
    slices.clear()
    assert open_files().count(path) == before


def test_disk_reads_without_free_file_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = RealDisk(str(tmp_path))
    file = disk.open("file")
    file.append([bytes(WORTH_IT)])

    def none_left(fd: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "dup", none_left)
    assert file.slice(0, WORTH_IT) == bytes(WORTH_IT)
    assert disk.failed is None


def deleted_and_open() -> list[str]:
    """The files that this process holds open though they were deleted."""
    return [path for path in open_files() if path.endswith(" (deleted)")]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks at /proc")
@pytest.mark.parametrize("how", ["retention", "compaction", "truncation"])
def test_deleted_segments_are_closed_when_nothing_reads_them(tmp_path: Path, how: str) -> None:
    disk, config = RealDisk(str(tmp_path)), LogConfig.of({"segment.bytes": 2 * len(produced(1)), "retention.bytes": 1})
    log = open_log(disk, "t-0", "t", 0, config, clean=True, recovery_point=0, log_start_offset=0, now=NOW)
    before = set(deleted_and_open())
    for _ in range(9):
        log.append_as_leader(produced(1), leader_epoch=0, now=NOW)
    log.commit_all()
    for offset in range(9):
        log.read(offset, 1)
    reader = log.batches(1 if how != "truncation" else 5)
    first = bytes(next(reader))
    if how == "retention":
        log.retain(NOW)
    elif how == "truncation":
        log.truncate_to(1)
    else:
        old, rewriting = log.segments[:2], log.rewrite(log.segments[:2])
        rewriting.append(next(old[1].batches(2, NOW - 1)))
        rewriting.finish(())
        del old, rewriting
    log.tick(NOW)
    log.tick(NOW + config.file_delete_delay_ms)
    assert not list(tmp_path.glob("t-0/*.deleted"))
    assert read_header(first).base_offset <= 5
    rest = [read_header(batch).base_offset for batch in reader]
    assert rest in ([2, 3, 4, 5, 6, 7, 8], [6, 7, 8])
    del reader
    assert set(deleted_and_open()) <= before
    log.close()
