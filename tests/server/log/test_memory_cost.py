"""The memory that a log costs: the growth of a process of its own, compared with the bytes that
were appended.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import gc, os, sys, tracemalloc
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import Record, encode_batch

count, total = int(sys.argv[1]), int(sys.argv[2])
batch = bytes(encode_batch([Record(i, 1700000000000 + i, None, b"v" * 93) for i in range(count)]))

def fill(log, size):
    for _ in range(size // len(batch)):
        log.append_as_leader(batch, leader_epoch=1, now=1700000000000)

def resident():
    with open("/proc/self/statm") as figures:
        return int(figures.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

fill(PartitionLog("warm", 0), 1 << 20)
gc.collect()
log, before = PartitionLog("orders", 0), resident()
fill(log, total)
gc.collect()
print(resident() - before, log.size, log._storage.overhead)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("count", "total", "bound"), [(150, 50_000_000, 1.10), (1, 20_000_000, 1.15)])
def test_memory_for_each_byte_appended(count: int, total: int, bound: float) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(count), str(total)], capture_output=True, text=True, check=True
    )
    taken, size, index = map(int, run.stdout.split())
    assert size > 0.99 * total
    assert 0.95 * size < taken < bound * size
    assert index < 0.02 * size
