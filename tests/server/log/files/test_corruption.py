"""Damage to any file of a partition's folder: the records before it are there, or a refusal says
where the damage is; there is never a wrong record.

    KAFKADOUBLE_CORRUPTIONS=5000 python -m pytest tests/server/log/files/test_corruption.py

Each piece of damage has its own seed. What no checksum covers cannot be found: the leader epoch of
any batch, the offset of the last batch, and those of other batches where the log is trusted because
it was closed cleanly.
"""

from __future__ import annotations

import os
from functools import cache
from random import Random
from typing import NamedTuple

import pytest

from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.log.log import LogRefused, PartitionLog
from kafkadouble.wire.batch import check_crc, read_header
from kafkadouble.wire.errors import WireError
from tests.server.log.files.power_loss import CONFIG, Life

from ..batches import NOW
from .lossy_disk import LossyDisk

TOTAL = int(os.environ.get("KAFKADOUBLE_CORRUPTIONS", "2000"))
GROUPS = 10


class Stored(NamedTuple):
    """A batch, and where it lies."""

    file: str
    position: int
    batch: bytes


class Example(NamedTuple):
    """A folder in good order."""

    disk: LossyDisk
    batches: list[Stored]
    recovery_point: int


@cache
def example(clean: bool) -> Example:
    """A log of several segments, epochs, producers and transactions, closed or left as it was."""
    life = Life(Random(3))
    for _ in range(6):
        for deed in (Life.produce, Life.produce_in_sequence, Life.transact, Life.transact, Life.produce):
            deed(life)
        life.next_epoch()
        life.transact()
        life.flush()
        life.checkpoint()
    if clean:
        life.log.close()
        life.checkpoint()
    stored = []
    for path, contents in sorted(life.disk.contents.items()):
        position = 0
        while path.endswith(".log") and position < len(contents.data):
            header = read_header(contents.data, position)
            stored.append(Stored(path, position, bytes(contents.data[position : position + header.size])))
            position += header.size
    return Example(life.disk.copy(), stored, life.recovery_point)


class Damage(NamedTuple):
    """What was done to a file, from where on."""

    file: str
    position: int
    what: str


def damage(disk: LossyDisk, random: Random) -> Damage:
    """Changes one file."""
    path = random.choice(sorted(path for path, contents in disk.contents.items() if contents.data))
    data = disk.contents[path].data
    at, length = random.randrange(len(data)), random.choice([1, 4, 30, 200])
    what = random.choice(["bit", "bit", "bit", "burst", "burst", "zeros", "cut", "more", "gone"])
    if what == "bit":
        data[at] ^= 1 << random.randrange(8)
    elif what == "burst":
        data[at : at + length] = random.randbytes(len(data[at : at + length]))
    elif what == "zeros":
        data[at : at + length] = bytes(len(data[at : at + length]))
    elif what == "cut":
        del data[at:]
    elif what == "more":
        at = len(data)
        data += random.randbytes(length)
    else:
        at = 0
        del disk.contents[path]
    return Damage(path, at, what)


def read_all(log: PartitionLog) -> tuple[list[bytes], bool]:
    """Every batch that a client is given, and whether the end was reached. A refusal must say where
    the damage is."""
    found: list[bytes] = []
    offset = log.log_start_offset
    try:
        while offset < log.log_end_offset:
            piece = log.read(offset, 2000, log.log_end_offset)
            records, at = bytes(piece.records), 0
            while at < len(records):
                size = read_header(records, at).size
                found.append(records[at : at + size])
                at += size
            if piece.next_offset <= offset:
                return found, False
            offset = piece.next_offset
    except (BadFile, LogRefused) as problem:
        return (found, False) if ".log" in str(problem) and "at byte" in str(problem) else ([], True)
    except WireError:  # what a client would find, too
        return found, False
    return found, True


def is_whole(batch: bytes) -> bool:
    try:
        check_crc(batch, 0, read_header(batch))
    except WireError:
        return False
    return True


def without_epoch(batch: bytes) -> bytes:
    return batch[:12] + batch[16:]


@pytest.mark.parametrize("group", range(GROUPS))
def test_damage(group: int) -> None:
    for seed in range(group, TOTAL, GROUPS):
        try:
            one_damage(seed)
        except BaseException:
            print(f"seed {seed}")
            raise


def one_damage(seed: int) -> None:
    random = Random(seed)
    clean = random.random() < 0.5
    given = example(clean)
    disk = given.disk.copy()
    done = damage(disk, random)
    recovery_point = given.recovery_point if clean else random.choice([0, given.recovery_point])
    opened = opened_or_refused(disk, clean, recovery_point)
    if isinstance(opened, BadFile):
        assert (opened.file, opened.offset >= 0) == (done.file, True), (done, opened)
        assert done.file.endswith(".log"), (done, opened)
        return
    log = opened
    check(log, given.batches, done, verified=not clean and not recovery_point)
    offsets = [log.log_end_offset]
    log.append_own(given.batches[0].batch, leader_epoch=1000, now=NOW)  # life goes on
    assert log.log_end_offset > offsets[0]


def opened_or_refused(disk: LossyDisk, clean: bool, recovery_point: int) -> PartitionLog | BadFile:
    try:
        return open_log(
            disk, "t-0", "t", 0, CONFIG, clean=clean, recovery_point=recovery_point, log_start_offset=0, now=NOW
        )
    except BadFile as refusal:
        return refusal


def check(log: PartitionLog, batches: list[Stored], done: Damage, *, verified: bool) -> None:
    found, whole = read_all(log)
    intact = [without_epoch(batch.batch) for batch in batches]
    good = [without_epoch(batch) for batch in found if is_whole(batch)]
    if verified:
        assert whole, done
        assert len(good) == len(found), done
    before = [
        without_epoch(each.batch)
        for each in batches
        if not done.file.endswith(".log") or (each.file, each.position + len(each.batch)) <= (done.file, done.position)
    ]
    assert good[: len(before)] == before, done
    strange = [batch for batch in good if batch not in intact]
    assert {batch[8:] for batch in strange} <= {batch[8:] for batch in intact}, done
    if strange and verified:
        last = batches[-1]
        assert (done.file, strange) == (last.file, good[-1:]), done
        assert last.position <= done.position < last.position + 8, done
    bases = [read_header(batch).base_offset for batch in found]
    if verified:
        assert bases == sorted(bases), done
    for each in batches if len(before) == len(batches) else ():
        header = read_header(each.batch)
        due = next(b for b in batches if read_header(b.batch).max_timestamp >= header.max_timestamp)
        first = read_header(due.batch)
        assert first.base_offset <= log.offset_for(header.max_timestamp).offset <= first.last_offset, done
