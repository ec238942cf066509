"""Replicas that reach one another over sockets: they elect, they replicate, and they go on after
the leader has failed."""

from __future__ import annotations

import asyncio

from kafkadouble.messages.generated.no_op_record import NoOpRecord
from tests.support.asking import run
from tests.support.served_replica import ServedReplica, leader_of, served


async def committed(members: list[ServedReplica], offset: int) -> None:
    while any(member.replica.log.high_watermark < offset for member in members):
        await asyncio.sleep(0.005)


def bytes_of(member: ServedReplica, end: int) -> bytes:
    found, at = b"", 0
    while at < end:
        batches = member.replica.log.read(at, 1 << 20)
        found, at = found + bytes(batches.records), batches.next_offset
    return found


def test_three_elect_one_and_have_the_same_log() -> None:
    async def test() -> None:
        async with served(3) as members:
            leader = await leader_of(members)
            for _ in range(5):
                leader.append(NoOpRecord(), NoOpRecord())
            end = leader.replica.log.end_offset
            await committed(members, end)
            assert len({bytes_of(member, end) for member in members}) == 1
            assert {member.replica.leader_id for member in members} == {leader.id}

    run(test())


def test_quorum_over_sockets_survives_the_loss_of_its_leader() -> None:
    async def test() -> None:
        async with served(3) as members:
            first = await leader_of(members)
            first.append(NoOpRecord())
            end = first.replica.log.end_offset
            await committed(members, end)
            before = bytes_of(first, end)
            await first.stop()
            left = [member for member in members if member is not first]
            second = await leader_of(left)
            assert second.replica.epoch > first.replica.epoch
            second.append(NoOpRecord())
            await committed(left, second.replica.log.end_offset)
            assert {bytes_of(each, end)[: len(before)] for each in left} == {before}

    run(test())
