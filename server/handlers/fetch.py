"""Fetch: records of many partitions, at once or when enough of them have come (KIP-74, KIP-98, KIP-227, KIP-320, KIP-516).

The answer goes out when `min_bytes` are there, when an error or a diverging epoch must be told, or when `max_wait_ms` is over. From version
7 on a session may remember what is wanted; from 12 on the fetcher may say which epoch it read last, and is told where it diverged; from 13
on topics come by id; from 16 on who is wrong about the leader is told who leads, and where (KIP-951). A replica that is not one of a
partition's gets NOT_LEADER_OR_FOLLOWER, or UNKNOWN_LEADER_EPOCH if it names an epoch; one that fetches in an earlier life of its broker's
NOT_LEADER_OR_FOLLOWER (KIP-903).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse

from ..metadata.views import endpoints
from ..replica.fetching.caught_up import read_nothing
from ..replica.fetching.fetch_sessions import Fetching
from ..replica.fetching.preferred_read_replica import selects
from ..replica.fetching.reading import Reading, Terms, all_failed, has_moved, read_all, read_in_slices
from ..replica.fetching.wanted import TOPIC_IDS_FROM, Wanted, keys_and_partitions, response
from ..requests.request import Request
from ..requests.waiting import SLICE, Until, Wait, Waiters

if TYPE_CHECKING:
    from ..node import Node

SESSIONS_FROM = 7

LEADER_FROM = 16
"""The first version in which who is wrong about the leader is told the right one (KIP-951); the field is older."""

WRONG_LEADER = (error_codes.NOT_LEADER_OR_FOLLOWER, error_codes.FENCED_LEADER_EPOCH)

ISOLATION_LEVELS = (0, 1)
"""Of any other Kafka breaks, and answers so."""


def answer(node: Node, request: Request[FetchRequest]) -> FetchResponse | Wait[FetchResponse]:
    body = request.body
    if body.isolation_level not in ISOLATION_LEVELS:
        return _broken(request)
    replica = _replica_id(request)
    fetching = node.fetch_sessions.begin(body, request.version, follower=replica >= 0, now=node.now)
    if isinstance(fetching, int):
        return FetchResponse(error_code=fetching)
    if len(fetching.wanted) > SLICE and replica not in node.controller.image.brokers:
        return _in_slices(node, request, fetching)
    reading = _read(node, request, fetching, may_wait=body.min_bytes > 0 and body.max_wait_ms > 0)
    if _is_enough(request, fetching, reading):
        return _told(node, request, fetching, reading)
    return _wait(node, request, fetching, reading.places, reading.size)


def _is_enough(request: Request[FetchRequest], fetching: Fetching, reading: Reading) -> bool:
    body = request.body
    return reading.urgent or reading.size >= body.min_bytes or body.max_wait_ms <= 0 or fetching.is_empty


def _broken(request: Request[FetchRequest]) -> FetchResponse:
    """Where topics come by id, Kafka says nothing of partitions when it breaks over a request."""
    if request.version < TOPIC_IDS_FROM:
        return refuse(request, error_codes.UNKNOWN_SERVER_ERROR, None)
    return FetchResponse(error_code=error_codes.UNKNOWN_SERVER_ERROR)


def _wait(
    node: Node, request: Request[FetchRequest], fetching: Fetching, places: Sequence[Waiters], size: int
) -> Wait[FetchResponse]:
    """Read again whenever something has come. What was read before the wait is let go: it may be half
    a megabyte, or keep memory and files of records that are deleted meanwhile."""
    deadline = node.now + request.body.max_wait_ms
    while True:
        moved = yield Until(deadline, places, lacking=request.body.min_bytes - size)
        reading = _read(node, request, fetching)
        if not moved or _is_enough(request, fetching, reading):
            break
        places, size = reading.places, reading.size
        del reading
    _mark_gone(reading)
    return _told(node, request, fetching, reading)


def _in_slices(node: Node, request: Request[FetchRequest], fetching: Fetching) -> Wait[FetchResponse]:
    """The same for many partitions. What came to one after it was read is found before the fetch waits."""
    deadline, moved, waited = node.now + request.body.max_wait_ms, True, False
    while True:
        terms = _terms(node, request, fetching)
        reading = yield from read_in_slices(node, fetching.wanted, terms)
        if not moved or _is_enough(request, fetching, reading) or node.now >= deadline:
            break
        if not has_moved(node, reading):
            places, lacking = reading.places, request.body.min_bytes - reading.size
            del reading  # as in _wait
            moved, waited = (yield Until(deadline, places, lacking)), True
    if waited:
        _mark_gone(reading)
    return _told(node, request, fetching, reading)


def _mark_gone(reading: Reading) -> None:
    """Of what was deleted while a fetch waited for it Kafka answers that no aborted transactions were looked for."""
    for _, data in reading.answered:
        if data.error_code:
            data.aborted_transactions = None


def _told(node: Node, request: Request[FetchRequest], fetching: Fetching, reading: Reading) -> FetchResponse:
    named = _name_leaders(node, reading) if reading.urgent and request.version >= LEADER_FROM else None
    response = fetching.answer(reading.answered)
    reading.told()
    if node.throttles is not None and _replica_id(request) >= 0:
        node.throttles.leader.sent(response, request.version)
    if named and _replica_id(request) < 0:  # followers go by the metadata
        response.node_endpoints = endpoints(
            node.controller.image, request.peer.listener, named, FetchResponse.NodeEndpoint
        )
    return response


def _name_leaders(node: Node, reading: Reading) -> set[int]:
    """Who is wrong about a leader is told the right one: these."""
    named = set()
    for wanted, data in reading.answered:
        if data.error_code in WRONG_LEADER:
            leader, epoch = node.partitions.leader_of(wanted.topic, wanted.index)
            data.current_leader = FetchResponse.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
            named.add(leader)
    return named


def _read(node: Node, request: Request[FetchRequest], fetching: Fetching, *, may_wait: bool = False) -> Reading:
    """What there is. A fetch that `may_wait` need not be told of what is no bytes."""
    terms, wanted = _terms(node, request, fetching), fetching.wanted
    reading = (read_nothing(node, wanted, terms) if may_wait else None) or read_all(node, wanted, terms)
    if terms.session is not None:
        reading.places.append(terms.session.waiters)
    return reading


def _terms(node: Node, request: Request[FetchRequest], fetching: Fetching) -> Terms:
    max_bytes = min(request.body.max_bytes, node.settings.int("fetch.max.bytes"))
    if node.unsent:  # what others do not read is held in memory, under the same bound as what they send
        max_bytes = min(max_bytes, max(0, node.intake.limit - node.unsent))
    replica, rack = _replica_id(request), ""
    if request.body.rack_id and replica < 0 and selects(node):
        rack = request.body.rack_id
    epoch = _broker_epoch(request)
    stale = _is_over(node, replica, epoch)
    terms = Terms(request.version, request.body.isolation_level, max_bytes, replica, node.now, rack, epoch, stale)
    if replica >= 0 and node.throttles is not None and node.throttles.leader.is_exceeded():
        terms.throttle = node.throttles.leader
    terms.session = fetching.known_to(None if replica < 0 or stale else (replica, epoch))
    return terms


def _replica_id(request: Request[FetchRequest]) -> int:
    body = request.body
    return body.replica_state.replica_id if request.version >= 15 else body.replica_id


def _broker_epoch(request: Request[FetchRequest]) -> int:
    return request.body.replica_state.replica_epoch if request.version >= 15 else -1


def _is_over(node: Node, replica: int, epoch: int) -> bool:
    """Whether a replica fetches in a life of its broker's that is over, as is known here (KIP-903)."""
    broker = node.controller.image.brokers.get(replica) if replica >= 0 and epoch >= 0 else None
    return broker is not None and not broker.fenced and broker.epoch > epoch


def refuse(request: Request[FetchRequest], code: int, message: str | None) -> FetchResponse:
    wanted = [
        Wanted(topic, topic_id, asked)
        for _, topic, topic_id, asked in keys_and_partitions(request.body, request.version)
    ]
    refused = response(all_failed(wanted, code), request.body.session_id)
    refused.error_code = code if request.version >= SESSIONS_FROM else 0
    return refused
