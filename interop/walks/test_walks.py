"""Every client does on every broker what Kafka's users do, and must write the same object on each:
the contract allows no other."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.served import served
from interop.support import unique

from .conftest import WALK
from .programs import PROGRAMS
from .run import TRANSACTIONS, faults, run
from .toolchains.building import Missing, Program

pytestmark = pytest.mark.timeout(1200)  # the first run builds the programs

WALKERS = [program for program in PROGRAMS if "walk" in program.verbs]


@pytest.mark.parametrize("program", WALKERS, ids=[program.name for program in WALKERS])
def test_walk_program_keeps_its_promises(request: pytest.FixtureRequest, broker: Broker, program: Program) -> None:
    topic = unique(f"walk-{program.name}")
    transactions = served(broker.bootstrap) >= TRANSACTIONS
    try:
        end = run(program, "walk", broker.bootstrap, topic, f"{topic}-group", transactions)
    except Missing as reason:
        pytest.skip(f"no {program.name}: {reason}")
    if end.result is not None:
        request.node.user_properties.append((WALK, end.result._asdict()))
    wrong = faults(program, "walk", end, transactions)
    assert not wrong, "\n".join(wrong)
