"""Partitions that move to and fro leave nothing behind: no open file, no folder, no byte."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.server.logs.flushing import run
from tests.server.harness import Harness
from tests.server.logs.folders import formatted, logs_in
from tests.server.machine import produce_request, produced
from tests.server.moving import Dirs, moved

MOVES = 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks at /proc")
def test_descriptors_and_disk_space_stay_as_they_are(tmp_path: Path) -> None:
    dirs = Dirs(tmp_path, {"replica.fetch.max.bytes": "1000000"})
    dirs.produce(60, 100_000)
    before, seen = dirs.batches(), []
    for number in range(MOVES):
        assert moved(dirs.node, dirs.paths[1 + number % 2]) == "NONE"
        dirs.finish()
        assert dirs.batches() == before
        dirs.node.tick(200_000)
        files = [file for path in dirs.paths for file in path.glob("t-0*/**/*") if file.is_file()]
        seen.append((len(os.listdir("/proc/self/fd")), len(files), sum(file.stat().st_size for file in files)))
    assert len({entry[1:] for entry in seen[4:]}) == 1, seen
    assert max(entry[0] for entry in seen[2:]) <= seen[1][0] + 2


@pytest.mark.parametrize("under_way", [False, True])
def test_a_flush_of_a_deleted_partition_does_not_fail_its_directory(tmp_path: Path, under_way: bool) -> None:
    """Its folder has another name by then."""
    formatted(tmp_path / "a")
    node = Harness({"log.flush.interval.messages": "1"}, logs=logs_in(tmp_path / "a"))
    node.create("t")
    pending = node.begin(produce_request("t", b"v"), 9)
    flushing = node.node.flushing
    jobs = flushing.begin() if under_way else []
    node.submit(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    flushing.end(jobs, run(jobs))
    jobs = flushing.begin()
    flushing.end(jobs, run(jobs))
    assert pending.done
    assert node.node.logs.outages() == []
    node.create("u")
    pending = node.begin(produce_request("u", b"v"), 9)
    jobs = flushing.begin()
    flushing.end(jobs, run(jobs))
    node.tick(1)
    assert produced(pending) == (0, 0)
