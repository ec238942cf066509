"""The input of decisions about brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..configs.settings import Settings
from ..metadata.image import Image
from .broker_heartbeat_manager import BrokerHeartbeatManager

if TYPE_CHECKING:
    from .decision_host import DecisionHost


class BrokerContext(NamedTuple):
    """The active controller's view: the image with every change, committed or not, and the
    heartbeats. `end` is the offset of the next record.
    """

    image: Image
    settings: Settings
    heartbeats: BrokerHeartbeatManager
    end: int
    now: int


def broker_context_of(node: DecisionHost) -> BrokerContext:
    """The context of a node. Refusal(NOT_CONTROLLER) if it is not the active controller."""
    controller = node.controller
    return BrokerContext(
        controller.draft, node.settings, controller.active.heartbeats, controller.log.log_end_offset, node.now
    )
