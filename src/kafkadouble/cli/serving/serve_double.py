"""The KafkaDouble over the brokers of `kafkadouble serve`, if a part of it needs one: the control
plane or a scenario."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError
from kafkadouble.common.on_first_use import OnFirstUse

from .serve_problems import in_words

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator

    from kafkadouble import served_double as served
    from kafkadouble.engine import running
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.host import host as double_host
    from kafkadouble.scenario import scenario as scenarios
    from kafkadouble.scenario.scenario import Scenario
    from kafkadouble.served_double import ServedDouble
    from kafkadouble.server.configs.settings import Settings
else:  # a start waits for none of them
    double_host = OnFirstUse("kafkadouble.host.host")
    running = OnFirstUse("kafkadouble.engine.running")
    scenarios = OnFirstUse("kafkadouble.scenario.scenario")
    served = OnFirstUse("kafkadouble.served_double")


class ScenarioRefused(Exception):
    """The brokers cannot begin with the scenario."""


def checked_scenario(options: Namespace) -> Scenario:
    """The scenario of the options. Raises UsageError if it is wrong."""
    scenario = scenarios.load(options.scenario)
    names = {topic.name for topic in options.topic}
    for topic in scenario.topics:
        if topic.name in names:
            raise UsageError(f"{topic.creation.where}: --topic {topic.name} is there, too: give the topic once")
    return scenario


@asynccontextmanager
async def served_double(
    options: Namespace, settings: Settings, broker: ClusterApi, scenario: Scenario | None
) -> AsyncIterator[served.ServedDouble | None]:
    """The double, inside the block."""
    if options.control_port is None and scenario is None:
        yield None
        return
    acls = [] if options.access is None else options.access.creations()
    host = double_host.Host(
        settings,
        broker.clock,
        broker.all_listeners,
        security=options.security,
        acls=acls,
        topics=tuple(options.topic),
        telemetry=options.telemetry,
        scenario=scenario,
        running=running.Running.over(broker),
    )
    double = served.ServedDouble(host)
    try:
        yield double
    finally:
        double.leave()


async def begin_scenario(double: ServedDouble) -> None:
    """Applies the scenario, on another thread. Raises ScenarioRefused."""
    from asyncio import to_thread  # seldom needed

    try:
        await to_thread(double.begin_scenario)
    except UsageError as problem:
        raise ScenarioRefused(in_words(problem)) from None
