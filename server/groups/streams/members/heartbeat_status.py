"""The statuses in the response to StreamsGroupHeartbeat: what a member should know (KIP-1071).

STALE_TOPOLOGY                   the member's topology epoch is behind the group's
MISSING_SOURCE_TOPICS            a source topic does not exist
INCORRECTLY_PARTITIONED_TOPICS   topics that must have equally many partitions have not
MISSING_INTERNAL_TOPICS          repartition or changelog topics do not exist yet
SHUTDOWN_APPLICATION             a member requested the shutdown of the whole application
ASSIGNMENT_DELAYED               the assignment waits for more members, or for its interval
MISSING_CLIENT_TAGS              the member lacks a tag by which standby tasks are spread
"""

from __future__ import annotations

from enum import IntEnum

from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatResponse

Status = StreamsGroupHeartbeatResponse.Status


class HeartbeatStatus(IntEnum):
    """The value is the one in the response."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
    MISSING_CLIENT_TAGS = 6

    def with_detail(self, detail: str) -> Status:
        """Returns the status as it is in the response."""
        return Status(status_code=self, status_detail=detail)
