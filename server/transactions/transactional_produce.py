"""The transactional batches of a Produce request, which are verified before they are appended
(KIP-890).

From version 12 on the broker adds the partitions to the transaction itself. Before, it verifies
that the client added them: a missing partition is TRANSACTION_ABORTABLE in version 11, and
INVALID_TXN_STATE below.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from ..requests.request import Refusal
from ..requests.waiting import Wait
from .add_partitions_to_txn_manager import supported_operation
from .init_producer_id import ProducerIdAndEpoch
from .transaction_verification import TransactionalBatches, TransactionVerification, is_verified, verify

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost
    from ..replica.replica_manager import ReplicaManager
    from .add_partitions_to_txn_manager import AddPartitionsToTxnManager

ADD_PARTITION_FROM, GENERIC_ERROR_FROM = 12, 11


def verify_produce(
    node: CoordinatorHost,
    partitions: ReplicaManager,
    manager: AddPartitionsToTxnManager,
    transactional_id: str,
    version: int,
    batches: Iterable[tuple[str | None, int, Buffer | None]],
) -> Wait[TransactionVerification | None]:
    """Verifies the transactional ones of `batches` (topic, partition, records). None if nothing
    must be verified. Raises Refusal if they have several producers."""
    operation = supported_operation(
        version, generic_error_from=GENERIC_ERROR_FROM, add_partition_from=ADD_PARTITION_FROM
    )
    producers, found = set(), {}
    if not is_verified(node, operation):
        return None
    for topic, index, records in batches:
        header = _header(records)
        if header is None or not header.is_transactional or header.producer_id < 0:
            continue
        producers.add(ProducerIdAndEpoch(header.producer_id, header.producer_epoch))
        partition = None if topic is None else partitions.get(topic, index)
        if topic is not None and partition is not None:
            found[topic, index] = partition, header.base_sequence
    if len(producers) > 1:
        message = "Transactional records contained more than one producer ID"
        raise Refusal(error_codes.INVALID_PRODUCER_ID_MAPPING, message)
    if not found:
        return None
    return (yield from verify(node, manager, TransactionalBatches(transactional_id, producers.pop(), operation, found)))


def _header(records: Buffer | None) -> BatchHeader | None:
    """The header of the first batch; None if the log is going to refuse the bytes."""
    try:
        return read_header(records or b"", partial=True)
    except WireError:
        return None
