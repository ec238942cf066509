"""Runs the walk of every client that supports group.protocol=consumer (KIP-848), and expects the
same JSON object as with the classic protocol. The walk has its own file, so that pytest-xdist runs
it in parallel with the other walk: both walks mostly wait."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.served import served
from interop.support import unique
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from tests.support.client import ask

from .programs import PROGRAMS
from .run import TRANSACTIONS, faults, run
from .toolchains.building import CONSUMER, Missing, Program

pytestmark = pytest.mark.timeout(1200)  # the first run builds the programs

WALKERS = [program for program in PROGRAMS if "walk" in program.verbs and CONSUMER in program.group_protocols]


@pytest.mark.parametrize("program", WALKERS, ids=[program.name for program in WALKERS])
def test_walk_with_the_consumer_protocol_returns_the_same_object(broker: Broker, program: Program) -> None:
    topic = unique(f"walk-848-{program.name}")
    transactions = served(broker.bootstrap) >= TRANSACTIONS
    try:
        end = run(program, "walk", broker.bootstrap, topic, f"{topic}-group", transactions, CONSUMER)
    except Missing as reason:
        pytest.skip(f"no {program.name}: {reason}")
    wrong = faults(program, "walk", end, transactions)
    assert not wrong, "\n".join(wrong)
    groups = ask(broker.bootstrap, ListGroupsRequest(), 5).groups
    assert {group.group_type for group in groups if group.group_id == f"{topic}-group"} == {CONSUMER}
