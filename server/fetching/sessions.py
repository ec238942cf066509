"""Incremental fetch sessions (KIP-227): a fetcher names only the partitions that changed, and is told only of those that did.

Rules. A request with epoch 0 asks for a new session, -1 for none (and ends the one it names); any other must be the session's next epoch.
Sessions are bounded in number: a new one takes the place of the one unused for longest, when that was unused for two minutes, or, of those
that belong to consumers, when the new one belongs to a follower or holds more partitions. No place means an ordinary answer without a
session. What is remembered between requests is here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse

from .wanted import TOPIC_IDS_FROM, Answered, Key, Wanted, forgotten, keys_and_partitions, response

NO_SESSION = 0
INITIAL_EPOCH, FINAL_EPOCH = 0, -1
EVICTION_MS = 120_000
"""As Kafka's `FetchSessionCache`, which has no setting for it."""


def next_epoch(epoch: int) -> int:
    """Epochs run from 1 to 2^31 - 1 and round again; 0 is only ever the first."""
    return 1 if epoch == 2**31 - 1 else epoch + 1


class Session:
    """What one fetcher wants, in the order in which it is to be served: who had data last comes last."""

    __slots__ = ("by_id", "epoch", "id", "last_used", "partitions", "privileged")

    def __init__(self, id: int, partitions: dict[Key, Wanted], *, by_id: bool, privileged: bool, now: int) -> None:
        self.id, self.partitions, self.by_id, self.privileged = id, partitions, by_id, privileged
        self.epoch, self.last_used = next_epoch(INITIAL_EPOCH), now

    def update(self, body: FetchRequest, version: int) -> None:
        """Take in what an incremental request adds, changes and forgets."""
        for key, topic, topic_id, asked in keys_and_partitions(body, version):
            known = self.partitions.get(key)
            if known is None:
                self.partitions[key] = Wanted(topic, topic_id, asked)
            else:
                known.update(asked)
        for key in forgotten(body, version):
            self.partitions.pop(key, None)

    def __repr__(self) -> str:
        return f"fetch session {self.id}, epoch {self.epoch}, {len(self.partitions)} partitions"


class Fetching:
    """A fetch outside of any session: everything wanted is answered."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self.wanted = wanted

    def answer(self, answered: Iterable[Answered]) -> FetchResponse:
        return response(answered, NO_SESSION)


class Opening(Fetching):
    """A full fetch that would like a session."""

    def __init__(self, sessions: Sessions, partitions: dict[Key, Wanted], *, by_id: bool, privileged: bool) -> None:
        super().__init__(list(partitions.values()))
        self._sessions, self._partitions, self._by_id, self._privileged = sessions, partitions, by_id, privileged

    def answer(self, answered: Iterable[Answered]) -> FetchResponse:
        answered = list(answered)
        session = self._sessions.open(self._partitions, by_id=self._by_id, privileged=self._privileged)
        if session is None:
            return response(answered, NO_SESSION)
        for wanted, data in answered:
            _remember(wanted, data)
        return response(answered, session.id)


class Continuing(Fetching):
    """The next fetch of a session."""

    def __init__(self, session: Session) -> None:
        super().__init__(list(session.partitions.values()))
        self._session = session

    def answer(self, answered: Iterable[Answered]) -> FetchResponse:
        session = self._session
        news = [(wanted, data) for wanted, data in answered if _is_news(wanted, data)]
        for wanted, data in news:
            _remember(wanted, data)
            if data.records is not None and len(data.records):
                self._to_the_end(wanted)
        return response(news, session.id)

    def _to_the_end(self, wanted: Wanted) -> None:
        """So that a partition that is always full does not starve those behind it."""
        partitions = self._session.partitions
        key: Key = (wanted.topic_id if self._session.by_id else wanted.topic, wanted.index)
        if partitions.get(key) is wanted:
            partitions[key] = partitions.pop(key)


def _is_news(wanted: Wanted, data: FetchResponse.PartitionData) -> bool:
    return bool(
        (data.records is not None and len(data.records))
        or data.error_code
        or data.high_watermark != wanted.known_high_watermark
        or data.log_start_offset != wanted.known_log_start
        or data.preferred_read_replica >= 0
        or wanted.diverged
    )


def _remember(wanted: Wanted, data: FetchResponse.PartitionData) -> None:
    """An error forgets the watermark, so that the first good answer after it is told."""
    wanted.known_high_watermark = -1 if data.error_code else data.high_watermark
    wanted.known_log_start = data.log_start_offset


class Sessions:
    """The sessions of one node. `slots` bounds their number; ids are random, as a guess at another's must fail."""

    def __init__(self, slots: int, random: Random) -> None:
        self._slots, self._random = slots, random
        self._sessions: dict[int, Session] = {}  # least recently used first
        self._now = 0

    def begin(self, body: FetchRequest, version: int, *, follower: bool, now: int) -> Fetching | int:
        """What the request fetches, or the error code that the whole of it gets."""
        self._now = now
        if body.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(body.session_id, None)
            return self._full(body, version, follower)
        return self._incremental(body, version)

    def _full(self, body: FetchRequest, version: int, follower: bool) -> Fetching:
        partitions: dict[Key, Wanted] = {}
        for key, topic, topic_id, asked in keys_and_partitions(body, version):
            partitions[key] = Wanted(topic, topic_id, asked)
        if body.session_epoch == FINAL_EPOCH:
            return Fetching(list(partitions.values()))
        return Opening(self, partitions, by_id=version >= TOPIC_IDS_FROM, privileged=follower)

    def _incremental(self, body: FetchRequest, version: int) -> Fetching | int:
        session = self._sessions.get(body.session_id)
        if session is None:
            return error_codes.FETCH_SESSION_ID_NOT_FOUND
        if session.epoch != body.session_epoch:
            return error_codes.INVALID_FETCH_SESSION_EPOCH
        if session.by_id != (version >= TOPIC_IDS_FROM):
            return error_codes.FETCH_SESSION_TOPIC_ID_ERROR
        session.update(body, version)
        if not session.partitions:
            del self._sessions[session.id]
            return Fetching(())
        session.epoch, session.last_used = next_epoch(session.epoch), self._now
        self._sessions[session.id] = self._sessions.pop(session.id)
        return Continuing(session)

    def get(self, session_id: int) -> Session | None:
        """The session with this id, for those who only look."""
        return self._sessions.get(session_id)

    def open(self, partitions: dict[Key, Wanted], *, by_id: bool, privileged: bool) -> Session | None:
        """A new session, or None when there is no place for it."""
        if len(self._sessions) >= self._slots and not self._make_room(len(partitions), privileged):
            return None
        session_id = self._new_id()
        session = Session(session_id, partitions, by_id=by_id, privileged=privileged, now=self._now)
        self._sessions[session_id] = session
        return session

    def _new_id(self) -> int:
        while (session_id := self._random.randrange(1, 2**31)) in self._sessions:
            pass
        return session_id

    def _make_room(self, size: int, privileged: bool) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if self._now - oldest.last_used > EVICTION_MS:
            del self._sessions[oldest.id]
            return True
        smallest = min(
            (s for s in self._sessions.values() if not s.privileged), key=lambda s: len(s.partitions), default=None
        )
        if smallest is None or not (privileged or len(smallest.partitions) < size):
            return False
        del self._sessions[smallest.id]
        return True

    def __len__(self) -> int:
        return len(self._sessions)
