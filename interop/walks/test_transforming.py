"""Each record gives its result exactly once, in transactions that also commit the offsets, while
brokers are killed one after another, and while a member of the group is paused.

Leaders and coordinators move with each kill. A kill comes when records were transformed since the
last one, and a broker is started again when records were transformed without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from interop.brokers import Broker
from tests.support.waiting import eventually

from .cluster_state import GROUP, await_in_sync, coordinator
from .programs import by_name
from .running import PATIENCE
from .toolchains.building import everything
from .transforming import Pipeline

pytestmark = [pytest.mark.needs("three_brokers", "kill"), pytest.mark.timeout(900)]

KILLS = 1, 12
"""In every run, and if all builds are requested."""
INTERNAL = ("__consumer_offsets", "__transaction_state")

FENCED = {"UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"}
"""Errors for offsets of a former member. It gets the second one if it has joined again before."""

OTHERS, OF_GROUP = "other brokers", "the coordinator of the group"
CLIENTS = {OTHERS: ("confluent-kafka", "aiokafka"), OF_GROUP: ("aiokafka",)}
"""The clients that run while these are killed. Two are left out, which behave alike with Apache
Kafka: kafka-python 3.0.12 waits without end for a coordinator that is away. librdkafka 2.14 to 2.16
can wait without end in `send_offsets_to_transaction` when the coordinator of the group was killed,
even when it is back (confluentinc/librdkafka, issues 5456 and 5511)."""


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("killed", CLIENTS)
def test_each_record_gives_one_result_while_brokers_are_killed(broker: Broker, stack: ExitStack, killed: str) -> None:
    pipelines = {name: stack.enter_context(Pipeline(broker, f"transform-{name}")) for name in CLIENTS[killed]}
    for name, pipeline in pipelines.items():
        pipeline.run(by_name(name))
        pipeline.goes_on()
    for number in range(KILLS[everything()]):
        await_in_sync(broker, *INTERNAL, *(topic for pipeline in pipelines.values() for topic in pipeline.topics))
        address = coordinator(broker.bootstrap, GROUP, "any: the topic of offsets has one partition")
        victims = [server for server in broker.servers if (server.bootstrap == address) == (killed == OF_GROUP)]
        victim = victims[number % len(victims)]
        for deed in (victim.kill, victim.start):
            deed()
            for pipeline in pipelines.values():
                pipeline.goes_on()
    wrong = [f"{name}: {text}" for name, pipeline in pipelines.items() for text in pipeline.end()]
    assert not wrong, "\n".join(wrong)


def test_a_member_that_was_paused_is_fenced(broker: Broker, stack: ExitStack) -> None:
    """It is paused in a transaction, and its partitions move to another member. When it goes on,
    its offsets are refused, and its results are never read. Then it is a member again."""
    pipeline = stack.enter_context(Pipeline(broker, "zombie"))
    zombie = pipeline.run(by_name("confluent-kafka"))
    pipeline.goes_on()
    zombie.tell("hold")
    assert zombie.holds.wait(PATIENCE)
    zombie.pause()
    pipeline.run(by_name("confluent-kafka"))
    pipeline.goes_on()
    zombie.tell("go")
    zombie.resume()
    refusals = eventually(lambda: zombie.refusals)
    assert refusals[0].split()[0] in FENCED
    pipeline.goes_on()
    assert not (wrong := pipeline.end()), "\n".join(wrong)
