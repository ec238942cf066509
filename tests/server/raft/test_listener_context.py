"""The calls of the raft listener: it receives each offset once, in order. It receives a snapshot if
the log no longer has the records before an offset.
"""

from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.storage import Slice
from kafkadouble.server.raft import listener_context
from kafkadouble.server.raft.kafka_raft_client import NotLeader
from kafkadouble.server.raft.raft_log import DivergedLog, RaftLog
from tests.server.raft.asking import member
from tests.server.raft.changing import Changing, remove
from tests.server.raft.followed import Followed, batch, response
from tests.server.raft.quorum import START, Quorum, RecordingListener, Snapshots, static_voters


def test_listener_loads_the_snapshot_once_before_later_records() -> None:
    delivered: list[Any] = []

    class Ordered(RecordingListener):
        def committed(self, batches: Slice) -> None:
            delivered.append((batches.offset, batches.next_offset))

        def snapshot_loaded(self, reader: Any) -> None:
            delivered.append(reader)

    log = RaftLog(PartitionLog("m", 0), static_voters([1]), Snapshots(OffsetAndEpoch(7, 3)))
    log.append_as_follower(batch(7, b"a", epoch=4) + batch(8, b"b", epoch=4), 4, START)
    context = listener_context.ListenerContext(Ordered(), log)
    context.fire_events(None)
    log.commit(8)
    context.fire_events(None)
    log.commit(9)
    context.fire_events(None)
    context.fire_events(None)
    assert delivered == [OffsetAndEpoch(7, 3), (7, 8), (8, 9)]


def test_listener_behind_the_log_start_offset_loads_the_snapshot() -> None:
    log = RaftLog(PartitionLog("m", 0), static_voters([1]))
    log.append_as_follower(batch(0, b"a"), 4, START)
    listener = RecordingListener()
    context = listener_context.ListenerContext(listener, log)
    log.commit(1)
    context.fire_events(None)
    log.snapshots = Snapshots(OffsetAndEpoch(9, 5))
    assert log.start_from_snapshot(OffsetAndEpoch(9, 5))
    log.append_as_follower(batch(9, b"b", epoch=5), 5, START)
    log.commit(10)
    context.fire_events(None)
    assert listener.snapshots == [OffsetAndEpoch(9, 5)]
    assert listener.offsets == [0, 9]


def test_bootstrap_snapshot_is_loaded_with_the_first_commit() -> None:
    quorum = Quorum(dynamic=True)
    assert quorum.listener(1).snapshots == []
    quorum.elect()
    quorum.run(1000)
    assert [quorum.listener(id).snapshots for id in (1, 2, 3)] == [[OffsetAndEpoch(0, 0)]] * 3
    assert quorum.listener(1).offsets == list(range(quorum[1].log.high_watermark))


def test_listener_receives_many_records_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener_context, "MAX_BYTES_PER_CALL", 200)
    followed = Followed()
    records = b"".join(batch(number, b"x" * 150) for number in range(5))
    followed.answer(response(records, high_watermark=4))
    assert followed.member.listener.offsets == [0, 1, 2, 3]


def test_batch_appended_by_a_listener_is_delivered_afterwards() -> None:
    class Eager(RecordingListener):
        def became_leader(self, epoch: int) -> None:
            super().became_leader(epoch)
            alone.replica.append([b"mine"], START)

    alone = member(voters=(1,))
    alone.listener = alone.replica._listener_context._listener = Eager()
    alone.replica.tick(START)
    assert alone.listener.values == [b"mine"]
    assert alone.listener.events == [("leader", 1)]


def test_failed_leader_resigns_and_refuses_appends() -> None:
    changing = Changing()
    changing.quorum.isolate(changing.id)
    response = changing.ask(remove(changing.others[0]))
    changing.leader.fail(DivergedLog("for a test"))
    changing.quorum.members[changing.id].driver.run(changing.quorum.now)
    assert response[0].error_code == e.NOT_LEADER_OR_FOLLOWER
    assert changing.quorum.listener(changing.id).events[-1] == ("lost", changing.leader.epoch)
    with pytest.raises(NotLeader):
        changing.leader.append([b"x"], changing.quorum.now)
    assert changing.leader.is_stopped
