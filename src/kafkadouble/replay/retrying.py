"""The answers for which a client sends its request again."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.error_codes import NONE, REBALANCE_IN_PROGRESS, is_retriable
from kafkadouble.server.requests.answer_errors import codes_in

from .comparison.record_comparison import count_records
from .recorded.exchange import Exchange

TIMING = frozenset((NONE, REBALANCE_IN_PROGRESS))
"""What a member of a group is told depends on when it asks."""


def asks_to_retry(exchange: Exchange, recorded: Any, found: Any) -> bool:
    """Whether the answer has an error that the recorded one lacks, and that passes by itself, such
    as NOT_COORDINATOR after a start."""
    new = set(codes_in(found)) - set(codes_in(recorded))
    if not any(map(is_retriable, new)):
        return False
    return exchange.api_key != ApiKeys.PRODUCE or _has_failed_everywhere(found)


def lacks_records(exchange: Exchange, recorded: Any, found: Any) -> bool:
    """Whether a Fetch found fewer records than were recorded: they may be on their way. Records
    that cannot be read are a difference."""
    if exchange.api_key != ApiKeys.FETCH:
        return False
    theirs, ours = _records_in(found), _records_in(recorded)
    return theirs is not None and ours is not None and theirs < ours


def was_early(recorded: Any, found: Any) -> bool:
    """Whether the recorded server was not ready yet, or a group was in another state: then the
    answers are not compared."""
    ours, theirs = set(codes_in(recorded)), set(codes_in(found))
    if ours | theirs <= TIMING:
        return ours != theirs
    return any(map(is_retriable, ours - theirs))


def _has_failed_everywhere(answer: Any) -> bool:
    """Sent again, records that a partition has accepted would be there twice."""
    return all(partition.error_code for topic in answer.responses for partition in topic.partition_responses)


def _records_in(answer: Any) -> int | None:
    counts = [count_records(partition.records) for topic in answer.responses for partition in topic.partitions]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
