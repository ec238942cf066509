"""A broker that coordinates every share partition, and that leads the topic "t" of two
partitions."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.metadata.features import SHARE_VERSION
from kafkadouble.server.metadata.internal_topics import SHARE_GROUP_STATE
from kafkadouble.server.share.persister import PersisterStateBatch, ReadStateResult, SharePartitionKey
from kafkadouble.server.share.share_coordinator_shard import ShareCoordinatorShard
from kafkadouble.wire.batch import iter_batches, records_of
from tests.server.harness import Harness

AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4

Outcome = tuple[int, str | None]


def batch(first: int, last: int, state: int = ACKNOWLEDGED, count: int = 1) -> PersisterStateBatch:
    return PersisterStateBatch(first, last, state, count)


class ShareBroker(Harness):
    """`key` is the share partition of group "g" and partition 0 of "t". Share groups are enabled
    unless `enabled` says not."""

    def __init__(
        self, settings: dict[str, object] | None = None, *, enabled: bool = True, logs: Logs | None = None, **how: Any
    ) -> None:
        super().__init__({"share.coordinator.state.topic.num.partitions": 1, **(settings or {})}, logs=logs, **how)
        if self.image.topic_named("t") is None:
            self.node.controller.create_internal_topic(SHARE_GROUP_STATE)
            self.create("t", partitions=2)
        if not enabled:
            self.node.controller.commit([FeatureLevelRecord(name=SHARE_VERSION, feature_level=0)])
        topic = self.topic("t")
        self.topic_id: Uuid = topic.id
        self.key = SharePartitionKey("g", topic.id, 0)

    @property
    def shard(self) -> ShareCoordinatorShard:
        found = self.node.share_coordinator.runtime.shard_at(0)
        assert found is not None
        return found

    def records(self) -> list[tuple[int, Any, Any]]:
        """Offset, key and value of each record of `__share_group_state` that is not deleted."""
        log = self.partition(SHARE_GROUP_STATE).log
        found = log.read(log.log_start_offset, 1 << 20, log.log_end_offset, sealed=False).records
        return [
            (record.offset, record.key, record.value)
            for position, header in iter_batches(found)
            for record in records_of(found, position, header, check_crc=False)
            if record.offset >= log.log_start_offset
        ]

    # The persister of the broker. The results come at once unless time must pass.

    def initialize(
        self, key: SharePartitionKey | None = None, *, state_epoch: int = 1, start_offset: int = 0
    ) -> Outcome:
        outcomes: list[Outcome] = []
        self.node.persister.initialize_state(
            key or self.key, state_epoch, start_offset, lambda *outcome: outcomes.append(outcome)
        )
        self.tick(0)
        return outcomes[0]

    def write(
        self,
        *batches: PersisterStateBatch,
        key: SharePartitionKey | None = None,
        state_epoch: int = 1,
        leader_epoch: int = 0,
        start_offset: int = 0,
        count: int = 0,
    ) -> Outcome:
        found: list[Outcome] = []
        self.node.persister.write_state(
            key or self.key, state_epoch, leader_epoch, start_offset, count, batches, lambda *each: found.append(each)
        )
        self.tick(0)
        return found[0]

    def read(self, leader_epoch: int = 0, key: SharePartitionKey | None = None) -> ReadStateResult:
        results: list[ReadStateResult] = []
        self.node.persister.read_state(key or self.key, leader_epoch, results.append)
        self.tick(0)
        return results[0]

    def delete(self, key: SharePartitionKey | None = None) -> Outcome:
        outcomes: list[Outcome] = []
        self.node.persister.delete_state(key or self.key, lambda *outcome: outcomes.append(outcome))
        self.tick(0)
        return outcomes[0]

    def ask(self, body: Message, version: int) -> Any:
        return self.submit(body, version)
