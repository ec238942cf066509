"""The KafkaDouble over the brokers of `kafkadouble serve`, if a part of it needs one: the control
plane or a scenario."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError

from .serve_problems import in_words

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import AsyncIterator

    from kafkadouble.engine.broker import Broker
    from kafkadouble.engine.cluster import Cluster
    from kafkadouble.scenario.scenario import Scenario
    from kafkadouble.served_double import ServedDouble
    from kafkadouble.server.configs.settings import Settings


class ScenarioRefused(Exception):
    """The brokers cannot begin with the scenario."""


def checked_scenario(options: Namespace) -> Scenario:
    """The scenario of the options. Raises UsageError if it is wrong."""
    from kafkadouble.scenario.scenario import load

    scenario = load(options.scenario)
    names = {topic.name for topic in options.topic}
    for topic in scenario.topics:
        if topic.name in names:
            raise UsageError(f"{topic.creation.where}: --topic {topic.name} is there, too: give the topic once")
    return scenario


@asynccontextmanager
async def served_double(
    options: Namespace, settings: Settings, broker: Broker | Cluster, scenario: Scenario | None
) -> AsyncIterator[ServedDouble | None]:
    """The double, inside the block."""
    if options.control_port is None and scenario is None:
        yield None
        return
    from kafkadouble.served_double import ServedDouble

    acls = [] if options.access is None else options.access.creations()
    double = ServedDouble(
        broker, settings, broker.clock, options.topic, scenario, options.security, acls, options.telemetry
    )
    try:
        yield double
    finally:
        double.leave()


async def begin_scenario(double: ServedDouble) -> None:
    """Apply the scenario, on another thread. Raises ScenarioRefused."""
    from asyncio import to_thread

    try:
        await to_thread(double.begin_scenario)
    except UsageError as problem:
        raise ScenarioRefused(in_words(problem)) from None
