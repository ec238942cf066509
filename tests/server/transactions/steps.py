"""The steps of a transactional id, each as a question for the witness and as a call of ours.

A question is a dict with the whole state of the id. `ours` answers it in the witness's format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.transactions.add_partitions import add_partitions, verify_partitions
from kafkadouble.server.transactions.end_transaction import EndOfTransaction, end_transaction
from kafkadouble.server.transactions.init_producer_id import ProducerIdAndEpoch, init_producer_id
from kafkadouble.server.transactions.transaction_metadata import (
    TransactionalIdEntry,
    TransactionMetadata,
    prepare_abort_or_commit,
    prepare_add_partitions,
    prepare_complete,
    prepare_dead,
    prepare_fence_producer_epoch,
    prepare_increment_producer_epoch,
    prepare_producer_id_rotation,
)
from kafkadouble.server.transactions.transaction_state import BY_LABEL, DEAD, PREPARE_EPOCH_FENCE

Question = dict[str, Any]


def as_json(metadata: TransactionMetadata) -> dict[str, Any]:
    """The fields, as the witness names and orders them."""
    partitions = sorted([topic, index] for topic, index in metadata.topic_partitions)
    return metadata._asdict() | {"state": metadata.state.label, "topic_partitions": partitions}


def from_json(fields: dict[str, Any]) -> TransactionMetadata:
    partitions = frozenset((topic, index) for topic, index in fields["topic_partitions"])
    return TransactionMetadata(**fields | {"state": BY_LABEL[fields["state"]], "topic_partitions": partitions})


def sorted_answer(answer: Any) -> Any:
    """The witness's answer with its partitions in order; it has them in the order of a hash."""
    if isinstance(answer, dict):
        return {name: sorted_answer(value) for name, value in answer.items()}
    return sorted(answer) if isinstance(answer, list) else answer


def question(op: str, entry: TransactionalIdEntry, now: int, next_producer_id: int, **parameters: Any) -> Question:
    """`next_producer_id` is -1 if the broker has none."""
    return {
        "op": op,
        "metadata": as_json(entry.metadata),
        "pending": entry.pending_state.label if entry.pending_state else None,
        "fence_failed": entry.fence_failed,
        "now": now,
        "next_producer_id": next_producer_id,
        **parameters,
    }


def ours(asked: Question) -> dict[str, Any]:
    entry = TransactionalIdEntry("t", from_json(asked["metadata"]))
    entry.pending_state = BY_LABEL[asked["pending"]] if asked["pending"] else None
    entry.fence_failed = asked["fence_failed"]
    try:
        outcome = OURS[asked["op"]](entry, asked)
    except Refusal as refusal:
        outcome = refusal.code
    answer: dict[str, Any] = {"metadata": as_json(entry.metadata), "outcome": outcome}
    if isinstance(outcome, TransactionMetadata):
        answer["outcome"] = as_json(outcome)
        entry.begin(outcome)
        if outcome.state not in (DEAD, PREPARE_EPOCH_FENCE):
            entry.complete(outcome)
            answer["completed"] = as_json(entry.metadata)
    return answer


def _increment(entry: TransactionalIdEntry, asked: Question) -> Any:
    expected = asked["producer_epoch"] if asked["expected"] else None
    return prepare_increment_producer_epoch(entry.metadata, asked["timeout_ms"], expected, asked["now"])


def _rotate(entry: TransactionalIdEntry, asked: Question) -> Any:
    keep = asked["keep_last_epoch"]
    new = asked["next_producer_id"]
    return prepare_producer_id_rotation(entry.metadata, new, asked["timeout_ms"], asked["now"], keep_last_epoch=keep)


def _prepare_add(entry: TransactionalIdEntry, asked: Question) -> Any:
    return prepare_add_partitions(entry.metadata, _partitions(asked), asked["now"], asked["version"])


def _prepare_end(entry: TransactionalIdEntry, asked: Question) -> Any:
    return prepare_abort_or_commit(
        entry.metadata,
        BY_LABEL[asked["state"]],
        asked["version"],
        asked["next_producer_id"],
        asked["now"],
        no_partition_added=asked["no_partition_added"],
    )


def _init(entry: TransactionalIdEntry, asked: Question) -> Any:
    """If the open transaction must be aborted first, the fence that comes before the abort."""
    expected = _producer(asked) if asked["expected"] else None
    following = init_producer_id(entry, expected, asked["timeout_ms"], _ids(asked), asked["now"])
    return following or prepare_fence_producer_epoch(entry)


def _add(entry: TransactionalIdEntry, asked: Question) -> Any:
    following = add_partitions(entry, _producer(asked), _partitions(asked), asked["version"], asked["now"])
    return following or error_codes.NONE


def _verify(entry: TransactionalIdEntry, asked: Question) -> Any:
    answer = verify_partitions(entry, _producer(asked), _partitions(asked))
    return sorted([topic, index, code] for (topic, index), code in answer.items())


def _end(entry: TransactionalIdEntry, asked: Question) -> Any:
    end = EndOfTransaction(*_producer(asked), asked["committed"], asked["version"])
    return end_transaction(entry, end, _ids(asked), asked["now"]) or error_codes.NONE


def _fence(entry: TransactionalIdEntry, asked: Question) -> Any:
    fence = prepare_fence_producer_epoch(entry)
    end = EndOfTransaction(fence.producer_id, fence.producer_epoch, False, asked["version"], fences=True)
    return end_transaction(entry, end, _ids(asked), asked["now"]) or error_codes.NONE


OURS: dict[str, Callable[[TransactionalIdEntry, Question], Any]] = {
    "increment": _increment,
    "rotate": _rotate,
    "prepare_fence": lambda entry, asked: prepare_fence_producer_epoch(entry),
    "prepare_add": _prepare_add,
    "prepare_end": _prepare_end,
    "complete": lambda entry, asked: prepare_complete(entry.metadata, asked["now"]),
    "dead": lambda entry, asked: prepare_dead(entry.metadata),
    "init": _init,
    "add": _add,
    "verify": _verify,
    "end": _end,
    "fence": _fence,
}


def _producer(asked: Question) -> ProducerIdAndEpoch:
    return ProducerIdAndEpoch(asked["producer_id"], asked["producer_epoch"])


def _partitions(asked: Question) -> frozenset[tuple[str, int]]:
    return frozenset((topic, index) for topic, index in asked["partitions"])


def _ids(asked: Question) -> Callable[[], int]:
    def next_producer_id() -> int:
        if asked["next_producer_id"] < 0:
            raise Refusal(error_codes.COORDINATOR_LOAD_IN_PROGRESS)
        return int(asked["next_producer_id"])

    return next_producer_id
