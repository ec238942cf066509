"""The methods of KafkaDouble about the double itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.common.marking import attribute, verb
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.host import host_clock

if TYPE_CHECKING:
    from kafkadouble.common.step_outcome import StepOutcome
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.host import host_users
    from kafkadouble.host.host import Host
else:  # a first call of another verb waits for none of them
    host_users = OnFirstUse("kafkadouble.host.host_users")


@verb
def reset(host: Host) -> None:
    """Restarts the cluster empty: without topics, groups, rules and requests, with every
    connection closed, every broker running, and a clock that was frozen or scaled as it was at
    first. Ports and cluster id stay, so clients that connect again find the empty cluster. Then
    the scenario is applied again, if there is one. Clients that are members of a group learn
    that it rebalances: their commits succeed, and are not kept, until they have joined
    again."""
    running = host.serving()
    with running.replacing:
        host.end_steps()
        host_clock.restore(host)
        running.thread.run(_reset(host, running.broker))
        host.apply_scenario()
        for topic in host.topics:
            host.double.create_topic(topic.name, topic.partitions or 1, replication_factor=topic.replicas)


async def _reset(host: Host, broker: ClusterApi) -> None:
    await broker.reset()
    if host.telemetry is not None:
        host.telemetry.clear()
    if host.security is not None:
        await host_users.with_users(broker, host.security, host.seed)


@attribute
@verb
def scenario_steps(host: Host) -> list[StepOutcome]:
    """The steps of the scenario since the last start or reset, each with its state: pending,
    done or failed, with its error. Works after a stop too."""
    return [] if host.steps is None else host.steps.outcomes
