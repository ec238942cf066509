"""The states of a broker as heartbeats change them: fenced, unfenced, in controlled shutdown,
stopped (KIP-631, KIP-841).

The next state depends on the current one, on the heartbeat's request and on a few facts. This file
reads no image and makes no record.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple


class BrokerControlState(Enum):
    """A broker in SHUTDOWN_NOW may stop; from then on it counts as fenced."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "in controlled shutdown"
    SHUTDOWN_NOW = "to shut down now"

    @property
    def fenced(self) -> bool:
        return self in (BrokerControlState.FENCED, BrokerControlState.SHUTDOWN_NOW)


class BrokerStateRequest(NamedTuple):
    """The requests of a heartbeat, and the facts that decide about them. `leads`: whether the
    broker leads a partition. `others_have_read`: whether the active brokers have read that it shuts
    down. Both are functions because they look at every partition, or every broker.
    """

    fence: bool
    shut_down: bool
    caught_up: bool
    leads: Callable[[], bool]
    others_have_read: Callable[[], bool]


def next_state(current: BrokerControlState, request: BrokerStateRequest) -> BrokerControlState:
    """The state after a heartbeat."""
    return NEXT[current](request)


def _after_fenced(request: BrokerStateRequest) -> BrokerControlState:
    if request.shut_down:
        return BrokerControlState.SHUTDOWN_NOW
    return BrokerControlState.UNFENCED if request.caught_up and not request.fence else BrokerControlState.FENCED


def _after_unfenced(request: BrokerStateRequest) -> BrokerControlState:
    if request.shut_down:
        return (
            BrokerControlState.CONTROLLED_SHUTDOWN
            if not request.fence and request.leads()
            else BrokerControlState.SHUTDOWN_NOW
        )
    return BrokerControlState.FENCED if request.fence else BrokerControlState.UNFENCED


def _after_controlled_shutdown(request: BrokerStateRequest) -> BrokerControlState:
    return (
        BrokerControlState.SHUTDOWN_NOW
        if not request.leads() and request.others_have_read()
        else BrokerControlState.CONTROLLED_SHUTDOWN
    )


NEXT: dict[BrokerControlState, Callable[[BrokerStateRequest], BrokerControlState]] = {
    BrokerControlState.FENCED: _after_fenced,
    BrokerControlState.UNFENCED: _after_unfenced,
    BrokerControlState.CONTROLLED_SHUTDOWN: _after_controlled_shutdown,
    BrokerControlState.SHUTDOWN_NOW: lambda request: BrokerControlState.SHUTDOWN_NOW,
}
