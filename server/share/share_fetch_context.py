"""The partitions that one ShareFetch fetches, and the partitions in its response: by its share
session (KIP-932).

The response to the first request of a session has every partition that was read. Later responses
leave out a partition without records, error or other news. The final request fetches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_fetch import ShareFetchResponse

from ..requests.request import Refusal
from .share_session import ShareSession, TopicIdPartition, next_epoch

PartitionResponses = Mapping[TopicIdPartition, ShareFetchResponse.PartitionData]
"""The data of partitions, in the order of the response."""


class FinalContext:
    """The request that ends a session."""

    @property
    def partitions(self) -> Sequence[TopicIdPartition]:
        """The partitions to read."""
        return ()

    def news(self, read: PartitionResponses) -> PartitionResponses:
        """What the response must have of what was read.

        Refusal(INVALID_SHARE_SESSION_EPOCH) if the member has sent a newer request meanwhile.
        """
        return read


class InitialContext(FinalContext):
    """The first request of a session."""

    def __init__(self, partitions: Sequence[TopicIdPartition]) -> None:
        self._partitions = partitions

    @property
    def partitions(self) -> Sequence[TopicIdPartition]:
        return self._partitions


class SubsequentContext(FinalContext):
    """A later request of a session, with the epoch that the session had."""

    def __init__(self, session: ShareSession, epoch: int) -> None:
        self._session, self._epoch = session, epoch
        self._partitions = [cached.partition for cached in session.partitions.values()]

    @property
    def partitions(self) -> Sequence[TopicIdPartition]:
        return self._partitions

    def news(self, read: PartitionResponses) -> PartitionResponses:
        if self._session.epoch != next_epoch(self._epoch):
            raise Refusal(error_codes.INVALID_SHARE_SESSION_EPOCH)
        return {each: data for each, data in read.items() if self._session.update_response(each.key, data)}
