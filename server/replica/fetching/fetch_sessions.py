"""Incremental fetch sessions (KIP-227): request and response have changed partitions only.

Rules. A request with epoch 0 opens a session; -1 fetches without a session, and closes the one that
it names; any other epoch must be the next one of the session. The number of sessions and the memory
that they take are bounded. A new session evicts the least recently used one if that was unused for
two minutes. Otherwise it may evict a session of a consumer, if the new one belongs to a follower or
has more partitions. If no session can be evicted, the response is an ordinary one, without a
session. A session that grows too large is evicted itself. All state between requests is in this
module and in `follower_fetch_session`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse

from .cached_partition import (
    TOPIC_IDS_FROM,
    CachedPartition,
    PartitionResponse,
    SessionKey,
    keys_and_partitions,
    response,
)
from .fetch_session import FINAL_EPOCH, INITIAL_EPOCH, FetchSession, Replica, size_bytes_of

if TYPE_CHECKING:
    from .follower_fetch_session import FollowerFetchSession

NO_SESSION = 0
EVICTION_MS = 120_000
"""As in Kafka's `FetchSessionCache`, which has no setting for it."""

MAX_SIZE_BYTES = 64 << 20
"""The most bytes that all sessions take together, by estimate. Sessions outlive their connections,
and their partitions need not exist. It is enough for more than 100,000 partitions, as ten followers
of 10,000 partitions have.
"""


def _session_class(privileged: bool) -> type[FetchSession]:
    if not privileged:
        return FetchSession
    from .follower_fetch_session import FollowerFetchSession  # most nodes have none

    return FollowerFetchSession


class FetchContext:
    """A fetch without a session: every requested partition is in the response."""

    def __init__(self, partitions: Sequence[CachedPartition]) -> None:
        self._partitions = partitions

    @property
    def partitions(self) -> Sequence[CachedPartition]:
        """Returns the partitions to read now."""
        return self._partitions

    @property
    def is_empty(self) -> bool:
        """Returns whether no partition is requested at all."""
        return not self._partitions

    def session_for(self, replica: Replica | None) -> FollowerFetchSession | None:
        """Returns the session that tracks what this follower knows; None if there is none."""
        return None

    def answer(self, partitions: Iterable[PartitionResponse]) -> FetchResponse:
        """Returns the response."""
        return response(partitions, NO_SESSION)

    def preview(self, partitions: Iterable[PartitionResponse]) -> FetchResponse:
        """Returns the response for its size alone: the session stays as it is."""
        return response(partitions, NO_SESSION)

    def throttled_answer(self) -> FetchResponse:
        """Returns the response to a client that is throttled: no partitions, and no new session."""
        return FetchResponse()


class FullFetchContext(FetchContext):
    """A full fetch that asks for a new session."""

    def __init__(
        self,
        sessions: FetchSessionCache,
        partitions: dict[SessionKey, CachedPartition],
        *,
        by_id: bool,
        privileged: bool,
    ) -> None:
        super().__init__(list(partitions.values()))
        self._sessions, self._by_key, self._by_id, self._privileged = sessions, partitions, by_id, privileged

    def answer(self, partitions: Iterable[PartitionResponse]) -> FetchResponse:
        partitions = list(partitions)
        session = self._sessions.open(self._by_key, by_id=self._by_id, privileged=self._privileged)
        if session is None:
            return response(partitions, NO_SESSION)
        for partition, data in partitions:
            partition.update_response(data)
        return response(partitions, session.id)


class IncrementalFetchContext(FetchContext):
    """The next fetch of a session."""

    def __init__(self, session: FetchSession) -> None:
        super().__init__(session.partitions_to_read())
        self._session = session

    @property
    def partitions(self) -> Sequence[CachedPartition]:
        return self._session.partitions_to_read()

    @property
    def is_empty(self) -> bool:
        return not self._session.partitions

    def session_for(self, replica: Replica | None) -> FollowerFetchSession | None:
        if not self._session.privileged:
            return None
        return cast("FollowerFetchSession", self._session).for_replica(replica)

    def answer(self, partitions: Iterable[PartitionResponse]) -> FetchResponse:
        session = self._session
        changed = [(partition, data) for partition, data in partitions if partition.must_respond(data)]
        for partition, data in changed:
            partition.update_response(data)
            if data.records is not None and len(data.records):
                session.move_to_end(partition)
        return response(changed, session.id)

    def preview(self, partitions: Iterable[PartitionResponse]) -> FetchResponse:
        return response([response for response in partitions if response[0].must_respond(response[1])], NO_SESSION)

    def throttled_answer(self) -> FetchResponse:
        return FetchResponse(session_id=self._session.id)


class FetchSessionCache:
    """The sessions of one node, at most `slots`, of at most `MAX_SIZE_BYTES`. Ids are random and
    cannot be guessed.
    """

    def __init__(self, slots: int, random: Random) -> None:
        self._slots, self._random = slots, random
        self._sessions: dict[int, FetchSession] = {}  # least recently used first
        self.size_bytes, self._now = 0, 0

    def begin(self, body: FetchRequest, version: int, *, follower: bool, now: int) -> FetchContext | int:
        """Returns the context of the request, or the error code of the whole request."""
        self._now = now
        if body.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._remove(body.session_id)
            return self._full(body, version, follower)
        return self._incremental(body, version)

    def _full(self, body: FetchRequest, version: int, follower: bool) -> FetchContext:
        partitions: dict[SessionKey, CachedPartition] = {}
        for key, topic, topic_id, requested in keys_and_partitions(body, version):
            partitions[key] = CachedPartition(topic, topic_id, requested)
        if body.session_epoch == FINAL_EPOCH:
            return FetchContext(list(partitions.values()))
        return FullFetchContext(self, partitions, by_id=version >= TOPIC_IDS_FROM, privileged=follower)

    def _incremental(self, body: FetchRequest, version: int) -> FetchContext | int:
        session = self._sessions.get(body.session_id)
        if session is None:
            return error_codes.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != body.session_epoch:
            return error_codes.INVALID_FETCH_SESSION_EPOCH
        if session.by_id != (version >= TOPIC_IDS_FROM):
            return error_codes.FETCH_SESSION_TOPIC_ID_ERROR
        before = session.size_bytes
        session.update(body, version)
        growth = session.size_bytes - before
        self.size_bytes += growth
        if not session.partitions:
            self._remove(session.id)
            return FetchContext(())
        if growth > 0 and self.size_bytes > MAX_SIZE_BYTES:
            self._remove(session.id)
            return error_codes.FETCH_SESSION_ID_NOT_FOUND
        session.use(self._now)
        self._sessions[session.id] = self._sessions.pop(session.id)
        return IncrementalFetchContext(session)

    def get(self, session_id: int) -> FetchSession | None:
        """Returns the session with this id, without using it."""
        return self._sessions.get(session_id)

    def open(
        self, partitions: dict[SessionKey, CachedPartition], *, by_id: bool, privileged: bool
    ) -> FetchSession | None:
        """Opens a session; returns None if the cache is full and no session can be evicted."""
        size_bytes = size_bytes_of(partitions.values())
        if not self._make_room(len(partitions), size_bytes, privileged):
            return None
        self.size_bytes += size_bytes
        session_id = self._new_id()
        session = _session_class(privileged)(session_id, partitions, by_id=by_id, privileged=privileged, now=self._now)
        self._sessions[session_id] = session
        return session

    def _make_room(self, partitions: int, size_bytes: int, privileged: bool) -> bool:
        """Evicts sessions until one with these partitions has its place; returns whether it has."""
        most = MAX_SIZE_BYTES - size_bytes
        if most < 0:
            return False
        while len(self._sessions) >= self._slots or self.size_bytes > most:
            if not self._evict_one(partitions, privileged):
                return False
        return True

    def _remove(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self.size_bytes -= session.size_bytes

    def _new_id(self) -> int:
        while (session_id := self._random.randrange(1, 2**31)) in self._sessions:
            pass
        return session_id

    def _evict_one(self, size: int, privileged: bool) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if self._now - oldest.last_used > EVICTION_MS:
            self._remove(oldest.id)
            return True
        unprivileged = (session for session in self._sessions.values() if not session.privileged)
        smallest = min(unprivileged, key=lambda session: len(session.partitions), default=None)
        if smallest is None or not (privileged or len(smallest.partitions) < size):
            return False
        self._remove(smallest.id)
        return True

    def __len__(self) -> int:
        return len(self._sessions)
