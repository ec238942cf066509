"""Measures how long the authorizer takes to decide, with many ACLs.

    python -m benchmarks.authorizer [--acls 10000] [--rounds 5] [--json]

The ACLs are on topics, half by name and half by prefix, for a hundred principals; the questions are
about existing topics, by principals of which half may read. Each figure is the median of the
rounds, in microseconds for one decision:

    first       a decision that was not made before
    again       a decision that was made before
    after one   the first decision after one ACL was created
    kafka       Apache Kafka's own StandardAuthorizer, which keeps no decisions, after it has warmed
                up; only on a machine with java and the jars of Kafka 4.4.0
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.metadata.image import EMPTY, Acl, Image
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.security.acls import LITERAL, PREFIXED, TOPIC
from kafkadouble.server.security.authorizer import READ, STANDARD, Authorizer
from tests.server.configs.witness import Witness, missing

WITNESS = Path(__file__).parents[1] / "tests" / "server" / "security" / "AuthorizerWitness.java"
QUESTIONS, PRINCIPALS, ALLOW = 1000, 100, 3
WARM_UP, KAFKA_ROUNDS = 200, 50
Question = tuple[str, str, int, int, str]


def acls_of(count: int) -> list[Acl]:
    return [
        Acl(TOPIC, f"topic-{at:06d}", (LITERAL, PREFIXED)[at % 2], f"User:{at % PRINCIPALS}", "*", READ, ALLOW)
        for at in range(count)
    ]


def questions_of(count: int, chance: random.Random) -> list[Question]:
    questions = []
    for _ in range(QUESTIONS):
        at = chance.randrange(count)
        user = at % PRINCIPALS if chance.random() < 0.5 else chance.randrange(PRINCIPALS)
        questions.append((f"User:{user}", "10.0.0.7", READ, TOPIC, f"topic-{at:06d}" + "x" * (at % 2)))
    return questions


def image_of(acls: list[Acl]) -> Image:
    return EMPTY._replace(acls=PersistentMap({Uuid(at.to_bytes(16)): acl for at, acl in enumerate(acls)}))


def microseconds(work: Callable[[], object], count: int) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e6 / count


def measured(count: int, rounds: int) -> dict[str, float]:
    chance = random.Random(1)
    acls, questions = acls_of(count), questions_of(count, chance)
    image, figures = image_of(acls), dict[str, list[float]]()
    for _ in range(rounds):
        authorizer = Authorizer(Settings({"authorizer.class.name": STANDARD}))
        authorizer.allows(image, ("User:x", "10.0.0.7"), READ, TOPIC, "t")  # makes the index

        def decide(authorizer: Authorizer = authorizer, image: Image = image) -> None:
            for principal, host, operation, kind, name in questions:
                authorizer.allows(image, (principal, host), operation, kind, name)

        figures.setdefault("first", []).append(microseconds(decide, len(questions)))
        figures.setdefault("again", []).append(microseconds(decide, len(questions)))
        more = image._replace(acls=image.acls.set(Uuid(bytes([1]) * 16), acls[0]))
        client = "User:1", "10.0.0.7"
        figures.setdefault("after one", []).append(
            microseconds(lambda: authorizer.allows(more, client, READ, TOPIC, "topic-000001"), 1)  # noqa: B023  # called at once
        )
    return {name: median(values) for name, values in figures.items()} | kafka(acls, questions)


def kafka(acls: list[Acl], questions: list[Question]) -> dict[str, float]:
    """The figure of Apache Kafka, if it can be had."""
    if missing():
        return {}
    witness = Witness(WITNESS)
    try:
        witness.ask(op="begin", super_users="", open="false", acls=[])
        for start in range(0, len(acls), 100):
            some = [(start + at, *acl) for at, acl in enumerate(acls[start : start + 100])]
            witness.ask(op="add", acls=some)
        few = questions[:100]
        witness.ask(op="time", questions=few, rounds=WARM_UP)
        nanos = witness.ask(op="time", questions=few, rounds=KAFKA_ROUNDS)
    finally:
        witness.close()
    return {"kafka": nanos / 1000 / KAFKA_ROUNDS / len(few)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acls", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measured(options.acls, options.rounds)
    if options.json:
        print(json.dumps({"acls": options.acls, "microseconds": figures}))
        return
    print(f"{options.acls} ACLs, microseconds for one decision")
    for name, value in figures.items():
        print(f"  {name:10} {value:9.2f}")


if __name__ == "__main__":
    main()
