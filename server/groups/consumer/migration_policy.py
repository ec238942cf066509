"""Whether groups may be converted while they have members (`group.consumer.migration.policy`,
KIP-848)."""

from __future__ import annotations

from enum import Enum

from ...configs.settings import Settings


class ConsumerGroupMigrationPolicy(Enum):
    """The value says whether an upgrade and a downgrade are allowed."""

    BIDIRECTIONAL = (True, True)
    UPGRADE = (True, False)
    DOWNGRADE = (False, True)
    DISABLED = (False, False)

    @classmethod
    def of(cls, settings: Settings) -> ConsumerGroupMigrationPolicy:
        return cls[str(settings["group.consumer.migration.policy"]).upper()]

    @property
    def allows_upgrade(self) -> bool:
        return self.value[0]

    @property
    def allows_downgrade(self) -> bool:
        return self.value[1]
