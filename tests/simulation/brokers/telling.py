"""A message of the data plane as one line of a transcript: what matters of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import iter_batches, records_of


def shown(message: Any) -> str:
    name = type(message).__name__
    show = _SHOWN.get(name)
    parts = " ".join(show(message)) if show is not None else ""
    code = getattr(message, "error_code", 0)
    return f"{name}({(error_codes.name(code) + ' ') if code else ''}{parts})"


def values(records: Any) -> str:
    """The records of batches: where they stand, in which epoch, and what they say."""
    found = []
    for position, header in iter_batches(records or b"", partial=True):
        said = ",".join(_value(record.value) for record in records_of(records, position, header))
        found.append(f"{header.base_offset}/{header.partition_leader_epoch}:{said}")
    return f"[{' '.join(found)}]"


def _value(value: bytes | None) -> str:
    """Those of clients are numbers."""
    said = b"" if value is None else bytes(value).rstrip()
    return said.decode() if said.isdigit() else "."


def _code(code: int) -> str:
    return error_codes.name(code) if code else "ok"


def _fetch(message: Any) -> Iterator[str]:
    for topic in message.topics:
        for each in topic.partitions:
            yield f"{each.partition} epoch {each.current_leader_epoch} from {each.fetch_offset} after {each.last_fetched_epoch}"


def _fetched(message: Any) -> Iterator[str]:
    for topic in message.responses:
        for each in topic.partitions:
            if each.error_code:
                yield f"{each.partition_index} {_code(each.error_code)}"
                continue
            apart = each.diverging_epoch
            more = f" diverging {apart.epoch} ends {apart.end_offset}" if apart and apart.end_offset >= 0 else ""
            yield f"{each.partition_index} hw {each.high_watermark} {values(each.records)}{more}"


def _produce(message: Any) -> Iterator[str]:
    for topic in message.topic_data:
        for each in topic.partition_data:
            yield f"{each.index} acks {message.acks} {values(each.records)}"


def _produced(message: Any) -> Iterator[str]:
    for topic in message.responses:
        for response in topic.partition_responses:
            yield f"{response.index} {_code(response.error_code)} at {response.base_offset}"


def _alter(message: Any) -> Iterator[str]:
    for topic in message.topics:
        for each in topic.partitions:
            isr = [(state.broker_id, state.broker_epoch) for state in each.new_isr_with_epochs or ()]
            yield f"{each.partition_index} epoch {each.leader_epoch}/{each.partition_epoch} isr {isr or list(each.new_isr)}"


def _altered(message: Any) -> Iterator[str]:
    for topic in message.topics:
        for each in topic.partitions:
            yield f"{each.partition_index} {_code(each.error_code)} isr {list(each.isr)} epoch {each.leader_epoch}/{each.partition_epoch}"


def _beat(message: Any) -> Iterator[str]:
    yield f"epoch {message.broker_epoch} up to {message.current_metadata_offset}"
    yield f"{'fence ' if message.want_fence else ''}{'shut down' if message.want_shut_down else ''}"


def _ends(message: Any) -> Iterator[str]:
    for topic in message.topics:
        for each in topic.partitions:
            yield f"{each.partition} {_code(getattr(each, 'error_code', 0))} {each.leader_epoch} {getattr(each, 'end_offset', '')}"


def _producer(message: Any) -> Iterator[str]:
    yield f"{message.producer_id}/{message.producer_epoch}"


def _init(message: Any) -> Iterator[str]:
    yield f"{message.transactional_id} {message.producer_id}/{message.producer_epoch}"


def _end(message: Any) -> Iterator[str]:
    how = "commit" if message.committed else "abort"
    yield f"{message.transactional_id} {message.producer_id}/{message.producer_epoch} {how}"


def _markers(message: Any) -> Iterator[str]:
    for marker in message.markers:
        how = "commit" if marker.transaction_result else "abort"
        partitions = [f"{topic.name}-{index}" for topic in marker.topics for index in topic.partition_indexes]
        yield f"{marker.producer_id}/{marker.producer_epoch} {how} of coordinator epoch {marker.coordinator_epoch} {partitions}"


def _marked(message: Any) -> Iterator[str]:
    for marker in message.markers:
        for topic in marker.topics:
            for partition in topic.partitions:
                yield f"{marker.producer_id} {topic.name}-{partition.partition_index} {_code(partition.error_code)}"


def _add(message: Any) -> Iterator[str]:
    yield f"{message.v3_and_below_transactional_id} {message.v3_and_below_producer_id}/{message.v3_and_below_producer_epoch}"
    for each in message.transactions:
        how = "verify" if each.verify_only else "add"
        partitions = [f"{topic.name}-{index}" for topic in each.topics for index in topic.partitions]
        yield f"{how} {each.transactional_id} {each.producer_id}/{each.producer_epoch} {partitions}"


def _added(message: Any) -> Iterator[str]:
    topics = [*message.results_by_topic_v3_and_below]
    topics += [topic for result in message.results_by_transaction for topic in result.topic_results]
    for topic in topics:
        for result in topic.results_by_partition:
            yield f"{topic.name}-{result.partition_index} {_code(result.partition_error_code)}"


def _share_fetch(message: Any) -> Iterator[str]:
    yield f"{message.member_id} epoch {message.share_session_epoch}"
    for topic in message.topics:
        for each in topic.partitions:
            yield f"{each.partition_index} {_acknowledgements(each)}"


def _acknowledgements(partition: Any) -> str:
    batches = partition.acknowledgement_batches
    return ",".join(f"{each.first_offset}-{each.last_offset}:{[*map(int, each.acknowledge_types)]}" for each in batches)


def _share_fetched(message: Any) -> Iterator[str]:
    for topic in message.responses:
        for each in topic.partitions:
            given = [(one.first_offset, one.last_offset, one.delivery_count) for one in each.acquired_records]
            yield f"{each.partition_index} {_code(each.error_code)} {_code(each.acknowledge_error_code)} {given}"


def _share_acknowledged(message: Any) -> Iterator[str]:
    for topic in message.responses:
        for each in topic.partitions:
            yield f"{each.partition_index} {_code(each.error_code)}"


def _member(message: Any) -> Iterator[str]:
    yield f"{message.member_id} epoch {message.member_epoch}"


def _tasks(message: Any) -> Iterator[str]:
    yield from _member(message)
    for role in ("active", "standby", "warmup"):
        tasks = getattr(message, f"{role}_tasks")
        if tasks is not None:
            yield f"{role} {[(task.subtopology_id, list(task.partitions)) for task in tasks]}"


_SHOWN: dict[str, Callable[[Any], Iterator[str]]] = {
    "FetchRequest": _fetch,
    "FetchResponse": _fetched,
    "ProduceRequest": _produce,
    "ProduceResponse": _produced,
    "AlterPartitionRequest": _alter,
    "AlterPartitionResponse": _altered,
    "BrokerHeartbeatRequest": _beat,
    "OffsetForLeaderEpochRequest": _ends,
    "OffsetForLeaderEpochResponse": _ends,
    "InitProducerIdRequest": _init,
    "InitProducerIdResponse": _producer,
    "EndTxnRequest": _end,
    "EndTxnResponse": _producer,
    "WriteTxnMarkersRequest": _markers,
    "WriteTxnMarkersResponse": _marked,
    "AddPartitionsToTxnRequest": _add,
    "AddPartitionsToTxnResponse": _added,
    "ConsumerGroupHeartbeatRequest": _member,
    "ConsumerGroupHeartbeatResponse": _member,
    "ShareGroupHeartbeatRequest": _member,
    "ShareGroupHeartbeatResponse": _member,
    "ShareFetchRequest": _share_fetch,
    "ShareFetchResponse": _share_fetched,
    "ShareAcknowledgeRequest": _share_fetch,
    "ShareAcknowledgeResponse": _share_acknowledged,
    "StreamsGroupHeartbeatRequest": _tasks,
    "StreamsGroupHeartbeatResponse": _tasks,
}
