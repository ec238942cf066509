"""Produce: append one batch to each of many partitions (KIP-98, KIP-467, KIP-516, KIP-951).

It is served from version 3 on and advertised from 0: librdkafka before 2.8 assumes that a broker
without version 0 cannot compress (KAFKA-18659). With acks=0 there is no response; as in Kafka, an
error closes the connection, so that the client looks for a new leader. acks=all is answered when
every in-sync replica has the batch. As in Kafka, a request fails as a whole for a transactional
batch without a transactional id, for a batch with an unknown magic, and before version 7, which
brought zstd, for an unknown codec. A transactional batch is verified with the transaction
coordinator first (`transactional_produce`).

- v10: a response for the wrong leader has the current leader and its endpoint (KIP-951).
- v13: topics have ids instead of names (KIP-516).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import read_header
from kafkadouble.wire.batch_header import COMPRESSION_MASK, TRANSACTIONAL_FLAG
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from ..log.inspection import DecompressionBudget, SlowDecompression
from ..log.log import AppendRefused, AppendResult
from ..log.producers import NOT_REQUIRED, VerificationStateEntry
from ..log.refusals import NotOneBatch
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..metadata.views import endpoints
from ..replica.appended_batch import AppendedBatch
from ..requests.answer import DISCONNECT, Disconnection
from ..requests.named_once import named_once
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, Aside, Slices, Until, Wait
from ..security.acls import TRANSACTIONAL_ID
from ..security.authorizer import WRITE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..replica.replication.partition import Partition
    from ..transactions.transaction_verification import TransactionVerification

log = ClientLog("kafkadouble.server.handlers")

TOPIC_IDS_FROM = 13
LEADER_FROM = 10
"""The first version with the current leader in NOT_LEADER_OR_FOLLOWER responses (KIP-951)."""

ALL = -1
ACKS = (ALL, 0, 1)
ADMIN_CLIENT = "__admin_client"
"""The client id that may write to internal topics, as in Kafka's `AdminUtils`."""

MAGIC, CURRENT_MAGIC = 16, 2
"""The position of the magic byte in a batch, and the current magic."""

ATTRIBUTES = 22
"""The position of the attributes byte with the codec and the transactional bit."""

ZSTD = NEWEST_CODEC = 4
ZSTD_FROM = 7
"""The first version with zstd (KIP-110)."""

AT_ONCE = 1 << 20
"""The largest size that is decompressed in the loop (about 1 ms); a larger batch is an `Aside`."""

WITHOUT_LOG_START = (
    error_codes.MESSAGE_TOO_LARGE,
    error_codes.RECORD_LIST_TOO_LARGE,
    error_codes.CORRUPT_MESSAGE,
)
"""Errors of a log whose response has no log start offset, as in Kafka."""

_TOO_FEW = AppendRefused(error_codes.NOT_ENOUGH_REPLICAS, "fewer replicas are in sync than there must be")

PartitionProduceResponse = ProduceResponse.PartitionProduceResponse
PartitionProduceData = ProduceRequest.PartitionProduceData
TopicProduceResponse = ProduceResponse.TopicProduceResponse
Topics = list[TopicProduceResponse]
Result = ProduceResponse | Disconnection | Wait[Any] | None
_new = object.__new__


def precheck(node: HandlerContext, request: Request[ProduceRequest]) -> None:
    """Raises Refusal for transactional batches with a transactional id that the client may not
    write to."""
    transactional_id = request.body.transactional_id
    if transactional_id is None:  # the usual case
        return
    rights = client_rights(node, request)
    if rights is not None and _has_transactional(request.body):
        rights.require(WRITE, TRANSACTIONAL_ID, transactional_id)


def answer(node: HandlerContext, request: Request[ProduceRequest]) -> Result:
    body = request.body
    has_transactional = _has_transactional(body)
    if has_transactional and body.transactional_id is None:
        return refuse(request, error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, None)
    if body.acks not in ACKS:
        return refuse(request, error_codes.INVALID_REQUIRED_ACKS, None)
    if request.version < ZSTD_FROM and _has_unknown_codec(node, body):
        return refuse(request, error_codes.UNKNOWN_SERVER_ERROR, None)
    steps = _append_verified(node, request) if has_transactional else _append(node, request)
    try:
        until = next(steps)
    except StopIteration as end:  # the usual case
        return _answered(node, request, end.value)
    return _later(node, request, until, steps)


def _later(node: HandlerContext, request: Request[ProduceRequest], until: Until, steps: Wait[Topics]) -> Wait[Any]:
    """Returns the response to a request that must wait."""
    while True:
        moved = yield until
        try:
            until = steps.send(moved)
        except StopIteration as end:
            answer = _answered(node, request, end.value)
            return (yield from answer) if isinstance(answer, GeneratorType) else answer


def _append_verified(node: HandlerContext, request: Request[ProduceRequest]) -> Wait[Topics]:
    """Appends the batches, of which some are transactional."""
    from ..transactions.transactional_produce import verify_produce

    body = request.body
    assert body.transactional_id is not None
    batches = (
        (_topic_name(node, request, requested), data.index, data.records)
        for requested, named in _once(body.topic_data)
        for data in named
    )
    manager = node.transactions.partitions_manager
    verified = yield from verify_produce(
        node, node.partitions, manager, body.transactional_id, request.version, batches
    )
    return (yield from _append(node, request, verified))


def _topic_name(
    node: HandlerContext, request: Request[ProduceRequest], requested: ProduceRequest.TopicProduceData
) -> str | None:
    return requested.name if request.version < TOPIC_IDS_FROM else _name_of(node, requested.topic_id)


def _append(
    node: HandlerContext, request: Request[ProduceRequest], verified: TransactionVerification | None = None
) -> Wait[Topics]:
    """Appends the batches in order.

    Other requests run between slices, and a large batch is decompressed aside.
    """
    topics, budget, slices = [], DecompressionBudget(), Slices()
    budget.at_once = AT_ONCE
    for requested, named in _once(request.body.topic_data):
        name = _topic_name(node, request, requested)
        partitions = []
        for data in named:
            try:
                partitions.append(_produce(node, request, name, data, budget, verified))
            except SlowDecompression as needed:
                aside = Aside(needed.work)
                yield aside
                budget.outcome = aside.result
                partitions.append(_produce(node, request, name, data, budget, verified))
                budget.outcome = None  # whether it was used or not
            if slices.end():
                yield OTHERS_FIRST
        topics.append(_topic(requested, partitions))
    return topics


def _answered(node: HandlerContext, request: Request[ProduceRequest], topics: Topics) -> Result:
    body = request.body
    if body.acks:
        response = ProduceResponse(responses=topics)
        waits = node.flushing.busy or (body.acks == ALL and node.fetchers is not None)
        return _committed(node, request, response) if waits else _with_leaders(node, request, response)
    failed = any(partition.error_code for topic in topics for partition in topic.partition_responses)
    return DISCONNECT if failed else None


def _committed(
    node: HandlerContext, request: Request[ProduceRequest], response: ProduceResponse
) -> Wait[ProduceResponse]:
    """Returns the response when the batches are flushed, if they must be (`flush.messages`).

    A partition that takes longer than the request's timeout is REQUEST_TIMED_OUT.
    """
    _let_go_of_records(request.body)
    waited = []
    for topic in response.responses:
        name = topic.name if request.version < TOPIC_IDS_FROM else _name_of(node, topic.topic_id)
        for answered in topic.partition_responses:
            partition = None if name is None or answered.error_code else node.partitions.get(name, answered.index)
            if partition is not None and (partition.in_sync is None or request.body.acks == ALL):
                waited.append((AppendedBatch(node.partitions, partition), answered))
    deadline = request.received + request.body.timeout_ms
    for appended, answered in waited:
        if code := (yield from appended.committed(deadline)):
            answered.error_code = code  # the base offset stays, as in Kafka
    return _with_leaders(node, request, response)


def _let_go_of_records(body: ProduceRequest) -> None:
    """Releases the records, which the logs have, while the request waits for followers."""
    for topic in body.topic_data:
        for data in topic.partition_data:
            data.records = data.records and b""


def _with_leaders(node: HandlerContext, request: Request[ProduceRequest], response: ProduceResponse) -> ProduceResponse:
    """Adds the current leaders, and their endpoints, to NOT_LEADER_OR_FOLLOWER errors (KIP-951)."""
    if node.fetchers is None or request.version < LEADER_FROM:  # no other broker
        return response
    named = set()
    for topic in response.responses:
        for answered in topic.partition_responses:
            if answered.error_code == error_codes.NOT_LEADER_OR_FOLLOWER:
                name = topic.name if request.version < TOPIC_IDS_FROM else _name_of(node, topic.topic_id)
                leader, epoch = node.partitions.leader_of(name or "", answered.index)
                answered.current_leader = ProduceResponse.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
                named.add(leader)
    if named:
        response.node_endpoints = endpoints(node.image, request.peer.listener.name, named, ProduceResponse.NodeEndpoint)
    return response


def _once(
    topics: Sequence[ProduceRequest.TopicProduceData],
) -> Iterable[tuple[ProduceRequest.TopicProduceData, Sequence[PartitionProduceData]]]:
    """Returns the last batch for each partition; most requests have one per partition."""
    if len(topics) == 1 and len(partitions := topics[0].partition_data) == 1:
        return ((topics[0], partitions),)
    return named_once(topics, attrgetter("name", "topic_id"), attrgetter("partition_data"), attrgetter("index"))


def _has_transactional(body: ProduceRequest) -> bool:
    """Returns whether a batch is transactional. Raises Refusal if an unknown magic comes first."""
    # Not `any`: for one partition its generators take longer than the check.
    for requested in body.topic_data:
        for data in requested.partition_data:
            records = data.records
            if records is not None and len(records) > ATTRIBUTES:
                if (magic := records[MAGIC]) > CURRENT_MAGIC:
                    raise Refusal(error_codes.CORRUPT_MESSAGE, f"magic {magic} at byte {MAGIC}")
                if records[ATTRIBUTES] & TRANSACTIONAL_FLAG and magic == CURRENT_MAGIC:
                    return True
    return False


def _has_unknown_codec(node: HandlerContext, body: ProduceRequest) -> bool:
    """Returns whether a batch for an existing partition has an unknown codec."""
    return any(
        data.records is not None
        and len(data.records) > ATTRIBUTES
        and data.records[ATTRIBUTES] & COMPRESSION_MASK > NEWEST_CODEC
        and data.records[MAGIC] == CURRENT_MAGIC
        and node.partitions.get(requested.name, data.index) is not None
        for requested in body.topic_data
        for data in requested.partition_data
    )


def _is_zstd(records: Buffer | None) -> bool:
    """Returns whether the first batch is compressed with zstd; the log refuses invalid bytes."""
    try:
        header = read_header(records or b"")
    except WireError:
        return False
    return header.magic == CURRENT_MAGIC and header.compression == ZSTD


def _name_of(node: HandlerContext, topic_id: Uuid) -> str | None:
    topic = node.image.topic(topic_id)
    return None if topic is None else topic.name


def _produce(
    node: HandlerContext,
    request: Request[ProduceRequest],
    name: str | None,
    data: PartitionProduceData,
    budget: DecompressionBudget,
    verified: TransactionVerification | None,
) -> PartitionProduceResponse:
    if name is None:
        return _failed(data.index, error_codes.UNKNOWN_TOPIC_ID)
    if name in INTERNAL_TOPICS and request.client_id != ADMIN_CLIENT:
        return _failed(data.index, error_codes.INVALID_TOPIC_EXCEPTION)
    partition = node.partitions.get(name, data.index)
    if partition is None:
        return _failed(data.index, node.partitions.code_of_missing(name, data.index))
    verification: VerificationStateEntry | None = NOT_REQUIRED
    if verified is not None:
        if (refusal := verified.refusal((name, data.index))) is not None:
            return _failed(data.index, refusal.code, refusal.message_for_client)
        verification = verified.verifications.get((name, data.index))
    if request.body.acks == ALL and partition.lacks_replicas:
        return _refused(data.index, _TOO_FEW, partition)
    if request.version < ZSTD_FROM and not partition.offline and _is_zstd(data.records):
        return _failed(data.index, error_codes.UNSUPPORTED_COMPRESSION_TYPE)
    try:
        result = partition.append(data.records or b"", node.now, budget=budget, verification=verification)
    except AppendRefused as refused:
        return _refused(data.index, refused, partition)
    except WireError as error:
        return _failed(data.index, error_codes.CORRUPT_MESSAGE, str(error))
    except SlowDecompression:
        raise
    except Exception:  # a defect fails one partition
        log.exception("%r to %r failed", request, partition)
        return _failed(data.index, error_codes.UNKNOWN_SERVER_ERROR)
    return _appended(data.index, result)


def _appended(index: int, result: AppendResult) -> PartitionProduceResponse:
    """Returns the usual response. It sets the fields directly: the constructor takes longer."""
    made = _new(PartitionProduceResponse)
    made.index, made.error_code, made.base_offset = index, error_codes.NONE, result.base_offset
    made.log_append_time_ms, made.log_start_offset = result.log_append_time, result.log_start_offset
    made.record_errors, made.error_message = (), None
    made._current_leader = made.unknown_tagged_fields = None
    return made


def _refused(index: int, refused: AppendRefused, partition: Partition) -> PartitionProduceResponse:
    response = _failed(index, refused.code, refused.message_for_client)
    if not (isinstance(refused, NotOneBatch) or refused.code in WITHOUT_LOG_START):
        response.log_start_offset = partition.log.log_start_offset
    response.record_errors = [
        ProduceResponse.BatchIndexAndErrorMessage(batch_index=at, batch_index_error_message=why)
        for at, why in refused.record_errors
    ]
    return response


def _failed(index: int, code: int, message: str | None = None) -> PartitionProduceResponse:
    return PartitionProduceResponse(index=index, error_code=code, base_offset=-1, error_message=message)


def _topic(
    requested: ProduceRequest.TopicProduceData, partitions: list[PartitionProduceResponse]
) -> TopicProduceResponse:
    made = _new(TopicProduceResponse)
    made.name, made.topic_id, made.partition_responses = requested.name, requested.topic_id, partitions
    made.unknown_tagged_fields = None
    return made


def refuse(request: Request[ProduceRequest], code: int, message: str | None) -> ProduceResponse | Disconnection:
    if request.body.acks == 0:
        return DISCONNECT
    return ProduceResponse(
        responses=[
            _topic(requested, [_failed(data.index, code, message) for data in requested.partition_data])
            for requested in request.body.topic_data
        ]
    )
