"""Ids for producers: the controller gives a broker a block of them at a time, and the broker hands them out (KIP-730).

What is left of a block when a broker ends is lost, so that no id is ever given twice. A quorum of one gives its block at once; a broker that
waits for one from another node answers COORDINATOR_LOAD_IN_PROGRESS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..requests.request import Refusal
from .producer_id_blocks import allocate_producer_ids

if TYPE_CHECKING:
    from ..node import Node
    from .controller import Controller


class ProducerIdManager:
    """The ids that one broker may still hand out."""

    def __init__(self, node: Node, controller: Controller) -> None:
        self._node, self._controller, self._broker_id = node, controller, node.id
        self._left = iter(range(0))

    def next(self) -> int:
        """An id that nobody had before."""
        found = next(self._left, None)
        return self._from_new_block() if found is None else found

    def take(self, first: int, count: int) -> None:
        """A block that the controller has given."""
        self._left = iter(range(first, first + count))

    def _from_new_block(self) -> int:
        node = self._node
        if node.life is not None and not self._controller.leads:
            node.life.want_producer_ids()
            raise Refusal(error_codes.COORDINATOR_LOAD_IN_PROGRESS)
        broker = self._controller.draft.brokers.get(self._broker_id)
        if broker is None:
            raise Refusal(error_codes.COORDINATOR_LOAD_IN_PROGRESS)  # it was unregistered: nobody gives it any
        block = allocate_producer_ids(self._controller.draft, broker.id, broker.epoch)
        self._controller.commit(block.records)
        self.take(block.ids.start + 1, len(block.ids) - 1)
        return block.ids.start
