"""What a leader asks of the controller: other in-sync sets for what it leads, one request at a time (KIP-497, KIP-841, KIP-903).

Rules. What the controller answers counts at once, if it is about the leader's own epoch and goes on from what the leader knows. Where it
says that nothing was done the partition goes by the set of before; where it says something else that may be because it was done, and the
answer got lost: the high watermark then waits for whoever was proposed, too, until the metadata tell. A replica is proposed only in the
life of its broker in which it fetched.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest, AlterPartitionResponse

from ..partition import Partition
from .in_sync import InSync, Remote

if TYPE_CHECKING:
    from ...broker.node_to_controller_channel import NodeToControllerChannel
    from ...node import Node

log = logging.getLogger("kafkadouble.server.replica")

VERSION = 3
"""The first in which replicas stand with the epochs of their brokers."""

AGAIN_MS, WAIT_MS = 500, 5000
"""Until a proposal is made again that came to nothing, and until it is where the metadata should have told what became of it."""

NOTHING_DONE = (error_codes.OPERATION_NOT_ATTEMPTED, error_codes.INELIGIBLE_REPLICA)
METADATA_WILL_TELL = (
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.UNKNOWN_TOPIC_ID,
    error_codes.FENCED_LEADER_EPOCH,
    error_codes.INVALID_UPDATE_VERSION,
    error_codes.INVALID_REQUEST,
    error_codes.NEW_LEADER_ELECTED,
)

of = AlterPartitionRequest
Answered = AlterPartitionResponse.PartitionData


class IsrChanges:
    """Those of one node."""

    def __init__(self, node: Node, channel: NodeToControllerChannel) -> None:
        self._node, self._channel = node, channel

    def follower_moved(self, partition: Partition, broker: int) -> None:
        """A follower has fetched: perhaps it may come in."""
        if partition.in_sync is not None and broker not in partition.in_sync.isr:
            self.look(partition)

    def look_at_all(self) -> None:
        """Who has not kept up falls out."""
        for partition in self._node.partitions:
            self.look(partition)

    def look(self, partition: Partition) -> None:
        """Ask for another set, if this partition wants one and none is asked for."""
        node, in_sync = self._node, partition.in_sync
        if in_sync is None or partition.offline:
            return
        eligible = [
            id for id, remote in in_sync.remotes.items() if id not in in_sync.isr and self._may_come(id, remote)
        ]
        lag = node.settings.int("replica.lag.time.max.ms")
        wished = in_sync.wish(partition.log.log_end_offset, partition.high_watermark, eligible, node.now, lag)
        if wished is not None:
            self._ask(partition, in_sync, wished)

    def _may_come(self, id: int, remote: Remote) -> bool:
        broker = self._node.controller.image.brokers.get(id)
        return broker is not None and broker.active and remote.broker_epoch in (-1, broker.epoch)

    def _ask(self, partition: Partition, in_sync: InSync, wished: frozenset[int]) -> None:
        in_sync.proposed = wished
        request = self._request(partition, in_sync, wished)
        self._channel.send_request(
            request, VERSION, partial(self._answered, partition, in_sync, wished), lowest=VERSION
        )

    def _request(self, partition: Partition, in_sync: InSync, isr: frozenset[int]) -> AlterPartitionRequest:
        node, remotes = self._node, in_sync.remotes
        epochs = {id: node.broker_epoch if id == node.id else remotes[id].broker_epoch for id in sorted(isr)}
        asked = of.PartitionData(
            partition_index=partition.index,
            leader_epoch=partition.leader_epoch,
            new_isr_with_epochs=[of.BrokerState(broker_id=id, broker_epoch=epoch) for id, epoch in epochs.items()],
            leader_recovery_state=0,
            partition_epoch=in_sync.partition_epoch,
        )
        topic = of.TopicData(topic_id=partition.topic_id, partitions=[asked])
        return of(broker_id=node.id, broker_epoch=node.broker_epoch, topics=[topic])

    def _answered(
        self, partition: Partition, in_sync: InSync, wished: frozenset[int], response: AlterPartitionResponse | None
    ) -> None:
        if partition.in_sync is not in_sync or in_sync.proposed is not wished:
            return  # the metadata have told more meanwhile
        answered = _about(partition, response)
        if answered is not None and answered.error_code in NOTHING_DONE:
            in_sync.proposed = None
            partition.advance()
        elif answered is None or answered.error_code or not self._granted(partition, in_sync, answered):
            waits = answered is not None and answered.error_code in METADATA_WILL_TELL
            self._later(partition, in_sync, wished, WAIT_MS if waits else AGAIN_MS)

    def _later(self, partition: Partition, in_sync: InSync, wished: frozenset[int], wait: int) -> None:
        def again(now: int) -> None:
            is_led = self._node.partitions.get(partition.topic, partition.index) is partition
            if is_led and partition.in_sync is in_sync and in_sync.proposed is wished and not partition.offline:
                self._ask(partition, in_sync, wished)

        self._node.waiting.timers.at(self._node.now + wait, again)

    def _granted(self, partition: Partition, in_sync: InSync, answered: Answered) -> bool:
        """Whether this can be, and is so now."""
        isr = frozenset(answered.isr)
        known = {partition.leader_id, *in_sync.remotes}
        changes = answered.partition_epoch - in_sync.partition_epoch
        if answered.leader_epoch != partition.leader_epoch or changes not in (0, 1):
            return False  # older than what is known, or newer than what one change makes of it: the metadata will tell
        if partition.leader_id not in isr or not isr <= known or len(isr) < len(answered.isr):
            log.error("%r: the controller answers with the in-sync set %s, which cannot be", partition, answered.isr)
            return False
        in_sync.isr, in_sync.partition_epoch, in_sync.proposed = isr, answered.partition_epoch, None
        partition.advance()
        return True


def _about(partition: Partition, response: AlterPartitionResponse | None) -> Answered | None:
    """What a response says of this partition; None when it says nothing."""
    for topic in () if response is None or response.error_code else response.topics:
        for answered in topic.partitions:
            if (topic.topic_id, answered.partition_index) == (partition.topic_id, partition.index):
                return answered
    return None
