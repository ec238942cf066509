"""Which partitions the client of a connection fetches, and since when.

Rules. Times are the numbers of requests. A fetch without a session, or one that opens a session,
names all its partitions; with a session, a partition stays included until the client removes it. So
an incremental fetch costs nothing for the partitions that it does not name. A run of fetches that
include a partition ends with a fetch that does not include it, and with one whose answer has an
error for it: the client may then begin at another offset. The fetched partitions of a connection
are forgotten when it ends, and beyond `MAX_BYTES`, the oldest connection first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..requests.kept_bytes import text_bytes
from .given_partitions import Place

if TYPE_CHECKING:
    from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
    from kafkadouble.messages.generated.share_fetch import ShareFetchRequest
    from kafkadouble.messages.uuid import Uuid

    from ..requests.request import Peer

MAX_BYTES = 32 * 1024 * 1024
"""The bound of all connections together, by estimate. It is enough for 60,000 partitions."""

LONGEST_NAME = 249
"""The length of the longest name that a topic can have."""

ENTRY_BYTES = 500
"""The memory of a partition, if each has a topic with a name of this length."""

Session = tuple[str, str]
"""A share session: a group and a member."""


class Run(NamedTuple):
    """The numbers of the first and the last fetch, without a gap, of a connection that includes a
    partition."""

    since: int
    last: int


class _Included:
    """The partitions that the fetches of a connection include, or those of a share session."""

    __slots__ = ("begun", "ended", "last", "since")

    def __init__(self) -> None:
        self.since: dict[Place, int] = {}
        self.ended: dict[Place, Run] = {}
        """The last run of a partition that is not included any more."""
        self.begun = self.last = 0
        """The last fetch that was begun, and the last one that counts."""

    def replace(self, places: Iterable[Place], number: int) -> None:
        """A fetch that names all its partitions."""
        before = self.since
        self.since = {place: before.pop(place, number) for place in places}
        for place, since in before.items():
            self.ended[place] = Run(since, self.last)
        self.begun = number

    def change(self, added: Iterable[Place], removed: Iterable[Place], number: int) -> None:
        """A fetch of a session, with its changes."""
        for place in added:
            self.since.setdefault(place, number)
        for place in removed:
            if (since := self.since.pop(place, None)) is not None:
                self.ended[place] = Run(since, self.last)
        self.begun = number

    def count(self) -> None:
        """The fetch that was begun last counts."""
        self.last = self.begun

    def break_off(self, place: Place, number: int) -> None:
        """The last fetch did not read this partition: a run begins with the next one."""
        self.ended.pop(place, None)
        if place in self.since:
            self.since[place] = number

    def run(self, place: Place) -> Run | None:
        since = self.since.get(place)
        return self.ended.get(place) if since is None else Run(since, self.last) if since <= self.last else None

    def __len__(self) -> int:
        return len(self.since) + len(self.ended)


class FetchingConnection:
    """A connection whose client fetches: as a consumer, or as members of share groups."""

    __slots__ = ("client_id", "fetches", "host", "share_sessions", "size_bytes", "text_bytes")

    def __init__(self, client_id: str, host: str) -> None:
        self.client_id, self.host = client_id, host
        self.fetches = _Included()
        self.share_sessions: dict[Session, _Included] = {}
        self.text_bytes = text_bytes(client_id)
        self.size_bytes = 0

    def measured(self) -> int:
        """By how much it has grown since the last call, in bytes."""
        before = self.size_bytes
        places = len(self.fetches) + sum(1 + len(each) for each in self.share_sessions.values())
        self.size_bytes = ENTRY_BYTES * (1 + places) + self.text_bytes
        return self.size_bytes - before

    def fetch(self, body: FetchRequest, number: int) -> None:
        named = ((_topic(topic), each.partition) for topic in body.topics for each in topic.partitions)
        if body.session_epoch <= 0:
            self.fetches.replace(named, number)
        else:
            gone = body.forgotten_topics_data
            removed = ((_topic(topic), index) for topic in gone for index in topic.partitions)
            self.fetches.change(named, removed, number)
        self.fetches.count()

    def fetched(self, answer: FetchResponse, number: int) -> None:
        """The answer to the last fetch: a partition with an error was not read."""
        for topic in answer.responses:
            for each in topic.partitions:
                if each.error_code:
                    self.fetches.break_off((_topic(topic), each.partition_index), number)

    def share_fetch(self, body: ShareFetchRequest, number: int) -> None:
        session = body.group_id or "", body.member_id or ""
        found = self.share_sessions.get(session)
        if found is None:
            found = self.share_sessions[session] = _Included()
            self.text_bytes += sum(map(text_bytes, session))
        named = ((topic.topic_id, each.partition_index) for topic in body.topics for each in topic.partitions)
        if body.share_session_epoch <= 0:
            found.replace(named, number)
        else:
            gone = body.forgotten_topics_data
            removed = ((topic.topic_id, index) for topic in gone for index in topic.partitions)
            found.change(named, removed, number)

    def share_fetched(self, body: ShareFetchRequest) -> None:
        """A ShareFetch was answered, so the start offsets of its partitions are known."""
        found = self.share_sessions.get((body.group_id or "", body.member_id or ""))
        if found is not None:
            found.count()

    def __repr__(self) -> str:
        return f"{self.client_id!r} at {self.host} fetches {len(self.fetches)} partitions"


def _topic(topic: Any) -> str | Uuid:
    """The key of a topic. What cannot be the name of one is not kept."""
    name: str = topic.topic
    if not name:
        return topic.topic_id  # type: ignore[no-any-return]
    return name if len(name) <= LONGEST_NAME and name.isascii() else ""


class FetchedPartitions:
    """The fetched partitions, by connection."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes, self._size_bytes = max_bytes, 0
        self._connections: dict[Peer, FetchingConnection] = {}

    def fetch(self, peer: Peer, client_id: str, body: FetchRequest, number: int) -> None:
        """A client fetches."""
        at = self._at(peer, client_id)
        at.fetch(body, number)
        if body.topics or body.forgotten_topics_data:
            self._measure(at)

    def fetched(self, peer: Peer, answer: FetchResponse, number: int) -> None:
        """The answer to the last fetch of a connection."""
        if answer.responses and (at := self._connections.get(peer)) is not None:
            at.fetched(answer, number)

    def share_fetch(self, peer: Peer, client_id: str, body: ShareFetchRequest, number: int) -> None:
        """A member of a share group fetches."""
        at = self._at(peer, client_id)
        at.share_fetch(body, number)
        self._measure(at)

    def share_fetched(self, peer: Peer, body: ShareFetchRequest) -> None:
        """A ShareFetch of a connection was answered."""
        if (at := self._connections.get(peer)) is not None:
            at.share_fetched(body)

    def _at(self, peer: Peer, client_id: str) -> FetchingConnection:
        found = self._connections.get(peer)
        if found is None or found.client_id != client_id:
            self.drop(peer)
            found = self._connections[peer] = FetchingConnection(client_id, peer.host)
        return found

    def _measure(self, at: FetchingConnection) -> None:
        self._size_bytes += at.measured()
        while self._size_bytes > self._max_bytes:
            self.drop(next(iter(self._connections)))

    def drop(self, peer: Peer) -> None:
        """The connection has ended."""
        found = self._connections.pop(peer, None)
        if found is not None:
            self._size_bytes -= found.size_bytes

    def runs(self, client_id: str, host: str, places: Iterable[Place]) -> Iterator[Run]:
        """The runs of a partition, which may be known by several keys: one for each connection of
        such a client."""
        places = list(places)
        for each in self._connections.values():
            if each.client_id == client_id and each.host == host:
                found = [run for place in places if (run := each.fetches.run(place)) is not None]
                if found:
                    yield max(found)

    def share_runs(self, session: Session, places: Iterable[Place]) -> Iterator[Run]:
        """The runs of a partition in the sessions of a member of a share group."""
        places = list(places)
        for each in self._connections.values():
            if (included := each.share_sessions.get(session)) is not None:
                yield from (run for place in places if (run := included.run(place)) is not None)

    def clear(self) -> None:
        """Forgets every connection."""
        self._connections.clear()
        self._size_bytes = 0

    def __repr__(self) -> str:
        return f"what {len(self._connections)} connections fetch"
