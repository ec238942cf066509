"""A real operating system that refuses to write: a limit on the size of files stands in for a full
disk."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest
from tests.support.client import produce
from tests.support.serving import Serving, run, serving

LIMIT = 150_000
LARGE = bytes(100_000)


def limit_files(pid: int, size: int) -> None:
    """Sets the limit: no file of that process may grow beyond `size` bytes."""
    try:
        from resource import RLIMIT_FSIZE, prlimit
    except ImportError:
        pytest.skip("NO DISK WAS FULL: this system cannot limit the files of another process")
    prlimit(pid, RLIMIT_FSIZE, (size, size))


def end_of(broker: Serving, topic: str) -> tuple[int, int]:
    """The error code of a Fetch, and the high watermark."""
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    requested = FetchRequest(max_bytes=1 << 20, topics=[FetchRequest.FetchTopic(topic=topic, partitions=[partition])])
    found = broker.ask(requested, 11).responses[0].partitions[0]
    return found.error_code, found.high_watermark


def test_a_full_disk_takes_its_directory_offline_and_loses_nothing_acknowledged(tmp_path: Path) -> None:
    words = [word for name in "ab" for word in ("--data-dir", str(tmp_path / name))]
    with serving(*words, "--topic", "lost", "--topic", "kept") as broker:
        limit_files(broker.process.pid, LIMIT)
        assert (tmp_path / "b" / "lost-0").is_dir()
        assert (tmp_path / "a" / "kept-0").is_dir()
        assert [produce(broker.address, "lost", LARGE), produce(broker.address, "lost", LARGE)] == [
            (0, 0),
            (error_codes.KAFKA_STORAGE_ERROR, -1),
        ]
        assert end_of(broker, "lost") == (error_codes.KAFKA_STORAGE_ERROR, -1)
        assert (tmp_path / "b" / "lost-0" / f"{0:020}.log").stat().st_size < LIMIT
        assert [produce(broker.address, "kept", b"v"), end_of(broker, "kept")] == [(0, 0), (0, 1)]
        code, output = broker.end(signal.SIGTERM)
    assert code == 0
    assert f"{tmp_path}/b is offline until a restart, and its partition is not served: " in output
    assert "Traceback" not in output
    with serving(*words) as again:
        assert [end_of(again, "lost"), end_of(again, "kept")] == [(0, 1), (0, 1)]
        assert produce(again.address, "lost", LARGE) == (0, 1)


def test_serve_ends_when_the_directory_of_the_metadata_fails(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--topic", "t") as broker:
        limit_files(broker.process.pid, LIMIT)
        assert produce(broker.address, "t", LARGE) == (0, 0)
        with suppress(OSError, EOFError):  # the process may end before it answers
            assert produce(broker.address, "t", LARGE) == (error_codes.KAFKA_STORAGE_ERROR, -1)
        code, output = broker.ended()
    assert code == 3
    last = output.splitlines()[-1]
    assert last.startswith(f"kafkadouble: {tmp_path}, which has the cluster's metadata, cannot be used any more: ")
    assert "Traceback" not in output
    with serving("--data-dir", str(tmp_path)) as again:
        assert produce(again.address, "t", LARGE) == (0, 1)


def test_a_directory_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    ended = run("serve", "--port", "0", "--data-dir", str(tmp_path / "file" / "d"))
    assert (ended.returncode, ended.stdout) == (3, "")
    assert f"{tmp_path}/file/d" in ended.stderr
    assert "Traceback" not in ended.stderr
