"""Fetch: records of many partitions, at once or when enough of them have come (KIP-74, KIP-98, KIP-227, KIP-320, KIP-516).

The answer goes out when `min_bytes` are there, when an error or a diverging epoch must be told, or when `max_wait_ms` is over. From version
7 on a session may remember what is wanted; from 12 on the fetcher may say which epoch it read last, and is told where it diverged; from 13
on topics come by id; from 16 on who is wrong about the leader is told who leads, and where (KIP-951). A replica that is not one of a
partition's gets NOT_LEADER_OR_FOLLOWER, or UNKNOWN_LEADER_EPOCH if it names an epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse

from ..fetching.reading import LEADER_FROM, Reading, Terms, all_failed, read_all, refused_to_stranger
from ..fetching.sessions import Fetching
from ..fetching.wanted import TOPIC_IDS_FROM, Wanted, keys_and_partitions, response
from ..metadata.views import reachable
from ..request import Request
from ..waiting import Until, Wait

if TYPE_CHECKING:
    from ..node import Node

SESSIONS_FROM = 7

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
    if replica >= 0:
        return fetching.answer(refused_to_stranger(node, fetching.wanted, request.version))
    reading = _read(node, request, fetching)
    if reading.urgent or reading.size >= body.min_bytes or body.max_wait_ms <= 0 or not fetching.wanted:
        return _told(node, request, fetching, reading)
    return _wait(node, request, fetching, reading)


def _broken(request: Request[FetchRequest]) -> FetchResponse:
    """Where topics come by id, Kafka says nothing of partitions when it breaks over a request."""
    if request.version < TOPIC_IDS_FROM:
        return refuse(request, error_codes.UNKNOWN_SERVER_ERROR, None)
    return FetchResponse(error_code=error_codes.UNKNOWN_SERVER_ERROR)


def _wait(node: Node, request: Request[FetchRequest], fetching: Fetching, reading: Reading) -> Wait[FetchResponse]:
    deadline = node.now + request.body.max_wait_ms
    while not (reading.urgent or reading.size >= request.body.min_bytes):
        moved = yield Until(deadline, reading.places, lacking=request.body.min_bytes - reading.size)
        reading = _read(node, request, fetching)
        if not moved:
            break
    _mark_gone(reading)
    return _told(node, request, fetching, reading)


def _mark_gone(reading: Reading) -> None:
    """Of what was deleted while a fetch waited for it Kafka answers that no aborted transactions were looked for."""
    for _, data in reading.answered:
        if data.error_code:
            data.aborted_transactions = None


def _told(node: Node, request: Request[FetchRequest], fetching: Fetching, reading: Reading) -> FetchResponse:
    response = fetching.answer(reading.answered)
    return _with_endpoints(node, request, response) if reading.urgent else response


def _with_endpoints(node: Node, request: Request[FetchRequest], response: FetchResponse) -> FetchResponse:
    """Where the leaders are that the answer names."""
    if request.version >= LEADER_FROM:
        named = {data.current_leader.leader_id for topic in response.responses for data in topic.partitions}
        response.node_endpoints = [
            FetchResponse.NodeEndpoint(node_id=broker.id, host=at.host, port=at.port, rack=broker.rack)
            for broker, at in reachable(node.controller.image, request.peer.listener)
            if broker.id in named
        ]
    return response


def _read(node: Node, request: Request[FetchRequest], fetching: Fetching) -> Reading:
    max_bytes = min(request.body.max_bytes, node.settings.int("fetch.max.bytes"))
    if node.unsent:  # what others do not read is held in memory, under the same bound as what they send
        max_bytes = min(max_bytes, max(0, node.intake.limit - node.unsent))
    return read_all(node, fetching.wanted, Terms(request.version, request.body.isolation_level, max_bytes))


def _replica_id(request: Request[FetchRequest]) -> int:
    body = request.body
    return body.replica_state.replica_id if request.version >= 15 else body.replica_id


def refuse(request: Request[FetchRequest], code: int, message: str | None) -> FetchResponse:
    wanted = [
        Wanted(topic, topic_id, asked)
        for _, topic, topic_id, asked in keys_and_partitions(request.body, request.version)
    ]
    refused = response(all_failed(wanted, code), request.body.session_id)
    refused.error_code = code if request.version >= SESSIONS_FROM else 0
    return refused
