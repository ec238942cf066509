"""The configuration of a share group that its share partitions need (KIP-932, KIP-1222, KIP-1191).

A group's own dynamic configuration comes before the broker's; the broker's bounds apply. A share
group that was never configured has the broker's defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..configs.effective import effective_group_config
from ..metadata.features import SHARE_VERSION
from ..metadata.image import GROUP

if TYPE_CHECKING:
    from .host import ShareHost

MAX_GROUPS = 512
"""How many groups' configurations are cached."""

DLQ_FROM = 2
"""The level of `share.version` from which on dead-letter queues work (KIP-1191)."""


class ShareGroupConfig(NamedTuple):
    """The values for one group; `dlq_topic` is "" without a dead-letter queue."""

    record_lock_duration_ms: int = 30_000
    delivery_count_limit: int = 5
    partition_max_record_locks: int = 2_000
    auto_offset_reset: str = "latest"
    isolation_level: str = "read_uncommitted"
    renew_acknowledge_enable: bool = True
    dlq_topic: str = ""
    dlq_copy_record_enable: bool = False

    @property
    def has_dlq(self) -> bool:
        """Whether records that are given up go to a dead-letter queue first."""
        return bool(self.dlq_topic)

    @property
    def is_read_committed(self) -> bool:
        return self.isolation_level == "read_committed"


class ShareGroupConfigProvider:
    """Looks up the configurations of share groups, and caches them while nothing changes."""

    def __init__(self, node: ShareHost) -> None:
        self._node = node
        self._known: dict[str, ShareGroupConfig] = {}
        self._of: tuple[object, object] = (None, None)

    def of(self, group_id: str) -> ShareGroupConfig:
        """The configuration of the group now."""
        image = self._node.image
        basis = (image.configs, image.features)
        if basis[0] is not self._of[0] or basis[1] is not self._of[1] or len(self._known) >= MAX_GROUPS:
            self._known.clear()
            self._of = basis
        known = self._known.get(group_id)
        if known is None:
            values = effective_group_config(image.config_overrides(GROUP, group_id), self._node.settings)
            has_dlq = image.features.get(SHARE_VERSION, 0) >= DLQ_FROM
            known = self._known[group_id] = ShareGroupConfig(
                record_lock_duration_ms=int(str(values["share.record.lock.duration.ms"])),
                delivery_count_limit=int(str(values["share.delivery.count.limit"])),
                partition_max_record_locks=int(str(values["share.partition.max.record.locks"])),
                auto_offset_reset=str(values["share.auto.offset.reset"]),
                isolation_level=str(values["share.isolation.level"]),
                renew_acknowledge_enable=bool(values["share.renew.acknowledge.enable"]),
                dlq_topic=str(values["errors.deadletterqueue.topic.name"] or "") if has_dlq else "",
                dlq_copy_record_enable=bool(values["errors.deadletterqueue.copy.record.enable"]),
            )
        return known
