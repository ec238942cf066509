"""AllocateProducerIds: gives a broker the next block of producer ids, each of which is used once
(KIP-730).
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.producer_ids_record import ProducerIdsRecord
from kafkadouble.messages.message import Message

from ..metadata.image import Image
from ..requests.request import Refusal
from .broker_epochs import checked_broker

BLOCK_SIZE = 1000
LAST_ID = 2**63 - 1


class ProducerIdsBlock(NamedTuple):
    """The record, and the ids of the block."""

    records: list[Message]
    ids: range


def allocate_producer_ids(image: Image, broker_id: int, broker_epoch: int) -> ProducerIdsBlock:
    """The next block. Refusal(STALE_BROKER_EPOCH), (UNKNOWN_SERVER_ERROR) if no ids are left."""
    checked_broker(image, broker_id, broker_epoch)
    first = image.next_producer_id
    if first > LAST_ID - BLOCK_SIZE:
        message = "Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit"
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR, message)
    ids = range(first, first + BLOCK_SIZE)
    record = ProducerIdsRecord(broker_id=broker_id, broker_epoch=broker_epoch, next_producer_id=ids.stop)
    return ProducerIdsBlock([record], ids)
