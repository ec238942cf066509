"""Asks the controller to change the ISR of led partitions, one request at a time (KIP-497).

Rules. A response of the controller is applied at once if it has the current leader epoch, and the
leader's partition epoch or the next one. If the response says that nothing was changed, the old ISR
stays valid. Any other error may hide a change whose response was lost, so the high watermark also
waits for the proposed replicas until the metadata arrives. A replica is proposed only with the
broker epoch in which it fetched (KIP-903), and only if its broker is active (KIP-841).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kafkadouble.wire.client_log import ClientLog

from .in_sync_replicas import InSyncReplicas, RemoteReplica
from .partition import Partition

if TYPE_CHECKING:
    from .part_hosts import ControllerChannel, ReplicationHost

log = ClientLog("kafkadouble.server.replica")

VERSION = 3
"""The first version with broker epochs of the replicas."""

RETRY_MS, METADATA_WAIT_MS = 500, 5000
"""The delay of a retry, and the longer delay if the metadata log should deliver the result
first."""

NOT_CHANGED = (error_codes.OPERATION_NOT_ATTEMPTED, error_codes.INELIGIBLE_REPLICA)
METADATA_WILL_ARRIVE = (
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.UNKNOWN_TOPIC_ID,
    error_codes.FENCED_LEADER_EPOCH,
    error_codes.INVALID_UPDATE_VERSION,
    error_codes.INVALID_REQUEST,
    error_codes.NEW_LEADER_ELECTED,
)

of = AlterPartitionRequest
PartitionData = AlterPartitionResponse.PartitionData


class AlterPartitionManager:
    """The ISR changes of one broker."""

    def __init__(self, node: ReplicationHost, channel: ControllerChannel) -> None:
        self._node, self._channel = node, channel

    def maybe_expand_isr(self, partition: Partition, broker: int) -> None:
        """Requests an ISR with this follower, if its fetch has caught up."""
        if partition.in_sync is not None and broker not in partition.in_sync.isr:
            self.maybe_change_isr(partition)

    def maybe_shrink_all(self) -> None:
        """Removes followers that are not caught up from the ISR of every led partition."""
        for partition in self._node.partitions:
            self.maybe_change_isr(partition)

    def maybe_change_isr(self, partition: Partition) -> None:
        """Requests another ISR if the partition needs it and no request is pending."""
        node, in_sync = self._node, partition.in_sync
        if in_sync is None or partition.offline:
            return
        eligible = [
            id for id, remote in in_sync.remotes.items() if id not in in_sync.isr and self._is_eligible(id, remote)
        ]
        lag = node.settings.int("replica.lag.time.max.ms")
        isr = in_sync.changed_isr(partition.log.log_end_offset, partition.high_watermark, eligible, node.now, lag)
        if isr is not None:
            self._submit(partition, in_sync, isr)

    def _is_eligible(self, id: int, remote: RemoteReplica) -> bool:
        broker = self._node.image.brokers.get(id)
        return broker is not None and broker.active and remote.broker_epoch in (-1, broker.epoch)

    def _submit(self, partition: Partition, in_sync: InSyncReplicas, isr: frozenset[int]) -> None:
        in_sync.proposed = isr
        node, remotes = self._node, in_sync.remotes
        epochs = {id: node.broker_epoch if id == node.id else remotes[id].broker_epoch for id in sorted(isr)}
        data = of.PartitionData(
            partition_index=partition.index,
            leader_epoch=partition.leader_epoch,
            new_isr_with_epochs=[of.BrokerState(broker_id=id, broker_epoch=epoch) for id, epoch in epochs.items()],
            leader_recovery_state=0,
            partition_epoch=in_sync.partition_epoch,
        )
        topic = of.TopicData(topic_id=partition.topic_id, partitions=[data])
        request = of(broker_id=node.id, broker_epoch=node.broker_epoch, topics=[topic])
        self._channel.send_request(
            request, VERSION, partial(self._on_response, partition, in_sync, isr), lowest=VERSION
        )

    def _on_response(
        self,
        partition: Partition,
        in_sync: InSyncReplicas,
        isr: frozenset[int],
        response: AlterPartitionResponse | None,
    ) -> None:
        if partition.in_sync is not in_sync or in_sync.proposed is not isr:
            return  # newer metadata arrived first
        data = _data_of(partition, response)
        if data is not None and data.error_code in NOT_CHANGED:
            in_sync.proposed = None
            partition.advance()
        elif data is None or data.error_code or not self._apply(partition, in_sync, data):
            waits = data is not None and data.error_code in METADATA_WILL_ARRIVE
            self._retry(partition, in_sync, isr, METADATA_WAIT_MS if waits else RETRY_MS)

    def _retry(self, partition: Partition, in_sync: InSyncReplicas, isr: frozenset[int], delay_ms: int) -> None:
        def retry(now: int) -> None:
            is_led = self._node.partitions.get(partition.topic, partition.index) is partition
            if is_led and partition.in_sync is in_sync and in_sync.proposed is isr and not partition.offline:
                self._submit(partition, in_sync, isr)

        self._node.waiting.timers.at(self._node.now + delay_ms, retry)

    def _apply(self, partition: Partition, in_sync: InSyncReplicas, data: PartitionData) -> bool:
        """Applies the ISR of the response; returns False if the response contradicts the leader's
        state."""
        isr = frozenset(data.isr)
        known = {partition.leader_id, *in_sync.remotes}
        changes = data.partition_epoch - in_sync.partition_epoch
        if data.leader_epoch != partition.leader_epoch or changes not in (0, 1):
            return False  # too old, or more than one change: the metadata will arrive
        if partition.leader_id not in isr or not isr <= known or len(isr) < len(data.isr):
            log.error("%r: the controller answered with the invalid ISR %s", partition, data.isr)
            return False
        in_sync.isr, in_sync.partition_epoch, in_sync.proposed = isr, data.partition_epoch, None
        partition.advance()
        return True


def _data_of(partition: Partition, response: AlterPartitionResponse | None) -> PartitionData | None:
    """Returns the response's data of this partition; None if it has none."""
    for topic in () if response is None or response.error_code else response.topics:
        for data in topic.partitions:
            if (topic.topic_id, data.partition_index) == (partition.topic_id, partition.index):
                return data
    return None
