"""A fetch of which some partitions are refused: they are not read, and have an error in the
response as if they had been."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.fetch import FetchResponse

from .cached_partition import CachedPartition, PartitionResponse
from .fetch_sessions import FetchContext
from .log_reader import all_failed

if TYPE_CHECKING:
    from .fetch_session import Replica
    from .follower_fetch_session import FollowerFetchSession


class RefusedPartitionsContext(FetchContext):
    """Another context, without the refused partitions until it answers."""

    def __init__(self, context: FetchContext, refused: Sequence[CachedPartition], code: int) -> None:
        ids = {id(partition) for partition in refused}
        super().__init__([each for each in context.partitions if id(each) not in ids])
        self._context, self._refused, self._code = context, refused, code

    def session_for(self, replica: Replica | None) -> FollowerFetchSession | None:
        return self._context.session_for(replica)

    def answer(self, partitions: Iterable[PartitionResponse]) -> FetchResponse:
        return self._context.answer([*partitions, *all_failed(self._refused, self._code)])
