"""Ids for producers: the controller gives a broker a block of them at a time, and the broker hands them out (KIP-730).

What is left of a block when a broker ends is lost, so that no id is ever given twice. A quorum of one gives its block at once; Kafka's broker
answers COORDINATOR_LOAD_IN_PROGRESS while it waits for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.producer_ids_record import ProducerIdsRecord

if TYPE_CHECKING:
    from .controller import Controller

BLOCK = 1000


class ProducerIds:
    """The ids that one broker may still hand out."""

    def __init__(self, controller: Controller, broker_id: int) -> None:
        self._controller, self._broker_id = controller, broker_id
        self._left = iter(range(0))

    def next(self) -> int:
        """An id that nobody had before."""
        found = next(self._left, None)
        return self._from_new_block() if found is None else found

    def _from_new_block(self) -> int:
        image = self._controller.image
        first = image.next_producer_id
        record = ProducerIdsRecord(
            broker_id=self._broker_id, broker_epoch=image.brokers[self._broker_id].epoch, next_producer_id=first + BLOCK
        )
        self._controller.commit([record])
        self._left = iter(range(first + 1, first + BLOCK))
        return first
