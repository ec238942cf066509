"""What a decision about the life of a broker is made on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..configs.settings import Settings
from ..metadata.image import Image
from .broker_heartbeat_manager import BrokerHeartbeatManager

if TYPE_CHECKING:
    from ..node import Node


class BrokerContext(NamedTuple):
    """As the active controller has it: everything that was decided, and what it has heard. `end` is the offset of the next record."""

    image: Image
    settings: Settings
    heartbeats: BrokerHeartbeatManager
    end: int
    now: int


def broker_context_of(node: Node) -> BrokerContext:
    """That of a node. Refusal(NOT_CONTROLLER) when it does not lead."""
    controller = node.controller
    return BrokerContext(
        controller.draft, node.settings, controller.active.heartbeats, controller.log.log_end_offset, node.now
    )
