"""Brokers are killed under clients of every language: first a partition leader, then the
coordinator. Each is restarted.

The programs run side by side, so that one kill tests all of them. Every broker leads a partition of
every topic. The coordinator leads two when it is killed, and each of these moves to another broker.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from interop.brokers import Broker, Server
from interop.clients import CREATOR
from interop.controllers import placed
from interop.support import unique
from tests.support.waiting import eventually

from . import cluster_state
from .conftest import ENDURED
from .enduring import Enduring, faults, twice
from .programs import CORE, PROGRAMS
from .promise import ENDURE, PARTITIONS
from .toolchains.building import Missing, Program, everything

pytestmark = [
    pytest.mark.needs("three_brokers", "kill"),
    pytest.mark.timeout(1800),
]  # the first run builds the programs

ENDURING = [program for program in PROGRAMS if ENDURE in program.verbs and (everything() or program.name in CORE)]
AT_A_TIME = 7
"""Programs side by side."""


class Outcome(NamedTuple):
    """The result of one program. `failed` are the errors that it got for records that were not
    acknowledged."""

    wrong: list[str]
    acknowledged: int = 0
    failed: Sequence[str] = ()
    twice: int = 0
    missing: str = ""


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest, broker: Broker) -> dict[str, Outcome]:
    """The result of every program of the run."""
    selected = [each.callspec.params.get("program") for each in request.session.items if hasattr(each, "callspec")]
    programs = [program for program in ENDURING if program in selected]
    found: dict[str, Outcome] = {}
    for start in range(0, len(programs), AT_A_TIME):
        found |= _endured(broker, programs[start : start + AT_A_TIME])
    return found


def _endured(broker: Broker, programs: Sequence[Program]) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    with ExitStack() as stack:
        running: list[Enduring] = []
        for program in programs:
            try:
                running.append(_started(broker, program))
                stack.callback(running[-1].close)
            except Missing as reason:
                outcomes[program.name] = Outcome([], missing=str(reason))
        late = _under_deaths(broker, running)
        for one in running:
            wrong = [text for text in (late.get(one.program.name), one.end()) if text]
            with CREATOR.admin(broker.bootstrap) as admin:
                committed = {tp.partition: offset for tp, offset in admin.group_offsets(one.group).items()}
            outcomes[one.program.name] = Outcome(
                [*wrong, *faults(one, committed)], len(one.acknowledged), one.failed, twice(one)
            )
    return outcomes


def _started(broker: Broker, program: Program) -> Enduring:
    topic = unique(f"endure-{program.name}")
    placed.create(broker.bootstrap, topic, _replicas(broker), min_insync_replicas="2")
    eventually(
        # every broker has the metadata
        lambda: [len(cluster_state.leaders(server.bootstrap, topic)) for server in broker.servers],
        lambda found: set(found) == {PARTITIONS},
    )
    return Enduring(program, broker.bootstrap, topic, f"{topic}-group")


def _replicas(broker: Broker) -> list[list[int]]:
    """The replicas by partition, the leader first. The partition of the broker that is killed first
    moves to the coordinator and then back; the coordinator's own moves to the broker that is never
    killed."""
    brokers, _ = cluster_state.metadata(broker.bootstrap, "any: all brokers are in the response")
    ids = {address: node for node, address in brokers.items()}
    leader, coordinator, alive = (ids[server.bootstrap] for server in _dying(broker))
    return [[leader, coordinator, alive], [coordinator, alive, leader], [alive, leader, coordinator]]


def _dying(broker: Broker) -> tuple[Server, Server, Server]:
    """A partition leader that is not the coordinator, the coordinator, and the broker that is not
    killed."""
    address = cluster_state.coordinator(
        broker.bootstrap, cluster_state.GROUP, "any: the topic of offsets has one partition"
    )
    (coordinator,) = (server for server in broker.servers if server.bootstrap == address)
    leader, alive = (server for server in broker.servers if server is not coordinator)
    return leader, coordinator, alive


def _under_deaths(broker: Broker, running: Sequence[Enduring]) -> dict[str, str]:
    """Kills and restarts a partition leader that is not the coordinator, then the coordinator.
    Returns the programs that did not continue, by name, with the reason."""
    late: dict[str, str] = {}

    def all_go_on(when: str) -> None:
        for one in running:
            if one.program.name not in late:
                try:
                    one.goes_on()
                except AssertionError as reason:
                    late[one.program.name] = f"{when}: {reason}"

    all_go_on("before anything happened")
    for number, what in enumerate(("a leader", "the coordinator")):
        victim = _dying(broker)[number]
        alive = ",".join(server.bootstrap for server in broker.servers if server is not victim)
        _leads(victim, alive, running)
        victim.kill()
        all_go_on(f"when {what} was killed")
        victim.start()
        cluster_state.await_in_sync(broker, "__consumer_offsets", *(one.topic for one in running))
        all_go_on(f"when {what} was back")
    return late


def _leads(victim: Server, alive: str, running: Sequence[Enduring]) -> None:
    """Asserts that the broker leads a partition of each topic: otherwise the tests would prove
    nothing."""
    for one in running:
        leaders = cluster_state.leaders(alive, one.topic)
        assert victim.bootstrap in leaders.values(), (victim.bootstrap, leaders)


@pytest.mark.parametrize("program", ENDURING, ids=[program.name for program in ENDURING])
def test_a_client_outlives_its_leader_and_its_coordinator(
    request: pytest.FixtureRequest, broker: Broker, outcomes: dict[str, Outcome], program: Program
) -> None:
    # A retry runs this program once more, alone.
    if getattr(request.node, "execution_count", 1) > 1:
        outcomes |= _endured(broker, [program])
    outcome = outcomes[program.name]
    if outcome.missing:
        pytest.skip(f"no {program.name}: {outcome.missing}")
    request.node.user_properties.append((ENDURED, {"client": program.name, **outcome._asdict()}))
    assert not outcome.wrong, "\n".join(outcome.wrong)
    assert program.at_fail_over or not outcome.failed, outcome.failed
    assert program.at_fail_over or not outcome.twice, f"{outcome.twice} records are there twice"
