"""The share partitions and share sessions of one broker (KIP-932).

Rules. A share partition is made by the first fetch of its group, and read from the share
coordinator then. It is dropped when the broker no longer leads the partition, when the partition is
deleted, when the share coordinator refuses its writes, and when its group has no session here. The
records that a member has acquired are released when its session ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes

from ..metadata.features import SHARE_VERSION
from ..requests.request import Refusal
from .persister import Persister, SharePartitionKey
from .share_fetch_context import FinalContext, InitialContext, SubsequentContext
from .share_group_config import ShareGroupConfigProvider
from .share_group_dlq_manager import NoOpShareGroupDLQManager, ShareGroupDLQManager
from .share_partition import SharePartition
from .share_session import FINAL_EPOCH, INITIAL_EPOCH, ShareSession, ShareSessionKey, TopicIdPartition, next_epoch
from .share_session_cache import ShareSessionCache

if TYPE_CHECKING:
    from kafkadouble.messages.uuid import Uuid

    from ..metadata.image import Image
    from ..replica.replication.partition import Partition
    from ..requests.request import Peer
    from .acknowledgement import AcknowledgementBatch
    from .host import ShareHost

Answered = Callable[[Refusal | None], None]
"""The callback after an acknowledgement: with its error, or None."""

NOT_HOSTED = "This server does not host this topic-partition."


class SharePartitionManager:
    """The share partitions of this broker, by group and partition."""

    def __init__(self, node: ShareHost, persister: Persister, dlq: ShareGroupDLQManager | None = None) -> None:
        self._node, self._persister, self._dlq = node, persister, dlq or NoOpShareGroupDLQManager()
        self.configs = ShareGroupConfigProvider(node)
        self.sessions = ShareSessionCache(node.settings.int("group.share.max.share.sessions"), self)
        self._partitions: dict[SharePartitionKey, SharePartition] = {}
        # the same, by partition and group, and by group
        self._by_partition: dict[tuple[Uuid, int], dict[str, SharePartition]] = {}

    def __iter__(self) -> Iterator[SharePartition]:
        return iter(list(self._partitions.values()))

    # Share partitions.

    def get(self, key: SharePartitionKey) -> SharePartition | None:
        return self._partitions.get(key)

    def get_or_create(self, group_id: str, partition: TopicIdPartition) -> SharePartition:
        """The share partition, which may not be initialized yet. Refusal if this broker does not
        lead the partition."""
        key = SharePartitionKey(group_id, *partition.key)
        found = self._partitions.get(key)
        if found is None:
            found = self._create(key, partition.topic or "")
        found.maybe_initialize()
        return found

    def _create(self, key: SharePartitionKey, topic: str) -> SharePartition:
        led = self._node.partitions.get(topic, key.partition)
        if led is None:
            raise Refusal(self._node.partitions.code_of_missing(topic, key.partition))
        if led.offline:
            raise Refusal(error_codes.KAFKA_STORAGE_ERROR)
        if led.topic_id != key.topic_id:
            raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED)
        made = SharePartition(
            self._node, key, topic, led.leader_epoch, self._persister, self.configs, self._dlq, self._drop
        )
        self._partitions[key] = made
        self._by_partition.setdefault((key.topic_id, key.partition), {})[key.group_id] = made
        return made

    def _drop(self, dropped: SharePartition) -> None:
        """Forgets a share partition, and fences it. It may have been replaced already."""
        key = dropped.key
        if self._partitions.get(key) is not dropped:
            return
        del self._partitions[key]
        of_groups = self._by_partition[key.topic_id, key.partition]
        del of_groups[key.group_id]
        if not of_groups:
            del self._by_partition[key.topic_id, key.partition]
        dropped.fence()

    def on_election(self, partition: Partition) -> None:
        """This broker leads the partition: the first fetch makes its share partitions."""

    def on_resignation(self, partition: Partition) -> None:
        """This broker no longer leads the partition."""
        for dropped in list(self._by_partition.get((partition.topic_id, partition.index), {}).values()):
            self._drop(dropped)

    def on_group_empty(self, group_id: str) -> None:
        """The group has no session here."""
        for dropped in self:
            if dropped.key.group_id == group_id:
                self._drop(dropped)

    def image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        """Forgets everything when the cluster no longer has share groups."""
        if before.features.get(SHARE_VERSION, 0) and not after.features.get(SHARE_VERSION, 0):
            self.sessions.clear()
            for dropped in self:
                self._drop(dropped)

    # Acknowledgements.

    def acknowledge(
        self,
        key: ShareSessionKey,
        partition: TopicIdPartition,
        batches: Sequence[AcknowledgementBatch],
        then: Answered,
    ) -> None:
        """Acknowledges records that a member has acquired."""
        found = self._partitions.get(SharePartitionKey(key.group_id, *partition.key))
        if found is None:
            then(Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED))
        else:
            found.acknowledge(key.member_id, batches, then)

    # Sessions.

    def new_context(
        self,
        key: ShareSessionKey,
        epoch: int,
        partitions: Sequence[TopicIdPartition],
        forgotten: Sequence[TopicIdPartition],
        peer: Peer,
        *,
        acknowledges: bool,
    ) -> FinalContext:
        """The partitions that a ShareFetch of this epoch fetches, after the session was opened or
        updated.

        Refusal with SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH or
        SHARE_SESSION_LIMIT_REACHED; with INVALID_REQUEST if the first request acknowledges.
        """
        if epoch == INITIAL_EPOCH:
            if acknowledges:
                raise Refusal(error_codes.INVALID_REQUEST)
            if self.sessions.open(key, partitions, peer.id) is None:
                raise Refusal(error_codes.SHARE_SESSION_LIMIT_REACHED)
            peer.listen_to_disconnect(self.sessions.on_disconnect)
            return InitialContext(partitions)
        session = self._session(key)
        if epoch == FINAL_EPOCH:
            return FinalContext()
        if session.epoch != epoch:
            raise Refusal(error_codes.INVALID_SHARE_SESSION_EPOCH)
        if not self.sessions.update(session, partitions, forgotten):
            self.release_session(key)
            raise Refusal(error_codes.SHARE_SESSION_NOT_FOUND)
        return SubsequentContext(session, epoch)

    def update_session(self, key: ShareSessionKey, epoch: int) -> None:
        """A ShareAcknowledge of this epoch uses the session. Refusal as `new_context`."""
        if epoch == INITIAL_EPOCH:
            raise Refusal(error_codes.INVALID_SHARE_SESSION_EPOCH)
        session = self._session(key)
        if epoch == FINAL_EPOCH:
            return
        if session.epoch != epoch:
            raise Refusal(error_codes.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = next_epoch(session.epoch)

    def _session(self, key: ShareSessionKey) -> ShareSession:
        session = self.sessions.get(key)
        if session is None:
            raise Refusal(error_codes.SHARE_SESSION_NOT_FOUND)
        return session

    def release_session(self, key: ShareSessionKey) -> None:
        """Ends the session of a member, and releases what it has acquired from its partitions."""
        session = self.sessions.remove(key)
        for topic_id, partition in () if session is None else session.partitions:
            found = self._partitions.get(SharePartitionKey(key.group_id, topic_id, partition))
            if found is not None:
                found.release(key.member_id, _ignore)

    def on_member_leave(self, key: ShareSessionKey) -> None:
        """The connection of a session has ended."""
        self.release_session(key)

    def __repr__(self) -> str:
        return f"{len(self._partitions)} share partitions, {len(self.sessions)} share sessions"


def _ignore(error: Refusal | None) -> None:
    """A failed release is logged by the share partition; its acquisition locks time out."""
