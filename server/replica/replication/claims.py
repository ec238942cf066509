"""What a follower does not believe of its leader, beside what `log.replica` demands of the batches.

Rules. A leader's log begins at or below its high watermark. Where it says that histories parted it names an epoch that the follower could have
had, and the follower then has something to cut off. An answer is for the partitions that were asked for, once for each, in the session that
was named. What a leader may always say, as to Apache Kafka's own followers: that its log is shorter, and by that, what is to be cut.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import Uuid

from ...log.log import PartitionLog
from ...log.refusals import LogRefused
from ...log.replica import LAST_OFFSET

Key = tuple[Uuid, int]
NO_SESSION = 0


def lie(message: str) -> LogRefused:
    """What a leader says cannot be."""
    return LogRefused(error_codes.UNKNOWN_SERVER_ERROR, message)


def check_data(data: FetchResponse.PartitionData, log: PartitionLog, asked_epoch: int) -> None:
    """LogRefused for what no leader says of this log, whose last epoch was told in the request."""
    diverging, start = data.diverging_epoch, data.log_start_offset
    if diverging is not None and diverging.end_offset >= 0 and not -1 <= diverging.epoch <= asked_epoch:
        raise lie(f"histories are said to have parted in epoch {diverging.epoch}, asked for {asked_epoch}")
    if start > max(data.high_watermark, log.high_watermark):
        raise lie(f"its log is said to begin at {start}, beyond its high watermark {data.high_watermark}")


def check_range(start: int, end: int) -> None:
    """LogRefused for ends that no log has."""
    if not 0 <= start <= end <= LAST_OFFSET:
        raise lie(f"its log is said to go from {start} to {end}")


def wrong_answer(response: FetchResponse, sent: Collection[Key], session_id: int, *, whole: bool) -> str | None:
    """Why an answer cannot be for the request: who asked for these partitions in this session; all of them are due in a `whole` one."""
    told = [(topic.topic_id, data.partition_index) for topic in response.responses for data in topic.partitions]
    if len(set(told)) < len(told):
        return "partitions come twice"
    strangers = [key for key in told if key not in sent]
    if strangers:
        return f"{len(strangers)} partitions that were not asked for, like {_named(strangers)}"
    if whole and len(told) < len(sent):
        return f"{len(sent) - len(told)} partitions are missing"
    known = (NO_SESSION, session_id)
    if response.session_id < 0 or not (whole or response.session_id in known):
        return f"session {response.session_id}, where {session_id} was named"
    return None


def _named(keys: Sequence[Key]) -> str:
    topic_id, index = keys[0]
    return f"{topic_id}-{index}"
