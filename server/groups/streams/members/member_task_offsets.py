"""The offsets of the tasks that a member reports: how far its state stores are, and the end of
their changelogs (KIP-1071).

They are kept in memory only. A report replaces the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest

from ....requests.request import Refusal

TaskOffset = StreamsGroupHeartbeatRequest.TaskOffset

OffsetsByTask = Mapping[str, Mapping[int, int]]
"""Subtopology id -> partition -> offset."""

NO_OFFSETS: OffsetsByTask = {}


class MemberTaskOffsets(NamedTuple):
    """The last report of a member."""

    task_offsets: OffsetsByTask = NO_OFFSETS
    task_end_offsets: OffsetsByTask = NO_OFFSETS

    def updated(
        self, task_offsets: Iterable[TaskOffset] | None, task_end_offsets: Iterable[TaskOffset] | None
    ) -> MemberTaskOffsets:
        """Returns the offsets after a report; None keeps the ones before.

        Raises Refusal(INVALID_REQUEST) if a task appears twice.
        """
        return MemberTaskOffsets(
            self.task_offsets if task_offsets is None else _by_task(task_offsets),
            self.task_end_offsets if task_end_offsets is None else _by_task(task_end_offsets),
        )


def _by_task(reported: Iterable[TaskOffset]) -> OffsetsByTask:
    task: dict[str, dict[int, int]] = {}
    for offset in reported:
        offsets = task.setdefault(offset.subtopology_id, {})
        if offset.partition in offsets:
            message = (
                f"Task offsets contain a duplicate entry for subtopology {offset.subtopology_id} "
                f"and partition {offset.partition}."
            )
            raise Refusal(error_codes.INVALID_REQUEST, message)
        offsets[offset.partition] = offset.offset
    return task


NO_TASK_OFFSETS = MemberTaskOffsets()
