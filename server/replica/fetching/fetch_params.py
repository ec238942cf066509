"""The parameters of a Fetch request that apply to each of its partitions (Kafka: `FetchParams`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..replication.replication_quotas import ReplicationQuotaManager
    from .follower_fetch_session import FollowerFetchSession

CONSUMER_REPLICA_ID = -1
READ_COMMITTED = 1


class FetchParams:
    """One Fetch of a consumer, or of the follower `replica_id`.

    `bytes_left` shrinks with each partition that is read. `replica_epoch` is the follower's broker
    epoch, -1 if unknown, and `is_stale_replica` says that the broker has a newer one (KIP-903).
    `rack_id` is set only for a consumer that may be sent to another replica (KIP-392), which it
    must reach on the `listener` of the request. `quota` is set only while the leader's replication
    quota is exceeded. `session` is the session that tracks what the follower knows, if there is
    one.
    """

    __slots__ = (
        "bytes_left",
        "is_read_committed",
        "is_stale_replica",
        "listener",
        "now",
        "quota",
        "rack_id",
        "replica_epoch",
        "replica_id",
        "session",
        "version",
    )

    def __init__(
        self,
        *,
        version: int,
        isolation_level: int,
        max_bytes: int,
        now: int,
        replica_id: int = CONSUMER_REPLICA_ID,
        replica_epoch: int = -1,
        is_stale_replica: bool = False,
        rack_id: str = "",
        listener: str = "",
        quota: ReplicationQuotaManager | None = None,
        session: FollowerFetchSession | None = None,
    ) -> None:
        self.version, self.now = version, now
        self.is_read_committed, self.bytes_left = isolation_level == READ_COMMITTED, max_bytes
        self.replica_id, self.replica_epoch = replica_id, replica_epoch
        self.is_stale_replica, self.rack_id, self.listener = is_stale_replica, rack_id, listener
        self.quota, self.session = quota, session

    @property
    def is_from_follower(self) -> bool:
        """Whether a replica fetches, and no consumer."""
        return self.replica_id >= 0
