"""Whether members of groups have fetched the partitions that they were given.

A member is ready to get each new record of a partition when its client has fetched the partition,
at an offset, after the coordinator gave it to the member. Before, a client that begins at the end
may still look for the end.

Rules. ShareFetch names the member. Fetch does not, so a fetch counts for a member whose client id
and host it has, if the run of fetches of this connection began after the client of the member got
the partition for the first time: another client with the same id, such as the previous owner, may
go on fetching. If members of several groups have the partition, by clients with the same id and
host, each needs a connection of its own. A client is known by the connection on which it speaks
for its group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.wire.errors import WireError

from .fetched_partitions import FetchedPartitions, Run
from .given_partitions import Given, GivenPartitions, Key, MemberClient, Place
from .trace import ANSWERED, Subscriber, TracedRequest

if TYPE_CHECKING:
    from ..requests.request import Peer, Request

NEW_MEMBER = 0
"""The epoch of a member that joins, maybe again."""

CONSUMER = "consumer"
"""The protocol type of classic groups whose assignments are partitions."""

ALWAYS = Given("", MemberClient(0, "", ""), 0, {})
"""In place of an assignment that is not known, such as one from before a restart."""


class FetchState(Enum):
    """The known state of a partition of a member: its client fetched it; it did not; or a client
    with the same id and host did, which may be another one."""

    YES = "fetched"
    NO = "not fetched"
    UNCLEAR = "fetched by a client that may be another one"


class MemberFetches(Subscriber):
    """Reads the assignments and the fetches in the requests to one node, or to several."""

    def __init__(self) -> None:
        self.given, self.fetched = GivenPartitions(), FetchedPartitions()
        self._number = 0
        self._clients: dict[Peer, MemberClient] = {}
        """The connections on which members spoke for their groups."""

    def begun(self, traced: TracedRequest) -> None:
        request = traced.request
        if request.api_key == ApiKeys.FETCH:
            if not traced.from_node:
                self._number += 1
                self.fetched.fetch(request.peer, request.client_id, request.body, self._number)
        elif request.api_key == ApiKeys.SHARE_FETCH:
            self._number += 1
            self.fetched.share_fetch(request.peer, request.client_id, request.body, self._number)

    def ended(self, traced: TracedRequest) -> None:
        read = _ENDED.get(traced.request.api_key)
        answer = traced.answer
        if read is not None and traced.outcome == ANSWERED and answer is not None and not answer.error_code:
            read(self, traced.request, answer)

    def disconnected(self, peer: Peer) -> None:
        self.fetched.drop(peer)
        self._clients.pop(peer, None)

    def clear(self) -> None:
        """Forgets everything, but goes on counting."""
        self.given.clear()
        self.fetched.clear()
        self._clients.clear()

    def _fetch_ended(self, request: Request[Any], answer: Any) -> None:
        self.fetched.fetched(request.peer, answer, self._number + 1)

    def _share_fetch_ended(self, request: Request[Any], answer: Any) -> None:
        self.fetched.share_fetched(request.peer, request.body)

    def _joined(self, request: Request[Any], answer: Any) -> None:
        if request.body.protocol_type == CONSUMER:
            self.given.joined(request.body.group_id, answer.member_id)

    def _synced(self, request: Request[Any], answer: Any) -> None:
        body = request.body
        keys = [(topic, index, "") for topic, index in _assigned(bytes(answer.assignment))]
        self._give(request, body.member_id, keys, again=True)

    def _left(self, request: Request[Any], answer: Any) -> None:
        body = request.body
        for member_id in (body.member_id, *(member.member_id for member in body.members)):
            self.given.left(body.group_id, member_id)

    def _consumer_heartbeat(self, request: Request[Any], answer: Any) -> None:
        self._modern_heartbeat(request, answer, answer.assignment and _by_id(answer.assignment), "")

    def _share_heartbeat(self, request: Request[Any], answer: Any) -> None:
        self._modern_heartbeat(request, answer, answer.assignment and _by_id(answer.assignment), answer.member_id)

    def _streams_heartbeat(self, request: Request[Any], answer: Any) -> None:
        tasks = answer.active_tasks
        places = (
            None if tasks is None else [(task.subtopology_id, index) for task in tasks for index in task.partitions]
        )
        self._modern_heartbeat(request, answer, places, "")

    def _modern_heartbeat(
        self, request: Request[Any], answer: Any, places: Iterable[Place] | None, of_member: str
    ) -> None:
        body = request.body
        if body.member_epoch < NEW_MEMBER:
            self.given.left(body.group_id, body.member_id)
        elif places is not None:
            keys = [(topic, index, of_member) for topic, index in places]
            self._give(request, answer.member_id or body.member_id, keys, again=body.member_epoch == NEW_MEMBER)

    def _give(self, request: Request[Any], member_id: str, keys: Sequence[Key], *, again: bool) -> None:
        self._number += 1
        peer = request.peer
        client = self._clients.get(peer)
        if client is None or client.client_id != request.client_id:
            client = self._clients[peer] = MemberClient(self._number, request.client_id, peer.host)
        self.given.give(request.body.group_id, member_id, client, keys, self._number, again=again)

    def of_share_member(self, group: str, member_id: str, places: Sequence[Place]) -> FetchState:
        """Whether a member of a share group has fetched a partition, which is known by several
        keys."""
        given = self.given.of(group, [(*place, member_id) for place in places])
        latest = 0 if given is None else given.latest
        runs = self.fetched.share_runs((group, member_id), places)
        return FetchState.YES if any(run.last > latest for run in runs) else FetchState.NO

    def of_member(
        self, group: str, member_id: str, client_id: str, host: str, places: Sequence[Place], task: Place | None = None
    ) -> FetchState:
        """Whether a member of another group has. `task` is the key of the assignment in a streams
        group."""
        keys = [(*place, "") for place in ([task] if task is not None else places)]
        given = self.given.of(group, keys)
        is_others = given is not None and (given.member_id != member_id or not given.is_current)
        if is_others or self.given.is_joining(group, member_id):
            return FetchState.NO
        given = given or ALWAYS
        runs = [run for run in self.fetched.runs(client_id, host, places) if run.last > given.latest]
        if not runs:
            return FetchState.NO
        others = self._rivals(group, client_id, host, [(*place, "") for place in places])
        return FetchState.YES if _have_each_one([given, *others], runs) else FetchState.UNCLEAR

    def _rivals(self, group: str, client_id: str, host: str, keys: Sequence[Key]) -> list[Given]:
        """The members that have the partition in other groups, by clients that are connected and
        have this id and host."""
        connected = set(self._clients.values())
        return [
            each
            for each in self.given.in_other_groups(group, keys)
            if each.client in connected and (each.client.client_id, each.client.host) == (client_id, host)
        ]

    def __repr__(self) -> str:
        return f"{self.given!r}, {self.fetched!r}"


def _have_each_one(given: Sequence[Given], runs: Sequence[Run]) -> bool:
    """Whether each of them can have a run of its own, which began after its client got the
    partition."""
    taken: dict[int, Given] = {}

    def found(each: Given, tried: set[int]) -> bool:
        for place, run in enumerate(runs):
            if run.since > each.first and run.last > each.latest and place not in tried:
                tried.add(place)
                if place not in taken or found(taken[place], tried):
                    taken[place] = each
                    return True
        return False

    return all(found(each, set()) for each in given)


def _by_id(assignment: Any) -> list[Place]:
    return [(each.topic_id, index) for each in assignment.topic_partitions for index in each.partitions]


def _assigned(data: bytes) -> list[Place]:
    """The partitions in the assignment of a classic consumer group; none in one that is none."""
    if len(data) < 2:
        return []
    version = min(int.from_bytes(data[:2], "big"), ConsumerProtocolAssignment.versions[1])
    try:
        assignment, _ = ConsumerProtocolAssignment.read(data, version, 2)
    except WireError:
        return []
    return [(each.topic, index) for each in assignment.assigned_partitions for index in each.partitions]


_ENDED: Mapping[int, Callable[[MemberFetches, Request[Any], Any], None]] = {
    ApiKeys.FETCH: MemberFetches._fetch_ended,
    ApiKeys.SHARE_FETCH: MemberFetches._share_fetch_ended,
    ApiKeys.JOIN_GROUP: MemberFetches._joined,
    ApiKeys.SYNC_GROUP: MemberFetches._synced,
    ApiKeys.LEAVE_GROUP: MemberFetches._left,
    ApiKeys.CONSUMER_GROUP_HEARTBEAT: MemberFetches._consumer_heartbeat,
    ApiKeys.SHARE_GROUP_HEARTBEAT: MemberFetches._share_heartbeat,
    ApiKeys.STREAMS_GROUP_HEARTBEAT: MemberFetches._streams_heartbeat,
}
"""What is read of an answer without an error, by the key of the API."""
