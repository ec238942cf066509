"""A process that is killed without warning: its acknowledged records are there when another one
opens its log.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk

from ..batches import NOW, everything

PROGRAM = """
import sys
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.wire.batch import Record, encode_batch

log = open_log(
    RealDisk(sys.argv[1]), "t-0", "t", 0, LogConfig.of({"segment.bytes": 20_000}),
    clean=True, recovery_point=0, log_start_offset=0, now=1700000000000,
)
batch = bytes(encode_batch([Record(i, 1700000000000 + i, None, b"v" * 50) for i in range(3)]))
while True:
    print(log.append_as_leader(batch, leader_epoch=1, now=1700000000000).last_offset, flush=True)
"""


@pytest.mark.parametrize("acknowledged", [1, 500, 2000])
def test_acknowledged_records_survive_a_kill(tmp_path: Path, acknowledged: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(acknowledged):
        last = int(process.stdout.readline())
    process.kill()
    process.wait()
    lines = [*process.stdout.read().splitlines()]
    process.stdout.close()
    last = max([last, *(int(line) for line in lines[:-1])])  # the last line may be a piece of one
    log = open_log(
        RealDisk(str(tmp_path)), "t-0", "t", 0, LogConfig(), clean=False, recovery_point=0, log_start_offset=0, now=NOW
    )
    assert log.log_end_offset > last
    assert everything(log) == list(range(log.log_end_offset))
    log.close()
