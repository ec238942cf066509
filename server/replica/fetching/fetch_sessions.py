"""Incremental fetch sessions (KIP-227): a fetcher names only the partitions that changed, and is told only of those that did.

Rules. A request with epoch 0 asks for a new session, -1 for none (and ends the one it names); any other must be the session's next epoch.
Sessions are bounded in number: a new one takes the place of the one unused for longest, when that was unused for two minutes, or, of those
that belong to consumers, when the new one belongs to a follower or holds more partitions. No place means an ordinary answer without a
session. What is remembered between requests is here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse

from .wanted import TOPIC_IDS_FROM, Answered, Key, Wanted, forgotten, keys_and_partitions, response

if TYPE_CHECKING:
    from .follower_session import FollowerSession

NO_SESSION = 0
INITIAL_EPOCH, FINAL_EPOCH = 0, -1
EVICTION_MS = 120_000
"""As Kafka's `FetchSessionCache`, which has no setting for it."""

Asker = tuple[int, int]
"""A follower: its broker, and the epoch of that one's life."""


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

    def use(self, now: int) -> None:
        """A request has come that goes on with it."""
        self.epoch, self.last_used = next_epoch(self.epoch), now

    def known_to(self, asker: Asker | None) -> FollowerSession | None:
        """Itself, if it is a follower's, and this one may go on with it."""
        return None

    def due(self) -> Sequence[Wanted]:
        """What is to be read for the next answer."""
        return list(self.partitions.values())

    def served(self, wanted: Wanted) -> None:
        """It had data: it comes last from now on, so that one that is always full does not starve those behind it."""
        key = self.key_of(wanted)
        if self.partitions.get(key) is wanted:
            self.partitions[key] = self.partitions.pop(key)

    def key_of(self, wanted: Wanted) -> Key:
        return (wanted.topic_id if self.by_id else wanted.topic), wanted.index

    def __repr__(self) -> str:
        return f"fetch session {self.id}, epoch {self.epoch}, {len(self.partitions)} partitions"


def _kind(privileged: bool) -> type[Session]:
    if not privileged:
        return Session
    from .follower_session import FollowerSession  # most nodes have none

    return FollowerSession


class Fetching:
    """A fetch outside of any session: everything wanted is answered."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self._wanted = wanted

    @property
    def wanted(self) -> Sequence[Wanted]:
        """What is to be read now."""
        return self._wanted

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wanted at all."""
        return not self._wanted

    def known_to(self, asker: Asker | None) -> FollowerSession | None:
        """The session that knows what this follower was told; None where there is none such."""
        return None

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
            wanted.remember(data)
        return response(answered, session.id)


class Continuing(Fetching):
    """The next fetch of a session."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.due())
        self._session = session

    @property
    def wanted(self) -> Sequence[Wanted]:
        return self._session.due()

    @property
    def is_empty(self) -> bool:
        return not self._session.partitions

    def known_to(self, asker: Asker | None) -> FollowerSession | None:
        return self._session.known_to(asker)

    def answer(self, answered: Iterable[Answered]) -> FetchResponse:
        session = self._session
        news = [(wanted, data) for wanted, data in answered if wanted.has_news(data)]
        for wanted, data in news:
            wanted.remember(data)
            if data.records is not None and len(data.records):
                session.served(wanted)
        return response(news, session.id)


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
        session.use(self._now)
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
        session = _kind(privileged)(session_id, partitions, by_id=by_id, privileged=privileged, now=self._now)
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
