"""TxnOffsetCommit: offsets that a transaction commits. They are pending until its marker is written
(KIP-98, KIP-447).

A commit without a generation creates a group that does not exist; one with a generation is refused.
Clients before version 6 do not know STALE_MEMBER_EPOCH; they get ILLEGAL_GENERATION (KIP-848).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

from ...log.producers import VerificationStateEntry
from ...requests.request import Refusal
from ...requests.waiting import Wait
from .offset_commit import make_records, validate_commit

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

RequestTopic = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
ResponseTopic = TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic
ResponsePartition = TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition

GROUP_ID_NOT_FOUND_FROM = STALE_MEMBER_EPOCH_FROM = 6
"""The first version whose clients know these errors."""


def commit_transactional_offsets(
    shard: GroupCoordinatorShard,
    body: TxnOffsetCommitRequest,
    topics: Sequence[RequestTopic],
    version: int,
    verification: VerificationStateEntry | None,
) -> Wait[list[ResponseTopic]]:
    """Writes the offsets of `topics`, which exist and have names and ids. Raises Refusal.

    The records are made in slices, and then checked and written in one step.
    """
    made = yield from make_records(shard, body.group_id, topics, (ResponseTopic, ResponsePartition))
    encoded = yield from shard.encoded(made.records)
    try:
        made.validate(
            validate_commit(shard, body, version, transactional=True, group_id_not_found_from=GROUP_ID_NOT_FOUND_FROM)
        )
        shard.write_transactional(made.records, encoded, body.producer_id, body.producer_epoch, verification)
    except Refusal as refusal:
        if refusal.code == error_codes.STALE_MEMBER_EPOCH and version < STALE_MEMBER_EPOCH_FROM:
            raise Refusal(error_codes.ILLEGAL_GENERATION) from refusal
        raise
    return made.responses
