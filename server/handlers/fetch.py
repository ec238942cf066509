"""Fetch: reads records of many partitions, at once or when enough bytes have been appended (KIP-74,
KIP-98, KIP-227, KIP-320, KIP-516).

The response is sent when there are `min_bytes`, when it has an error or a diverging epoch, or after
`max_wait_ms`. From version 7 on, a fetch session stores the partitions. From 12 on, the request may
have the last fetched epoch, and the response the diverging epoch. From 13 on, topics have ids. From
16 on, a response for the wrong leader has the current leader and its endpoint (KIP-951).

A replica that is not assigned to the partition gets NOT_LEADER_OR_FOLLOWER, or UNKNOWN_LEADER_EPOCH
if its request has an epoch. A replica with an old broker epoch gets NOT_LEADER_OR_FOLLOWER
(KIP-903).

The response to a consumer beyond its quota is empty, and its session stays as it is. A response has
at most as many bytes as the quota allows at once (KIP-13).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import Uuid

from ..metadata.views import endpoints
from ..replica.fetching.cached_partition import TOPIC_IDS_FROM, CachedPartition
from ..replica.fetching.caught_up_fetch import read_caught_up
from ..replica.fetching.fetch_params import FetchParams
from ..replica.fetching.fetch_sessions import FetchContext
from ..replica.fetching.log_reader import (
    LogReadResults,
    has_changed,
    read_from_log,
    read_from_log_in_slices,
)
from ..replica.fetching.preferred_read_replica import selects_by_rack
from ..replica.fetching.refused_fetch import refused_fetch
from ..replica.fetching.refused_partitions_context import RefusedPartitionsContext
from ..requests.request import Request
from ..requests.waiting import SLICE, Until, Wait, Waiters
from ..security.acls import TOPIC
from ..security.authorizer import CLUSTER_ACTION, READ
from ..security.client_rights import ClientRights, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

SIZE_FIELD = 4

LEADER_FROM, REPLICA_STATE_FROM = 16, 15
"""The first version whose response has the current leader after a fetch from the wrong one
(KIP-951). The field is older."""

WRONG_LEADER = (error_codes.NOT_LEADER_OR_FOLLOWER, error_codes.FENCED_LEADER_EPOCH)

ISOLATION_LEVELS = (0, 1)
"""Kafka fails on any other level with UNKNOWN_SERVER_ERROR."""


def answer(node: HandlerContext, request: Request[FetchRequest]) -> FetchResponse | Wait[FetchResponse]:
    body = request.body
    if body.isolation_level not in ISOLATION_LEVELS:
        # Kafka fails on the whole request; in versions with topic ids, the response has no
        # partitions.
        if request.version < TOPIC_IDS_FROM:
            return refuse(request, error_codes.UNKNOWN_SERVER_ERROR, None)
        return FetchResponse(error_code=error_codes.UNKNOWN_SERVER_ERROR)
    replica = _replica_id(request)
    context = node.fetch_sessions.begin(body, request.version, follower=replica >= 0, now=node.now)
    if isinstance(context, int):
        return FetchResponse(error_code=context)
    if node.authorizer is not None and (rights := client_rights(node, request)) is not None:
        context = _authorized(node, rights, context, is_follower=replica >= 0)
    if len(context.partitions) > SLICE and replica not in node.image.brokers:
        return _in_slices(node, request, context)
    results = _read(node, request, context, may_wait=body.min_bytes > 0 and body.max_wait_ms > 0)
    if _is_enough(request, context, results):
        return _response(node, request, context, results)
    return _wait(node, request, context, results.places, results.size_bytes)


def _authorized(
    node: HandlerContext, rights: ClientRights, context: FetchContext, *, is_follower: bool
) -> FetchContext:
    """The fetch without the partitions that the client may not read. An unknown topic id is another
    error."""
    refused = [
        each
        for each in context.partitions
        if not (rights.may_on_cluster(CLUSTER_ACTION) if is_follower else _may_read(node, rights, each))
    ]
    return RefusedPartitionsContext(context, refused, error_codes.TOPIC_AUTHORIZATION_FAILED) if refused else context


def _may_read(node: HandlerContext, rights: ClientRights, partition: CachedPartition) -> bool:
    name = partition.topic
    if not name and (topic := node.image.topic(partition.topic_id)) is not None:
        name = topic.name
    return (not name and partition.topic_id != Uuid.ZERO) or rights.may(READ, TOPIC, name)


def _is_enough(request: Request[FetchRequest], context: FetchContext, results: LogReadResults) -> bool:
    body = request.body
    return (
        results.must_respond or results.size_bytes >= _min_bytes(request) or body.max_wait_ms <= 0 or context.is_empty
    )


def _min_bytes(request: Request[FetchRequest]) -> int:
    """The bytes that the response waits for; never more than the quota of the client allows."""
    min_bytes = request.body.min_bytes
    return min_bytes if request.throttle is None else min(min_bytes, request.throttle.max_fetch_bytes())


def _wait(
    node: HandlerContext, request: Request[FetchRequest], context: FetchContext, places: Sequence[Waiters], size: int
) -> Wait[FetchResponse]:
    """Reads again after each change, until there is enough or the wait is over.

    The results of the read before a wait are released: they may be half a megabyte, or keep memory
    and files of records that are deleted meanwhile.
    """
    deadline = node.now + request.body.max_wait_ms
    while True:
        moved = yield Until(deadline, places, lacking=_min_bytes(request) - size)
        results = _read(node, request, context)
        if not moved or _is_enough(request, context, results):
            break
        places, size = results.places, results.size_bytes
        del results
    _mark_deleted(results)
    return _response(node, request, context, results)


def _in_slices(node: HandlerContext, request: Request[FetchRequest], context: FetchContext) -> Wait[FetchResponse]:
    """As `_wait`, for many partitions. Changes during the slices are found before the fetch
    waits."""
    deadline, moved, waited = node.now + request.body.max_wait_ms, True, False
    while True:
        params = _params(node, request, context)
        results = yield from read_from_log_in_slices(node, context.partitions, params)
        if not moved or _is_enough(request, context, results) or node.now >= deadline:
            break
        if not has_changed(node, results):
            places, lacking = results.places, _min_bytes(request) - results.size_bytes
            del results  # as in _wait
            moved, waited = (yield Until(deadline, places, lacking)), True
    if waited:
        _mark_deleted(results)
    return _response(node, request, context, results)


def _mark_deleted(results: LogReadResults) -> None:
    """Sets the aborted transactions of failed partitions to null, as Kafka does for a partition
    that was deleted while a fetch waited."""
    for _, data in results.partitions:
        if data.error_code:
            data.aborted_transactions = None


def _response(
    node: HandlerContext, request: Request[FetchRequest], context: FetchContext, results: LogReadResults
) -> FetchResponse:
    if request.throttle is not None and _replica_id(request) < 0:
        size = SIZE_FIELD + sum(map(len, context.preview(results.partitions).parts(request.version)))
        if request.throttle.throttles_fetch(size, node.now):
            return context.throttled_answer()
    named = _name_leaders(node, results) if results.must_respond and request.version >= LEADER_FROM else None
    response = context.answer(results.partitions)
    results.on_response()
    if node.replication_quotas is not None and _replica_id(request) >= 0:
        node.replication_quotas.leader.record_sent(response, request.version)
    if named and _replica_id(request) < 0:  # followers use the metadata
        response.node_endpoints = endpoints(node.image, request.peer.listener.name, named, FetchResponse.NodeEndpoint)
    return response


def _name_leaders(node: HandlerContext, results: LogReadResults) -> set[int]:
    """Adds the current leader to each partition with a wrong leader, and returns the ids of these
    leaders."""
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
    """Reads the partitions. A fetch that `may_wait` skips the read when every partition is caught
    up."""
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
    # It fetches with the epoch of an earlier registration of its broker (KIP-903).
    broker = node.image.brokers.get(replica_id) if replica_id >= 0 and replica_epoch >= 0 else None
    is_stale = broker is not None and not broker.fenced and broker.epoch > replica_epoch
    is_over_quota = is_follower and node.replication_quotas is not None and node.replication_quotas.leader.is_exceeded()
    return FetchParams(
        version=request.version,
        isolation_level=body.isolation_level,
        max_bytes=_max_bytes(node, request),
        now=node.now,
        replica_id=replica_id,
        replica_epoch=replica_epoch,
        is_stale_replica=is_stale,
        rack_id=body.rack_id if body.rack_id and not is_follower and selects_by_rack(node) else "",
        listener=request.peer.listener.name,
        quota=node.replication_quotas.leader if is_over_quota and node.replication_quotas is not None else None,
        session=context.session_for((replica_id, replica_epoch) if is_follower and not is_stale else None),
    )


def _max_bytes(node: HandlerContext, request: Request[FetchRequest]) -> int:
    """The limit of the response in bytes. Responses that clients have not read yet share one memory
    limit with requests."""
    max_bytes = min(request.body.max_bytes, node.settings.int("fetch.max.bytes"))
    if request.throttle is not None:
        max_bytes = min(max_bytes, request.throttle.max_fetch_bytes())
    return min(max_bytes, max(0, node.intake.limit - node.unsent)) if node.unsent else max_bytes


def _replica_id(request: Request[FetchRequest]) -> int:
    body = request.body
    return body.replica_state.replica_id if request.version >= REPLICA_STATE_FROM else body.replica_id


def _broker_epoch(request: Request[FetchRequest]) -> int:
    return request.body.replica_state.replica_epoch if request.version >= REPLICA_STATE_FROM else -1


def refuse(request: Request[FetchRequest], code: int, message: str | None) -> FetchResponse:
    return refused_fetch(request.body, request.version, code)
