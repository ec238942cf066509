"""The share coordinator: what it writes, and when records become redundant."""

from __future__ import annotations

import pytest

from kafkadouble.messages import coordinator
from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.share_snapshot_record import ShareSnapshotKey, ShareSnapshotValue
from kafkadouble.messages.generated.share_update_record import ShareUpdateKey, ShareUpdateValue
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.internal_topics import SHARE_GROUP_STATE
from kafkadouble.server.share.persister import ReadStateResult, SharePartitionKey
from tests.server.harness import NOW
from tests.server.share.broker import ACKNOWLEDGED, AVAILABLE, ShareBroker, batch

UPDATES = "share.coordinator.snapshot.update.records.per.snapshot"
INTERVAL_MS = 300_000
"""Kafka's default of both periodic jobs."""


def kinds(broker: ShareBroker) -> str:
    """The records that are left: a snapshot, an update, or a tombstone."""
    found = ""
    for _, key, value in broker.records():
        is_snapshot = isinstance(coordinator.decode_key(key, "share_coordinator"), ShareSnapshotKey)
        found += "t" if value is None else "s" if is_snapshot else "u"
    return found


def test_the_bytes_of_the_records() -> None:
    """Snapshot and update as Apache Kafka 4.4.0 writes them: the update has no state epoch."""
    broker = ShareBroker()
    broker.initialize(state_epoch=3, start_offset=7)
    broker.write(batch(7, 9, ACKNOWLEDGED, 2), state_epoch=3, start_offset=7, count=3)
    broker.delete()
    snapshot, update, tombstone = broker.records()
    name = b"\0\x01g" + bytes(broker.topic_id) + b"\0\0\0\0"
    assert snapshot[1] == tombstone[1] == b"\0\0" + name
    assert update[1] == b"\0\x01" + name
    now = NOW.to_bytes(8)
    assert snapshot[2] == (
        b"\0\0" + bytes(4) + b"\0\0\0\3" + bytes(4) + (7).to_bytes(8) + now + now + b"\1" + b"\1\0\4\0\0\0\0"
    )
    batches = b"\2" + (7).to_bytes(8) + (9).to_bytes(8) + b"\2\0\2\0"
    assert update[2] == b"\0\0" + bytes(4) + bytes(4) + (7).to_bytes(8) + batches + b"\1\0\4\0\0\0\3"
    assert tombstone[2] is None


def test_a_snapshot_follows_the_updates() -> None:
    broker = ShareBroker({UPDATES: 3})
    broker.initialize()
    for offset in range(9):
        assert broker.write(batch(offset, offset, ACKNOWLEDGED)) == (0, None)
    assert kinds(broker) == "suuusuuusu"
    value = ShareSnapshotValue.decode(broker.records()[4][2], 0, 2)
    assert (value.snapshot_epoch, value.create_timestamp, value.write_timestamp) == (1, NOW, NOW)
    assert [(batch.first_offset, batch.last_offset) for batch in value.state_batches] == [(0, 3)]
    last = ShareUpdateValue.decode(broker.records()[-1][2], 0, 2)
    assert (last.snapshot_epoch, last.leader_epoch) == (2, 0)
    assert broker.read().batches == [batch(0, 8)]


def test_without_updates_every_write_is_a_snapshot() -> None:
    broker = ShareBroker({UPDATES: 0})
    broker.initialize()
    broker.write(batch(0, 0))
    broker.write(batch(1, 1))
    assert kinds(broker) == "sss"
    assert broker.read().batches == [batch(0, 1)]


def test_a_new_leader_epoch_is_written_once() -> None:
    broker = ShareBroker()
    broker.initialize()
    broker.write(batch(0, 3, AVAILABLE))
    assert [broker.read(epoch).error_code for epoch in (0, 4, 4, 3)] == [0, 0, 0, codes.FENCED_LEADER_EPOCH]
    assert kinds(broker) == "suu"
    assert broker.write(leader_epoch=3)[0] == codes.FENCED_LEADER_EPOCH
    assert broker.read(4).batches == [batch(0, 3, AVAILABLE)]


def test_redundant_share_state_records_are_deleted_in_intervals() -> None:
    broker = ShareBroker({UPDATES: 1})
    other = SharePartitionKey("h", broker.topic_id, 1)
    broker.initialize()
    broker.initialize(other)
    for offset in range(4):
        broker.write(batch(offset, offset))
    assert kinds(broker) == "ssusus"
    broker.tick(INTERVAL_MS - 1)
    assert kinds(broker) == "ssusus"
    broker.tick(1)
    # The snapshot of the quiet share partition comes after the one of the busy one.
    assert kinds(broker) == "susus" + "ss"
    broker.tick(INTERVAL_MS)
    assert kinds(broker) == "ss"
    assert broker.read().batches == [batch(0, 3)]
    assert broker.read(key=other) == ReadStateResult(0, None, 1, 0, [])


def test_a_cold_snapshot_is_not_repeated_while_all_are_quiet() -> None:
    broker = ShareBroker()
    broker.initialize()
    for _ in range(4):
        broker.tick(INTERVAL_MS)
    value = ShareSnapshotValue.decode(broker.records()[-1][2], 0, 2)
    assert (value.snapshot_epoch, value.create_timestamp, value.write_timestamp) == (1, NOW, NOW + INTERVAL_MS)


def test_the_jobs_rest_while_share_groups_are_disabled() -> None:
    broker = ShareBroker({UPDATES: 1}, enabled=False)
    broker.initialize()
    broker.write(batch(0, 0))
    broker.write(batch(1, 1))
    broker.tick(3 * INTERVAL_MS)
    assert kinds(broker) == "sus"


def test_a_tombstone_lets_everything_before_it_be_deleted() -> None:
    broker = ShareBroker()
    broker.initialize()
    broker.write(batch(0, 0))
    broker.delete()
    broker.tick(INTERVAL_MS)
    assert kinds(broker) == "t"
    broker.initialize()
    assert broker.read() == ReadStateResult(0, None, 1, 0, [])


def test_the_state_of_a_deleted_topic_is_deleted() -> None:
    broker = ShareBroker()
    broker.create("u")
    key = SharePartitionKey("g", broker.image.topic_ids["u"], 0)
    broker.initialize()
    broker.initialize(key)
    broker.ask(DeleteTopicsRequest(topic_names=["u"], timeout_ms=1000), 5)
    assert kinds(broker) == "sst"
    assert list(broker.shard.states) == [broker.key]


def test_unknown_records_are_ignored() -> None:
    broker = ShareBroker()
    broker.shard.replay(0, -1, ShareUpdateKey(group_id="x"), None)
    assert broker.shard.states == {}


def test_an_update_without_its_snapshot_is_a_state() -> None:
    broker = ShareBroker()
    key = ShareUpdateKey(group_id="x", topic_id=broker.topic_id, partition=1)
    broker.shard.replay(0, -1, key, ShareUpdateValue(leader_epoch=2, start_offset=5))
    assert broker.read(2, SharePartitionKey("x", broker.topic_id, 1)).start_offset == 5


@pytest.mark.parametrize("updates", [0, 2, 500])
def test_a_restart_keeps_the_state(updates: int) -> None:
    logs = MemoryLogs()
    settings: dict[str, object] = {UPDATES: updates}
    broker = ShareBroker(settings, logs=logs)
    broker.initialize(state_epoch=2, start_offset=1)
    broker.read(5)
    broker.write(batch(1, 4, AVAILABLE, 1), batch(2, 2), state_epoch=2, leader_epoch=5, start_offset=1, count=1)
    broker.write(batch(5, 5), state_epoch=2, leader_epoch=5, start_offset=2, count=2)
    broker.tick(INTERVAL_MS)
    before = dict(broker.shard.states)
    again = ShareBroker(settings, logs=logs, enabled=False, now=broker.now)
    assert {key: state.offset for key, state in again.shard.states.items()} == {
        key: state.offset for key, state in before.items()
    }
    assert again.write(state_epoch=1, leader_epoch=5)[0] == codes.FENCED_STATE_EPOCH
    assert again.read(4).error_code == codes.FENCED_LEADER_EPOCH
    assert again.read(5).batches == [batch(2, 2), batch(3, 4, AVAILABLE), batch(5, 5)]


def test_the_log_of_share_state_is_not_compacted() -> None:
    assert ShareBroker().partition(SHARE_GROUP_STATE).log.config.deletes
