"""Compares our task assignor with Apache Kafka 4.4.0's own class, on machines that have its jars:
the same groups, the same tasks. A failure prints the seed."""

from __future__ import annotations

import random

import pytest

from kafkadouble.server.groups.streams.assignor.sticky_task_assignor import StickyTaskAssignor
from tests.server.configs.witness import Witness
from tests.server.groups.streams.assignor.random_streams_group import RandomStreamsGroup, answer_of

SEEDS = range(4)
ROUNDS = 6


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("standbys", [0, 1, 3])
def test_tasks_are_assigned_as_in_kafka(kafka: Witness, standbys: int, seed: int) -> None:
    made = random.Random(seed)
    questions, mine = [], []
    for _ in range(100):
        group = RandomStreamsGroup(made, size=made.choice([2, 8, 40]), standbys=standbys)
        for _ in range(ROUNDS):
            spec = group.spec()
            assigned = StickyTaskAssignor().assign(spec, group)
            questions.append(group.question())
            mine.append({"order": list(spec.members), "members": answer_of(assigned)})
            group.follow(assigned)
            group.change()
    theirs = kafka.ask_all(questions, in_flight=1)
    differing = [each for each in zip(questions, mine, theirs, strict=True) if each[1] != each[2]]
    assert not differing, f"{len(differing)} of {len(questions)} assignments differ, first {differing[0]}"


def test_kafka_assigns_no_warmup_tasks(kafka: Witness) -> None:
    """An assignor returns none, and what could refine its assignment changes nothing in 4.4.0."""
    assert kafka.ask(op="kinds_of_tasks") == {"kinds": ["activeTasks", "standbyTasks"], "refined": False}
