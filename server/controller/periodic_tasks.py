"""What the active controller does unasked, while it leads: fence the brokers that are silent, have partitions led by who should lead them, and
sweep away the delegation tokens whose time is over.

Rules. A duty ends with the leadership that it began in. Silent brokers are fenced from the first broker on that sends
heartbeats: a node that is the whole cluster has none. What is done is decided elsewhere, and written as every decision
is (KIP-631, KIP-460).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from ..log.files.errors import DiskFailure
from ..requests.request import Refusal
from .active_controller import ActiveController

if TYPE_CHECKING:
    from ..node import Node
    from .broker_heartbeat_manager import BrokerHeartbeatManager

log = logging.getLogger("kafkadouble.server.controller")

PeriodicTask = Callable[["Node", ActiveController, int], Sequence[Message]]
"""The records that are due at `now`; asked again until there are none."""


def start_heartbeat_manager(node: Node, active: ActiveController) -> BrokerHeartbeatManager:
    """Begin to listen for brokers.

    The leader's own broker is a broker like every other: it registers, sends heartbeats, and is fenced when it is silent.
    The exception is the broker of a node that was its whole quorum and wrote its registration itself: it sends none.
    """
    from .broker_heartbeat_manager import BrokerHeartbeatManager

    heartbeats = BrokerHeartbeatManager(active.image, node.settings.int("broker.session.timeout.ms"), node.now)
    if _sends_no_heartbeats(node):
        heartbeats.never_expires(node.id)
    _schedule(node, active, lambda: _ms_until_next_check(node, heartbeats), _fence_stale_brokers)
    return heartbeats


def _sends_no_heartbeats(node: Node) -> bool:
    """Whether this node's own broker was registered without a request, and no other node has led since."""
    return node.is_registered and not (node.life is not None and node.life.has_begun)


def _ms_until_next_check(node: Node, heartbeats: BrokerHeartbeatManager) -> int:
    """Now and then, and as soon as a session is over: who waits for another leader waits no longer than he must."""
    expiry, now_and_then = heartbeats.next_expiry_ms(), node.settings.int("broker.heartbeat.interval.ms") // 2
    return now_and_then if expiry is None else min(expiry - node.now, now_and_then)


def start_periodic_tasks(node: Node, active: ActiveController) -> None:
    """This node leads."""
    if any(id != node.id or not _sends_no_heartbeats(node) for id in active.image.brokers):
        active.track_heartbeats()
    if node.channels and node.settings.int("metadata.max.idle.interval.ms"):
        _schedule(node, active, lambda: node.settings.int("metadata.max.idle.interval.ms"), _NoOpRecordTask())
    _schedule(
        node, active, lambda: node.settings.int("leader.imbalance.check.interval.seconds") * 1000, _balance_leaders
    )
    _schedule(node, active, lambda: node.settings.int("unclean.leader.election.interval.ms"), _elect_unclean_leaders)
    if node.settings["delegation.token.secret.key"]:
        _schedule(
            node, active, lambda: node.settings.int("delegation.token.expiry.check.interval.ms"), _sweep_expired_tokens
        )


def _fence_stale_brokers(node: Node, active: ActiveController, now: int) -> Sequence[Message]:
    from .broker_heartbeat import fence_one_stale_broker

    return fence_one_stale_broker(active.image, node.settings, active.heartbeats, now)


def _balance_leaders(node: Node, active: ActiveController, now: int) -> Sequence[Message]:
    from .elections import balance_partition_leaders

    return balance_partition_leaders(active.image, node.settings)


def _elect_unclean_leaders(node: Node, active: ActiveController, now: int) -> Sequence[Message]:
    from .elections import elect_unclean_leaders

    return elect_unclean_leaders(active.image, node.settings)


def _sweep_expired_tokens(node: Node, active: ActiveController, now: int) -> Sequence[Message]:
    from .delegation_tokens import sweep_expired_tokens

    return sweep_expired_tokens(active.image, now)


class _NoOpRecordTask:
    """Show those who follow that the log goes on, when nothing is written (KIP-835)."""

    def __init__(self) -> None:
        self._end = -1  # of the log, when one looked last

    def __call__(self, node: Node, active: ActiveController, now: int) -> Sequence[Message]:
        end, replica = node.controller.log.log_end_offset, node.quorum.replica
        was_idle, self._end = end == self._end, end
        if not was_idle or not (len(replica.voters) > 1 or _has_observers(replica.state)):
            return ()
        from kafkadouble.messages.generated.no_op_record import NoOpRecord

        self._end = -1  # its own record is no news
        return [NoOpRecord()]


def _has_observers(state: object) -> bool:
    from ..raft.leader import Leader

    return isinstance(state, Leader) and bool(state.observers)


def _schedule(node: Node, active: ActiveController, interval: Callable[[], int], task: PeriodicTask) -> None:
    def run(now: int) -> None:
        if not node.controller.is_current(active):
            return
        try:
            while records := task(node, active, now):
                node.controller.commit(records)
        except DiskFailure:
            return  # the node is told of it, and halts: what cannot be written down cannot be decided (`outages`)
        except Refusal as refusal:
            if refusal.code == error_codes.NOT_CONTROLLER:
                return  # another leads by now
            log.warning("%r: %s", node, refusal.message)
        _schedule(node, active, interval, task)

    node.waiting.timers.at(node.now + max(1, interval()), run)
