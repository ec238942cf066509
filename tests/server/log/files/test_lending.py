"""What a log lends out of its files is what it reads from them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files import real_file, segment
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.wire.file_slice import FileSlice

from ..batches import NOW, produced


@pytest.mark.parametrize("seed", range(3))
def test_lent_batches_equal_read_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """From every offset, up to every bound, for every size limit; with and without a batch that is
    larger than the limit."""
    for module in (real_file, segment):
        monkeypatch.setattr(module, "WORTH_IT", 200)
    rng = random.Random(seed)
    config = LogConfig.of({"segment.bytes": 4000, "index.interval.bytes": 300})
    disk = RealDisk(str(tmp_path))
    log = open_log(disk, "orders-0", "orders", 0, config, clean=True, recovery_point=0, log_start_offset=0, now=NOW)
    for _ in range(60):
        log.append_as_leader(produced(rng.randint(1, 4), size=rng.randint(1, 120)), leader_epoch=0, now=NOW)
    end, lent = log.log_end_offset, 0
    for offset in range(end + 1):
        for size in (0, 1, 250, 1500, 100_000):
            bound, at_least_one = rng.randint(offset, end), rng.random() < 0.5
            loan = log.lend(offset, size, bound, at_least_one=at_least_one)
            found = log.read(offset, size, bound, at_least_one=at_least_one)
            records = loan.records.read() if isinstance(loan.records, FileSlice) else loan.records
            lent += isinstance(loan.records, FileSlice)
            assert (bytes(records), loan.next_offset) == (bytes(found.records), found.next_offset)
    assert lent > end
