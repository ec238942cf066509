"""Why the topics that exist do not fit a topology. Members learn it as a status (KIP-1071)."""

from __future__ import annotations

from ..members.heartbeat_status import HeartbeatStatus


class TopicConfigurationError(Exception):
    """`status` is one of the three statuses about topics."""

    def __init__(self, status: HeartbeatStatus, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def incorrectly_partitioned_topics(message: str) -> TopicConfigurationError:
    return TopicConfigurationError(HeartbeatStatus.INCORRECTLY_PARTITIONED_TOPICS, message)
