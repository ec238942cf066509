"""Replicas in one process share memory: equal bytes are stored once, and no replica sees what
another one does.
"""

from __future__ import annotations

from random import Random

import pytest

from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.memory_chunk import LASTING
from kafkadouble.server.log.memory_shared import SharedChunk, chunk_around
from kafkadouble.server.log.storage import LogAppendInfo
from kafkadouble.wire.batch import read_header

from .batches import NOW, produced

EVERYTHING = 1 << 30


def replica() -> PartitionLog:
    return PartitionLog("orders", 0)


def lead(log: PartitionLog, *sizes: int, epoch: int = 0) -> None:
    """One batch of one record for each size."""
    for size in sizes:
        log.append_as_leader(produced(size=size), leader_epoch=epoch, now=NOW)


def follow(follower: PartitionLog, leader: PartitionLog, most: int = EVERYTHING, *, once: bool = False) -> None:
    """Takes what the leader has more, as a fetch in one process hands it on."""
    while follower.log_end_offset < leader.log_end_offset:
        loan = leader.lend(follower.log_end_offset, most, leader.log_end_offset, at_least_one=True)
        assert isinstance(loan.records, bytes | memoryview)
        follower.append_as_follower(loan.records, now=NOW)
        if once:
            return


def contents(log: PartitionLog) -> bytes:
    return b"".join(bytes(batch) for batch in log.batches(log.log_start_offset))


def memories(log: PartitionLog) -> list[int]:
    """What holds its bytes, one after the other."""
    return [id(batch.obj) for batch in log.batches(0)]


def chunks_of(log: PartitionLog) -> list[object]:
    return [chunk for segment in log.segments for chunk in segment.chunks]  # type: ignore[attr-defined]  # in memory


def in_step(*sizes: int) -> tuple[PartitionLog, PartitionLog]:
    """A leader, and a follower that fetched after each batch."""
    leader, follower = replica(), replica()
    for size in sizes:
        lead(leader, size)
        follow(follower, leader)
    return leader, follower


def test_a_follower_keeps_what_its_leader_has_where_it_lies() -> None:
    leader, follower = in_step(*[300] * 200)
    assert contents(follower) == contents(leader)
    assert memories(follower) == memories(leader)
    assert len(chunks_of(follower)) == len(chunks_of(leader)) > 3
    assert follower.size == leader.size


def test_joined_batches_are_copied_and_the_next_is_shared() -> None:
    leader, follower = replica(), replica()
    lead(leader, *[300] * 100)  # over several small chunks
    follow(follower, leader)
    assert not set(memories(follower)) & set(memories(leader))
    lead(leader, 300)
    follow(follower, leader)
    assert memories(follower)[-1] == memories(leader)[-1]
    assert contents(follower) == contents(leader)


def test_a_follower_of_a_follower_shares_too() -> None:
    leader, follower = in_step(300, 300)
    other = replica()
    follow(other, follower)
    assert memories(other) == memories(leader)


def test_a_truncated_log_leaves_the_other_unchanged() -> None:
    leader, follower = in_step(*[300] * 50)
    before = contents(leader)
    follower.truncate_to(20)
    lead(follower, *[77] * 50, epoch=1)
    assert contents(leader) == before
    assert len(set(memories(follower)) - set(memories(leader))) > 1
    after = contents(follower)
    leader.truncate_to(10)
    lead(leader, *[55] * 50, epoch=2)
    assert contents(follower) == after


def test_batch_deleted_by_another_log_stays() -> None:
    leader, follower = in_step(*[300] * 50)
    before = contents(leader)
    leader.truncate_fully_and_start_at(0)
    lead(leader, *[55] * 50)
    assert contents(follower) == before


def test_a_new_leader_writes_to_memory_of_its_own_and_the_old_one_shares_that() -> None:
    old, new = in_step(300, 300)
    lead(new, 300, epoch=1)
    follow(old, new)
    assert contents(old) == contents(new)
    assert memories(old) == memories(new)
    lead(old, 300, epoch=2)
    assert len(memories(new)) == 3


@pytest.mark.parametrize("offset", [0, 3])
def test_batch_appended_to_another_log_is_copied_and_stamped(offset: int) -> None:
    leader, other = in_step(300, 300)[0], replica()
    lead(other, *[10] * offset)
    before = contents(leader)
    first = leader.read(0, 1, EVERYTHING).records
    assert isinstance(first, memoryview)
    assert isinstance(first.obj, LASTING)
    other.append_as_leader(first, leader_epoch=7, now=NOW)
    stored = read_header(other.read(offset, 1, EVERYTHING).records)
    assert (stored.base_offset, stored.partition_leader_epoch) == (offset, 7)
    assert contents(leader) == before
    assert not any(isinstance(chunk, SharedChunk) for chunk in chunks_of(other))


def test_a_chunk_goes_on_with_nothing_but_what_lies_at_its_end() -> None:
    first, second, third = in_step(300, 300, 300)[0].batches(0)
    twin = [*in_step(300, 300)[0].batches(0)][1]
    chunk = chunk_around(first, LogAppendInfo(0, 0, 0, NOW))
    assert chunk is not None
    assert not chunk.go_on_with(third, LogAppendInfo(2, 2, 0, NOW))
    assert not chunk.go_on_with(twin, LogAppendInfo(1, 1, 0, NOW))
    assert not chunk.append(second, LogAppendInfo(1, 1, 0, NOW)), "nothing is written to it"
    assert chunk.go_on_with(second, LogAppendInfo(1, 1, 0, NOW))
    assert chunk.size == len(first) + len(second)


def test_every_chunk_is_let_go_of_by_itself() -> None:
    leader, follower = in_step(*[300] * 200)
    for log in (leader, follower):
        log.high_watermark = log.log_end_offset
    follower.delete_records_before(150)
    assert len(chunks_of(follower)) < len(chunks_of(leader))
    assert contents(leader).endswith(contents(follower))


@pytest.mark.parametrize("seed", range(20))
def test_logs_with_shared_memory_keep_their_own_batches(seed: int) -> None:
    random = Random(seed)
    logs, epoch = [replica(), replica(), replica()], 0
    known = [b"", b"", b""]
    for _ in range(150):
        at = random.randrange(3)
        log, other = logs[at], logs[(at + random.randrange(1, 3)) % 3]
        match random.randrange(8):
            case 0:
                log.truncate_to(random.randint(max(0, log.log_end_offset - 10), log.log_end_offset))
            case 1 | 2 | 3:
                epoch += 1
                lead(log, *random.choices((10, 300, 5000), k=random.randint(1, 5)), epoch=epoch)
            case _:
                end = 0
                for mine, its in zip(log.batches(0), other.batches(0), strict=False):
                    if bytes(mine) != bytes(its):
                        break
                    end = read_header(mine).next_offset
                log.truncate_to(end)
                follow(log, other, random.choice((1, 1000, EVERYTHING)), once=random.random() < 0.5)
        known[at] = contents(log)
        assert [contents(log) for log in logs] == known, f"step of log {at}"
