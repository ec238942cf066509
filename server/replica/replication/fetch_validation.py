"""Checks a leader's Fetch response for its follower, besides the checks of `log.replica`.

Rules. A leader's log start offset is at or below its high watermark. A diverging epoch is one that
the follower could have, and leaves the follower something to truncate. A response is for the
requested partitions, each once, and for the session of the request. A leader may always say that
its log is shorter, and so what the follower must truncate, as to a follower of Apache Kafka.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import Uuid

from ...log.log import PartitionLog
from ...log.refusals import LogRefused
from ...log.replica import LAST_OFFSET

PartitionKey = tuple[Uuid, int]
NO_SESSION = 0


def invalid(message: str) -> LogRefused:
    """Returns the error for something that no leader can say."""
    return LogRefused(error_codes.UNKNOWN_SERVER_ERROR, message)


def validate_data(data: FetchResponse.PartitionData, log: PartitionLog, requested_epoch: int) -> None:
    """Checks the data of one partition; `requested_epoch` is the last fetched epoch of the request.

    Raises LogRefused.
    """
    diverging, start = data.diverging_epoch, data.log_start_offset
    if diverging is not None and diverging.end_offset >= 0 and not -1 <= diverging.epoch <= requested_epoch:
        raise invalid(f"the diverging epoch is {diverging.epoch}, but the last fetched epoch is {requested_epoch}")
    if start > max(data.high_watermark, log.high_watermark):
        raise invalid(f"its log start offset {start} is beyond its high watermark {data.high_watermark}")


def validate_range(start: int, end: int) -> None:
    """Checks the start and end offset of a leader's log. Raises LogRefused."""
    if not 0 <= start <= end <= LAST_OFFSET:
        raise invalid(f"its log is said to go from offset {start} to {end}")


def response_problem(
    response: FetchResponse, requested: Collection[PartitionKey], session_id: int, *, full: bool
) -> str | None:
    """Returns why a response does not fit its request; None if it does.

    The response to a `full` request has every requested partition.
    """
    keys = [(topic.topic_id, data.partition_index) for topic in response.responses for data in topic.partitions]
    if len(set(keys)) < len(keys):
        return "partitions come twice"
    unrequested = [key for key in keys if key not in requested]
    if unrequested:
        return f"{len(unrequested)} partitions that were not asked for, like {_shown(unrequested)}"
    if full and len(keys) < len(requested):
        return f"{len(requested) - len(keys)} partitions are missing"
    valid_ids = (NO_SESSION, session_id)
    if response.session_id < 0 or not (full or response.session_id in valid_ids):
        return f"session {response.session_id}, but the request was for session {session_id}"
    return None


def _shown(keys: Sequence[PartitionKey]) -> str:
    topic_id, index = keys[0]
    return f"{topic_id}-{index}"
