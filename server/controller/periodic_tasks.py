"""The periodic tasks of the active controller: fences brokers with expired sessions, balances
leaders, elects unclean leaders, and sweeps expired delegation tokens.

A task ends with the epoch in which it was started. Brokers are fenced from the first broker on that
sends heartbeats: a node that is the whole cluster has none. The records are computed elsewhere, and
appended like any other change (KIP-631, KIP-460).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.wire.client_log import ClientLog

from ..log.files.errors import DiskFailure
from ..requests.request import Refusal
from .active_controller import ActiveController

if TYPE_CHECKING:
    from .broker_heartbeat_manager import BrokerHeartbeatManager
    from .host import ControllerHost
    from .metadata_writer import MetadataWriter

log = ClientLog("kafkadouble.server.controller")

PeriodicTask = Callable[["ControllerHost", ActiveController, int], Sequence[Message]]
"""The records that are due at `now`; called again until there are none."""


class PeriodicTasks:
    """The periodic tasks of one controller."""

    def __init__(self, node: ControllerHost, controller: MetadataWriter) -> None:
        self._node, self._controller = node, controller

    def start(self, active: ActiveController) -> None:
        """Starts the tasks when this node becomes the active controller."""
        node, int_setting = self._node, self._int_setting
        if any(id != node.id or not _sends_no_heartbeats(node) for id in active.image.brokers):
            active.track_heartbeats()
        if node.channels and node.settings.int("metadata.max.idle.interval.ms"):
            no_op_record = _NoOpRecordTask(self._controller)
            self.schedule(active, int_setting("metadata.max.idle.interval.ms"), no_op_record)
        seconds = int_setting("leader.imbalance.check.interval.seconds")
        self.schedule(active, lambda: seconds() * 1000, _balance_leaders)
        self.schedule(active, int_setting("unclean.leader.election.interval.ms"), _elect_unclean_leaders)
        if node.settings["delegation.token.secret.key"]:
            self.schedule(active, int_setting("delegation.token.expiry.check.interval.ms"), _sweep_expired_tokens)

    def _int_setting(self, name: str) -> Callable[[], int]:
        """Returns what reads the setting: it may change between two runs of a task."""
        return lambda: self._node.settings.int(name)

    def start_heartbeat_manager(self, active: ActiveController) -> BrokerHeartbeatManager:
        """Starts to track the heartbeats of brokers.

        The active controller's own broker is a broker like every other: it registers, sends
        heartbeats, and is fenced when its session expires. The exception is the broker of a node
        that was its whole quorum and wrote its own registration: it sends no heartbeats.
        """
        from .broker_heartbeat_manager import BrokerHeartbeatManager

        node = self._node
        heartbeats = BrokerHeartbeatManager(active.image, node.settings.int("broker.session.timeout.ms"), node.now)
        if _sends_no_heartbeats(node):
            heartbeats.never_expires(node.id)
        self.schedule(active, lambda: _ms_until_next_check(node, heartbeats), _fence_stale_brokers)
        return heartbeats

    def schedule(self, active: ActiveController, interval_ms: Callable[[], int], task: PeriodicTask) -> None:
        """Runs the task after the interval, and again, while `active` is the active controller."""
        node, controller = self._node, self._controller

        def run(now: int) -> None:
            if not controller.is_current(active):
                return
            try:
                while records := task(node, active, now):
                    controller.commit(records)
            except DiskFailure:
                return  # the node halts: nothing more can be appended
            except Refusal as refusal:
                if refusal.code == error_codes.NOT_CONTROLLER:
                    return  # another node is active now
                log.warning("%r: %s", node, refusal.message)
            self.schedule(active, interval_ms, task)

        node.waiting.timers.at(node.now + max(1, interval_ms()), run)


def _sends_no_heartbeats(node: ControllerHost) -> bool:
    """Whether this node's broker was registered without a request, and no other node has been
    active since.
    """
    return node.is_registered and not (node.lifecycle is not None and node.lifecycle.is_registered_by_request)


def _ms_until_next_check(node: ControllerHost, heartbeats: BrokerHeartbeatManager) -> int:
    """At a fixed interval, and as soon as a session expires: a new leader is elected without
    delay.
    """
    expiry, now_and_then = heartbeats.next_expiry_ms(), node.settings.int("broker.heartbeat.interval.ms") // 2
    return now_and_then if expiry is None else min(expiry - node.now, now_and_then)


def _fence_stale_brokers(node: ControllerHost, active: ActiveController, now: int) -> Sequence[Message]:
    from .broker_heartbeat import fence_one_stale_broker

    return fence_one_stale_broker(active.image, node.settings, active.heartbeats, now)


def _balance_leaders(node: ControllerHost, active: ActiveController, now: int) -> Sequence[Message]:
    from .elections import balance_partition_leaders

    return balance_partition_leaders(active.image, node.settings)


def _elect_unclean_leaders(node: ControllerHost, active: ActiveController, now: int) -> Sequence[Message]:
    from .elections import elect_unclean_leaders

    return elect_unclean_leaders(active.image, node.settings)


def _sweep_expired_tokens(node: ControllerHost, active: ActiveController, now: int) -> Sequence[Message]:
    from .delegation_tokens import sweep_expired_tokens

    return sweep_expired_tokens(active.image, now)


class _NoOpRecordTask:
    """Writes a NoOpRecord if nothing else is written, so that followers see that the log is alive
    (KIP-835).
    """

    def __init__(self, controller: MetadataWriter) -> None:
        self._controller = controller
        self._end = -1  # the end of the log at the last check

    def __call__(self, node: ControllerHost, active: ActiveController, now: int) -> Sequence[Message]:
        end, replica = self._controller.log.log_end_offset, node.quorum.replica
        was_idle, self._end = end == self._end, end
        if not was_idle or not (len(replica.voters) > 1 or _has_observers(replica.state)):
            return ()
        from kafkadouble.messages.generated.no_op_record import NoOpRecord

        self._end = -1  # its own record does not count as activity
        return [NoOpRecord()]


def _has_observers(state: object) -> bool:
    from ..raft.leader_state import LeaderState

    return isinstance(state, LeaderState) and bool(state.observers)
