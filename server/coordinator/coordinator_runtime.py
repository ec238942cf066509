"""The shards of one coordinator's topic: opened on election, closed on resignation.

A shard serves requests only after its whole log is replayed; until then the broker is not the
coordinator. If a log cannot be replayed, its shard stays closed and requests for its keys get
NOT_COORDINATOR, as in Kafka; the broker logs the reason. A shard that `tolerates_damage`
opens with what was loaded until then. The Java hash of a key selects the partition, so a key stays
in its partition as long as the number of partitions does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from ..java.strings import java_hash
from ..log.files.errors import DiskFailure
from ..replica.replication.partition import Partition
from ..requests.request import Refusal

if TYPE_CHECKING:
    from .coordinator_shard import CoordinatorShard
    from .host import CoordinatorHost

S = TypeVar("S", bound="CoordinatorShard")

log = ClientLog("kafkadouble.server.coordinator")


class CoordinatorRuntime(Generic[S]):
    """The shards of `topic` whose partitions this broker leads.

    `partitions_setting` names the setting with the number of partitions of a new topic. The runtime
    must be among the listeners of the node's partitions.
    """

    def __init__(
        self,
        node: CoordinatorHost,
        topic: str,
        partitions_setting: str,
        open_shard: Callable[[CoordinatorHost, Partition], S],
    ) -> None:
        self.topic = topic
        self._node, self._partitions_setting, self._open = node, partitions_setting, open_shard
        self._shards: dict[int, S] = {}

    def on_election(self, partition: Partition) -> None:
        """This broker was elected leader: open the shard and replay its log."""
        if partition.topic != self.topic:
            return
        self.on_resignation(partition)
        from .coordinator_loader import load

        shard = self._open(self._node, partition)
        try:
            load(shard)
        except DiskFailure:  # the node reports it
            return
        except Exception:  # a record that cannot be replayed ends one shard, not the broker
            log.exception("%r cannot be loaded", shard)
            if not shard.tolerates_damage:
                return
        self._shards[partition.index] = shard
        shard.on_loaded()

    def on_resignation(self, partition: Partition) -> None:
        """This broker no longer leads the partition: close the shard."""
        if partition.topic == self.topic and (shard := self._shards.pop(partition.index, None)) is not None:
            shard.close()

    def partition_of(self, key: str) -> int:
        """Returns the index of the partition that holds `key`."""
        topic = self._node.image.topic_named(self.topic)
        count = self._node.settings.int(self._partitions_setting) if topic is None else len(topic.partitions)
        return partition_for(key, count)

    def shard(self, key: str) -> S:
        """Returns the shard that holds `key`. Raises Refusal(NOT_COORDINATOR) if it is not here."""
        shard = self._shards.get(self.partition_of(key))
        if shard is None:
            raise Refusal(error_codes.NOT_COORDINATOR)
        return shard

    def shard_at(self, index: int) -> S | None:
        """Returns the shard of a partition, if it is here."""
        return self._shards.get(index)

    def __iter__(self) -> Iterator[S]:
        return iter(list(self._shards.values()))

    def __repr__(self) -> str:
        return f"coordinator on {len(self._shards)} partitions of {self.topic}"


def partition_for(key: str, partitions: int) -> int:
    """Returns the partition of a coordinator's topic that holds `key`.

    It is Kafka's `Utils.abs(key.hashCode()) % partitions`. The smallest 32-bit number has no
    positive counterpart; `Utils.abs` returns 0 for it.
    """
    value = java_hash(key)
    return 0 if value == -(1 << 31) else abs(value) % partitions
