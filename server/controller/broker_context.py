"""What a decision about the life of a broker is made on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..configs.settings import Settings
from ..metadata.image import Image
from .broker_heartbeat_manager import Heartbeats

if TYPE_CHECKING:
    from ..node import Node


class Situation(NamedTuple):
    """As the active controller has it: everything that was decided, and what it has heard. `end` is the offset of the next record."""

    image: Image
    settings: Settings
    heartbeats: Heartbeats
    end: int
    now: int


def situation_of(node: Node) -> Situation:
    """That of a node. Refusal(NOT_CONTROLLER) when it does not lead."""
    controller = node.controller
    return Situation(
        controller.draft, node.settings, controller.leading.heartbeats, controller.log.log_end_offset, node.now
    )
