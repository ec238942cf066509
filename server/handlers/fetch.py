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
from ..replica.fetching.cached_partition import TOPIC_IDS_FROM, CachedPartition, keys_and_partitions, response
from ..replica.fetching.caught_up_fetch import read_caught_up
from ..replica.fetching.fetch_params import FetchParams
from ..replica.fetching.fetch_sessions import FetchContext
from ..replica.fetching.log_reader import (
    LogReadResults,
    all_failed,
    has_changed,
    read_from_log,
    read_from_log_in_slices,
)
from ..replica.fetching.preferred_read_replica import selects_by_rack
from ..requests.request import Request
from ..requests.waiting import SLICE, Until, Wait, Waiters

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

SESSIONS_FROM = 7

LEADER_FROM = 16
"""The first version in which who is wrong about the leader is told the right one (KIP-951); the field is older."""

WRONG_LEADER = (error_codes.NOT_LEADER_OR_FOLLOWER, error_codes.FENCED_LEADER_EPOCH)

ISOLATION_LEVELS = (0, 1)
"""Of any other Kafka breaks, and answers so."""


def answer(node: HandlerContext, request: Request[FetchRequest]) -> FetchResponse | Wait[FetchResponse]:
    body = request.body
    if body.isolation_level not in ISOLATION_LEVELS:
        return _broken(request)
    replica = _replica_id(request)
    context = node.fetch_sessions.begin(body, request.version, follower=replica >= 0, now=node.now)
    if isinstance(context, int):
        return FetchResponse(error_code=context)
    if len(context.partitions) > SLICE and replica not in node.controller.image.brokers:
        return _in_slices(node, request, context)
    results = _read(node, request, context, may_wait=body.min_bytes > 0 and body.max_wait_ms > 0)
    if _is_enough(request, context, results):
        return _told(node, request, context, results)
    return _wait(node, request, context, results.places, results.size_bytes)


def _is_enough(request: Request[FetchRequest], context: FetchContext, results: LogReadResults) -> bool:
    body = request.body
    return results.must_respond or results.size_bytes >= body.min_bytes or body.max_wait_ms <= 0 or context.is_empty


def _broken(request: Request[FetchRequest]) -> FetchResponse:
    """Where topics come by id, Kafka says nothing of partitions when it breaks over a request."""
    if request.version < TOPIC_IDS_FROM:
        return refuse(request, error_codes.UNKNOWN_SERVER_ERROR, None)
    return FetchResponse(error_code=error_codes.UNKNOWN_SERVER_ERROR)


def _wait(
    node: HandlerContext, request: Request[FetchRequest], context: FetchContext, places: Sequence[Waiters], size: int
) -> Wait[FetchResponse]:
    """Read again whenever something has come. What was read before the wait is let go: it may be half
    a megabyte, or keep memory and files of records that are deleted meanwhile."""
    deadline = node.now + request.body.max_wait_ms
    while True:
        moved = yield Until(deadline, places, lacking=request.body.min_bytes - size)
        results = _read(node, request, context)
        if not moved or _is_enough(request, context, results):
            break
        places, size = results.places, results.size_bytes
        del results
    _mark_gone(results)
    return _told(node, request, context, results)


def _in_slices(node: HandlerContext, request: Request[FetchRequest], context: FetchContext) -> Wait[FetchResponse]:
    """The same for many partitions. What came to one after it was read is found before the fetch waits."""
    deadline, moved, waited = node.now + request.body.max_wait_ms, True, False
    while True:
        params = _params(node, request, context)
        results = yield from read_from_log_in_slices(node, context.partitions, params)
        if not moved or _is_enough(request, context, results) or node.now >= deadline:
            break
        if not has_changed(node, results):
            places, lacking = results.places, request.body.min_bytes - results.size_bytes
            del results  # as in _wait
            moved, waited = (yield Until(deadline, places, lacking)), True
    if waited:
        _mark_gone(results)
    return _told(node, request, context, results)


def _mark_gone(results: LogReadResults) -> None:
    """Of what was deleted while a fetch waited for it Kafka answers that no aborted transactions were looked for."""
    for _, data in results.partitions:
        if data.error_code:
            data.aborted_transactions = None


def _told(
    node: HandlerContext, request: Request[FetchRequest], context: FetchContext, results: LogReadResults
) -> FetchResponse:
    named = _name_leaders(node, results) if results.must_respond and request.version >= LEADER_FROM else None
    response = context.answer(results.partitions)
    results.on_response()
    if node.replication_quotas is not None and _replica_id(request) >= 0:
        node.replication_quotas.leader.record_sent(response, request.version)
    if named and _replica_id(request) < 0:  # followers go by the metadata
        response.node_endpoints = endpoints(
            node.controller.image, request.peer.listener.name, named, FetchResponse.NodeEndpoint
        )
    return response


def _name_leaders(node: HandlerContext, results: LogReadResults) -> set[int]:
    """Who is wrong about a leader is told the right one: these."""
    named = set()
    for partition, data in results.partitions:
        if data.error_code in WRONG_LEADER:
            leader, epoch = node.partitions.leader_of(partition.topic, partition.index)
            data.current_leader = FetchResponse.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
            named.add(leader)
    return named


def _read(
    node: HandlerContext, request: Request[FetchRequest], context: FetchContext, *, may_wait: bool = False
) -> LogReadResults:
    """What there is. A fetch that `may_wait` need not be told of what is no bytes."""
    params, partitions = _params(node, request, context), context.partitions
    results = (read_caught_up(node, partitions, params) if may_wait else None) or read_from_log(
        node, partitions, params
    )
    if params.session is not None:
        results.places.append(params.session.waiters)
    return results


def _params(node: HandlerContext, request: Request[FetchRequest], context: FetchContext) -> FetchParams:
    body, replica_id, replica_epoch = request.body, _replica_id(request), _broker_epoch(request)
    is_follower = replica_id >= 0
    is_stale = _is_stale(node, replica_id, replica_epoch)
    is_over_quota = is_follower and node.replication_quotas is not None and node.replication_quotas.leader.is_exceeded()
    return FetchParams(
        version=request.version,
        isolation_level=body.isolation_level,
        max_bytes=_max_bytes(node, body),
        now=node.now,
        replica_id=replica_id,
        replica_epoch=replica_epoch,
        is_stale_replica=is_stale,
        rack_id=body.rack_id if body.rack_id and not is_follower and selects_by_rack(node) else "",
        listener=request.peer.listener.name,
        quota=node.replication_quotas.leader if is_over_quota and node.replication_quotas is not None else None,
        session=context.session_for((replica_id, replica_epoch) if is_follower and not is_stale else None),
    )


def _max_bytes(node: HandlerContext, body: FetchRequest) -> int:
    """Responses that clients have not read yet share one memory bound with requests."""
    max_bytes = min(body.max_bytes, node.settings.int("fetch.max.bytes"))
    return min(max_bytes, max(0, node.intake.limit - node.unsent)) if node.unsent else max_bytes


def _replica_id(request: Request[FetchRequest]) -> int:
    body = request.body
    return body.replica_state.replica_id if request.version >= 15 else body.replica_id


def _broker_epoch(request: Request[FetchRequest]) -> int:
    return request.body.replica_state.replica_epoch if request.version >= 15 else -1


def _is_stale(node: HandlerContext, replica: int, epoch: int) -> bool:
    """Whether a replica fetches in a life of its broker's that is over, as is known here (KIP-903)."""
    broker = node.controller.image.brokers.get(replica) if replica >= 0 and epoch >= 0 else None
    return broker is not None and not broker.fenced and broker.epoch > epoch


def refuse(request: Request[FetchRequest], code: int, message: str | None) -> FetchResponse:
    partitions = [
        CachedPartition(topic, topic_id, asked)
        for _, topic, topic_id, asked in keys_and_partitions(request.body, request.version)
    ]
    refused = response(all_failed(partitions, code), request.body.session_id)
    refused.error_code = code if request.version >= SESSIONS_FROM else 0
    return refused
