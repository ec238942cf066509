"""A disk that fails under the log: nothing is counted that is not there, and the replica stops."""

import pytest

from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.storage import Flush
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient, NotLeader
from tests.server.raft.asking import elected, member
from tests.server.raft.followed import Followed, batch, response


class Failing:
    """What was written is never flushed, once the disk is broken."""

    def __init__(self) -> None:
        self.broken = False
        self.flushed_to: list[int] = []

    def unflushed(self) -> Flush:
        def step() -> None:
            if self.broken:
                raise DiskFailure("data", "input/output error")

        return Flush(7, [step])

    def flushed(self, offset: int) -> None:
        self.flushed_to.append(offset)


def on(replica: KafkaRaftClient) -> Failing:
    replica.log._storage = found = Failing()
    return found


def test_a_leader_that_cannot_flush_counts_nothing_and_leads_no_more() -> None:
    alone = elected(member())
    disk, now = on(alone.replica), alone.replica.now
    alone.replica.append([b"kept"], now)
    assert disk.flushed_to == [7]
    own = alone.replica.state.voters[1]  # type: ignore[union-attr]  # it leads
    before = own.end_offset
    disk.broken = True
    alone.replica.append([b"lost"], now)
    assert isinstance(alone.replica.failure, DiskFailure)
    assert own.end_offset == before
    with pytest.raises(NotLeader):
        alone.replica.append([b"never"], now)


def test_a_follower_that_cannot_flush_fetches_no_more() -> None:
    followed = Followed()
    on(followed.replica).broken = True
    followed.answer(response(batch(0, b"a"), high_watermark=1))
    assert isinstance(followed.replica.failure, DiskFailure)
    assert followed.replica.take_outgoing() == []
    assert followed.member.listener.values == []
