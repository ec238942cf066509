"""The producer ids of a broker: it gets them from the controller in blocks (KIP-730).

The rest of a block is lost when the broker stops, so that no id is used twice. A quorum of one
allocates its block at once; a broker that waits for a block from another node answers
COORDINATOR_LOAD_IN_PROGRESS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..requests.request import Refusal

if TYPE_CHECKING:
    from .host import ControllerHost
    from .metadata_writer import MetadataWriter


class ProducerIdManager:
    """The unused producer ids of one broker."""

    def __init__(self, node: ControllerHost, controller: MetadataWriter) -> None:
        self._node, self._controller, self._broker_id = node, controller, node.id
        self._left = iter(range(0))

    def next(self) -> int:
        """An unused producer id."""
        found = next(self._left, None)
        return self._from_new_block() if found is None else found

    def take(self, first: int, count: int) -> None:
        """Accepts a block from the controller."""
        self._left = iter(range(first, first + count))

    def _from_new_block(self) -> int:
        node = self._node
        if node.lifecycle is not None and not self._controller.leads:
            node.lifecycle.request_producer_ids()
            raise Refusal(error_codes.COORDINATOR_LOAD_IN_PROGRESS)
        broker = self._controller.draft.brokers.get(self._broker_id)
        if broker is None:
            raise Refusal(error_codes.COORDINATOR_LOAD_IN_PROGRESS)  # the broker was unregistered
        from .producer_id_blocks import allocate_producer_ids

        block = allocate_producer_ids(self._controller.draft, broker.id, broker.epoch)
        self._controller.commit(block.records)
        self.take(block.ids.start + 1, len(block.ids) - 1)
        return block.ids.start
