"""Compares the authorizer with Apache Kafka 4.4.0's own StandardAuthorizer, on machines that have
its jars: random ACLs and random questions, while ACLs come and go. Seeds are printed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.metadata.image import EMPTY, Acl
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.security.authorizer import STANDARD, Authorizer
from tests.server.configs.witness import Witness, running

from .random_acls import Question, random_acl, random_question

SEEDS = range(40)
STEPS, QUESTIONS = 6, 150


@pytest.fixture(scope="module")
def kafka() -> Iterator[Witness]:
    yield from running(Path(__file__).with_name("AuthorizerWitness.java"))


@pytest.mark.parametrize("seed", SEEDS)
def test_decisions_are_those_of_kafka(kafka: Witness, seed: int) -> None:
    chance = random.Random(seed)
    is_open = chance.choice(("true", "false"))
    settings = {
        "authorizer.class.name": STANDARD,
        "super.users": "User:root",
        "allow.everyone.if.no.acl.found": is_open,
    }
    ours, acls = Authorizer(Settings(settings)), dict[int, Acl]()
    assert kafka.ask(op="begin", super_users="User:root", open=is_open, acls=[]) is True
    number = 0
    for _ in range(STEPS):
        gone = [id for id in acls if chance.random() < 0.3]
        for id in gone:
            del acls[id]
        made = {number + at: each for at, each in enumerate({random_acl(chance) for _ in range(chance.randrange(20))})}
        made = {id: acl for id, acl in made.items() if acl not in acls.values()}
        number += 20
        acls |= made
        assert kafka.ask(op="remove", ids=gone) is True
        assert kafka.ask(op="add", acls=[(id, *acl) for id, acl in made.items()]) is True
        image = EMPTY._replace(acls=PersistentMap({Uuid(id.to_bytes(16)): acl for id, acl in acls.items()}))
        questions = [random_question(chance) for _ in range(QUESTIONS)]
        decided = [ours.allows(image, (each.principal, each.host), *each[2:]) for each in questions]
        assert_alike(seed, questions, acls, decided, kafka.ask(op="ask", questions=questions))
        concrete = [each._replace(name="") for each in questions]
        decided = [
            ours.allows_any(image, (each.principal, each.host), each.operation, each.resource_type) for each in concrete
        ]
        assert_alike(seed, concrete, acls, decided, kafka.ask(op="any", questions=concrete))


def assert_alike(seed: int, questions: list[Question], acls: object, ours: list[bool], theirs: object) -> None:
    assert isinstance(theirs, list), theirs
    wrong = [(q, a, b) for q, a, b in zip(questions, ours, theirs, strict=True) if a is not b]
    assert not wrong, f"seed {seed}: {wrong[:3]} with {acls}"
