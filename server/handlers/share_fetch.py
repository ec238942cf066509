"""ShareFetch: a member of a share group acknowledges records, and acquires others (KIP-932).

The response is sent when there are `min_bytes` to deliver, when a log cannot be read, or after
`max_wait_ms`; and not before the acknowledgements are stored. Its records are whole batches; only
the offsets in `acquired_records` belong to the member. A share session stores the partitions: epoch
0 opens it, -1 ends it and releases what the member still has. From version 2 on a member may limit
the number of records strictly (KIP-1206), or only renew its locks (KIP-1222).

A request that would open one share session too many is refused after `max_wait_ms`. A partition
that is still being read from the share coordinator has no data in the response. Kafka gives the
rest of `max_bytes` to a random partition, this broker to the first one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_fetch import ShareFetchRequest, ShareFetchResponse
from kafkadouble.messages.uuid import Uuid

from ..metadata.views import endpoints
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, Slices, Until, Wait, sliced
from ..security.client_rights import may_read_topics
from ..share.acquisition import ShareAcquireMode
from ..share.delayed_share_fetch import DelayedShareFetch, ShareFetchParams
from ..share.share_fetch_context import FinalContext
from ..share.share_partition import SharePartition
from ..share.share_requests import (
    RENEW_FROM,
    WRONG_LEADER,
    Acknowledgements,
    RequestedBatch,
    check_group,
    readable_code,
    requested_partitions,
    session_key,
)
from ..share.share_session import FINAL_EPOCH, ShareSessionKey, TopicIdPartition

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

NO_RECORDS = b""
SIZE_FIELD = 4

PartitionData = ShareFetchResponse.PartitionData
Read = dict[TopicIdPartition, PartitionData]


def precheck(node: HandlerContext, request: Request[ShareFetchRequest]) -> None:
    """Raises Refusal for a request without a group."""
    check_group(node.image, request.body.group_id)


def answer(node: HandlerContext, request: Request[ShareFetchRequest]) -> Wait[ShareFetchResponse]:
    body = request.body
    key = session_key(body.group_id, body.member_id)
    is_renew_ack = request.version >= RENEW_FROM and body.is_renew_ack
    if is_renew_ack and (body.max_bytes or body.min_bytes or body.max_records or body.max_wait_ms):
        raise Refusal(error_codes.INVALID_REQUEST)
    requested, slices = dict[TopicIdPartition, Sequence[RequestedBatch]](), Slices()
    for partition, batches in requested_partitions(node.image, body.topics):
        requested[partition] = batches
        if slices.end():
            yield OTHERS_FIRST
    acknowledges = any(requested.values())
    context = yield from _context(node, request, key, list(requested), acknowledges)
    acknowledgements = Acknowledgements(node.share_partitions, node.image, key, may_read_topics(node, request))
    if acknowledges:
        yield from acknowledgements.begin(requested, request.version, is_renew_ack=is_renew_ack)
    read: Read = {}
    if not is_renew_ack:
        read = yield from _fetch(node, request, key, context.partitions)
    yield from acknowledgements.end()
    if _is_throttled(node, request, read):
        read = {}
    response = yield from _response(node, request, dict(context.news(read)), acknowledgements.results)
    if body.share_session_epoch == FINAL_EPOCH:
        node.share_partitions.release_session(key)
    return response


def _context(
    node: HandlerContext,
    request: Request[ShareFetchRequest],
    key: ShareSessionKey,
    requested: Sequence[TopicIdPartition],
    acknowledges: bool,
) -> Wait[FinalContext]:
    """Opens or updates the share session. A refusal for too many sessions takes its time, so that
    the member does not try again at once."""
    body = request.body
    named = ((topic.topic_id, index) for topic in body.forgotten_topics_data for index in topic.partitions)
    forgotten = yield from sliced(lambda each: TopicIdPartition(*each, None), named)
    try:
        return node.share_partitions.new_context(
            key, body.share_session_epoch, requested, forgotten, request.peer, acknowledges=acknowledges
        )
    except Refusal as refusal:
        if refusal.code == error_codes.SHARE_SESSION_LIMIT_REACHED and body.max_wait_ms > 0:
            yield Until(node.now + body.max_wait_ms)
        raise


def _fetch(
    node: HandlerContext,
    request: Request[ShareFetchRequest],
    key: ShareSessionKey,
    partitions: Sequence[TopicIdPartition],
) -> Wait[Read]:
    body, may_read = request.body, may_read_topics(node, request)
    read: Read = {}
    found: dict[TopicIdPartition, SharePartition] = {}
    readable, slices = [], Slices()
    for each in partitions:
        if slices.end():
            yield OTHERS_FIRST
        if code := readable_code(node.image, each, may_read):
            read[each] = _failed(each, code)
        else:
            readable.append(each)
    if not readable:
        return read
    params = _params(node, request, key)
    if not params.max_records or not params.max_bytes:
        return read
    # Each request of a session begins with another partition.
    start = max(0, body.share_session_epoch) % len(readable)
    for each in [*readable[start:], *readable[:start]]:
        if slices.end():
            yield OTHERS_FIRST
        try:
            found[each] = node.share_partitions.get_or_create(key.group_id, each)
        except Refusal as refusal:
            read[each] = _failed(each, refusal.code)
    if any(each.failure is None for each in found.values()):
        fetched = yield from _wait(node, DelayedShareFetch(node, params, list(found.values())), body.max_wait_ms)
        read |= {each: fetched[one] for each, one in found.items() if one in fetched}
    for each, one in found.items():
        if one.failure is not None:
            read[each] = _failed(each, one.failure.code)
        if slices.end():
            yield OTHERS_FIRST
    return read


def _wait(
    node: HandlerContext, fetch: DelayedShareFetch, max_wait_ms: int
) -> Wait[Mapping[SharePartition, PartitionData]]:
    """Tries after each change, until there is enough or the wait is over."""
    deadline, is_last = node.now + max_wait_ms, max_wait_ms <= 0
    while (fetched := (yield from fetch.try_complete(is_last=is_last))) is None:
        moved = yield Until(deadline, fetch.places, fetch.lacking_bytes)
        is_last = not moved or node.now >= deadline
    return dict(fetched)


def _params(node: HandlerContext, request: Request[ShareFetchRequest], key: ShareSessionKey) -> ShareFetchParams:
    """The parameters for every partition. UNKNOWN_SERVER_ERROR for sizes and modes that do not
    exist, because Kafka fails over them."""
    body = request.body
    is_mode = body.share_acquire_mode in set(ShareAcquireMode)
    if not is_mode or body.max_bytes < 0:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    max_bytes = min(body.max_bytes, node.settings.int("fetch.max.bytes"))
    if request.throttle is not None:
        max_bytes = min(max_bytes, request.throttle.max_fetch_bytes())
    if node.unsent:  # responses that clients have not read share one memory limit with requests
        max_bytes = min(max_bytes, max(1, node.intake.limit - node.unsent))
    return ShareFetchParams(
        key.member_id,
        body.max_records,
        max(1, body.batch_size),
        ShareAcquireMode(body.share_acquire_mode),
        min(body.min_bytes, max_bytes),
        max_bytes,
        node.share_partitions.configs.of(key.group_id).is_read_committed,
    )


def _is_throttled(node: HandlerContext, request: Request[ShareFetchRequest], read: Read) -> bool:
    """Whether a quota throttles the response, which then has nothing of what was read. As in Kafka
    the records stay acquired: the member gets them when their locks have expired."""
    if request.throttle is None:
        return False
    size = SIZE_FIELD + sum(map(len, ShareFetchResponse(responses=_by_topic(read)).parts(request.version)))
    return bool(request.throttle.throttles_fetch(size, node.now))


def _failed(partition: TopicIdPartition, code: int) -> PartitionData:
    return PartitionData(partition_index=partition.partition, error_code=code, records=NO_RECORDS)


def _response(
    node: HandlerContext,
    request: Request[ShareFetchRequest],
    read: Read,
    acknowledged: Mapping[TopicIdPartition, Refusal | None],
) -> Wait[ShareFetchResponse]:
    leaders, slices = _name_leaders(node, read), Slices()
    for partition, error in acknowledged.items():
        if slices.end():
            yield OTHERS_FIRST
        data = read.get(partition)
        if data is None:
            data = read[partition] = PartitionData(partition_index=partition.partition, records=NO_RECORDS)
        if error is not None:
            data.acknowledge_error_code, data.acknowledge_error_message = error.code, error.message
    group = node.share_partitions.configs.of(request.body.group_id or "")
    return ShareFetchResponse(
        acquisition_lock_timeout_ms=group.record_lock_duration_ms,
        responses=_by_topic(read),
        node_endpoints=endpoints(node.image, request.peer.listener.name, leaders, ShareFetchResponse.NodeEndpoint),
    )


def _by_topic(read: Read) -> list[ShareFetchResponse.ShareFetchableTopicResponse]:
    topics: dict[Uuid, list[PartitionData]] = {}
    for partition, data in read.items():
        topics.setdefault(partition.topic_id, []).append(data)
    of = ShareFetchResponse.ShareFetchableTopicResponse
    return [of(topic_id=topic_id, partitions=partitions) for topic_id, partitions in topics.items()]


def _name_leaders(node: HandlerContext, read: Read) -> set[int]:
    """Adds the current leader to each partition with a wrong leader; returns the ids of these
    leaders."""
    leaders = set()
    for partition, data in read.items():
        if data.error_code in WRONG_LEADER:
            leader, epoch = node.partitions.leader_of(partition.topic or "", partition.partition)
            data.current_leader = ShareFetchResponse.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
            leaders.add(leader)
    return leaders


def refuse(request: Request[ShareFetchRequest], code: int, message: str | None) -> ShareFetchResponse:
    return ShareFetchResponse(error_code=code)
