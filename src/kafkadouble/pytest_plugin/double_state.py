"""The state of a double that outlives a test, besides topics, records and groups: read
before the test, and brought back after it.

Rules. Reading costs one call on the thread of the broker, and bringing back costs nothing where the
test changed nothing. Time does not go backwards: a clock that was advanced stays so. Brokers that
were added or removed stay so, and so do finalized features, as there is no way back in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.host import host_clock
from kafkadouble.host.host import host_of
from kafkadouble.server.network.clock import SystemClock

from . import metadata_changes

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble
    from kafkadouble.brokers.snapshot import Snapshot
    from kafkadouble.engine.cluster_api import BrokerState
    from kafkadouble.server.faults.armed import Armed

    from .metadata_changes import SharedMetadata


class DoubleState(NamedTuple):
    """`rules` are in force. The clock is frozen or not, and has a factor. `users` are the passwords
    by name."""

    rules: frozenset[Armed]
    snapshots: Mapping[str, Snapshot]
    clock: tuple[bool, Any]
    users: Mapping[str, str] | None
    brokers: Mapping[int, BrokerState]
    metadata: SharedMetadata


def is_running(double: KafkaDouble) -> bool:
    """Whether it was started, and not stopped since."""
    running = host_of(double).running
    return running is not None and running.thread.running


def unmatched_rules(double: KafkaDouble) -> list[Armed]:
    """The rules that nothing has matched, and the dialogues that are not at their end, also of a
    double that is down or was stopped."""
    running = host_of(double).running
    if running is None:
        return []
    register = running.broker.faults.register
    return running.on_thread(lambda: [*register.unmatched, *register.unfinished])


def state_of(double: KafkaDouble) -> DoubleState:
    """The state of a double that runs."""
    host = host_of(double)
    running = host.serving()

    def read() -> DoubleState:
        broker = running.broker
        return DoubleState(
            frozenset(broker.faults.register.rules),
            dict(host.snapshots),
            (host.clock.is_frozen, host.clock.factor) if isinstance(host.clock, SystemClock) else (False, None),
            None if host.security is None else dict(host.security.users),
            broker.states,
            metadata_changes.shared(broker.node.controller.image),
        )

    return running.thread.call(read)


def restore(double: KafkaDouble, before: DoubleState) -> None:
    """Brings back what was before, in a double that runs."""
    now = state_of(double)
    for handle in double.rules:
        if handle._armed not in before.rules:
            handle.remove()
    if now.clock != before.clock:
        _restore_clock(double, *before.clock)
    if now.brokers != before.brokers:
        _restore_brokers(double, now.brokers, before.brokers)
    host_of(double).snapshots = dict(before.snapshots)
    if now.users != before.users:
        _restore_users(double, now.users or {}, before.users or {})
        now = state_of(double)
    if now.metadata != before.metadata:
        metadata_changes.undo(double, now.metadata, before.metadata)


def _restore_clock(double: KafkaDouble, is_frozen: bool, factor: Any) -> None:
    host_clock.restore(host_of(double))
    if factor is not None:
        double.scale(float(factor))
    if is_frozen:
        double.freeze()


def _restore_brokers(double: KafkaDouble, now: Mapping[int, BrokerState], before: Mapping[int, BrokerState]) -> None:
    """First those that are there answer again: brokers need them to start."""
    ids = [id for id in now if id in before]
    for id in ids:
        handle = double.brokers[id]
        (handle.isolate if before[id].is_isolated else handle.join)()
        if handle.running:
            (handle.pause if before[id].is_paused else handle.resume)()
    for id in ids:
        if before[id].runs and not now[id].runs:
            double.up(id)
        elif now[id].runs and not before[id].runs:
            double.down(id)


def _restore_users(double: KafkaDouble, now: Mapping[str, str], before: Mapping[str, str]) -> None:
    for name in now.keys() - before.keys():
        double.remove_user(name)
    for name, password in before.items():
        if now.get(name) != password:
            double.set_user(name, password)
