"""Compares rates, token buckets, the precedence of quotas and throttle times with Apache Kafka
4.4.0's own classes, on machines that have its jars. Seeds are printed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.server.quotas.client_quota_manager import ClientQuotaManager, QuotaConfig
from kafkadouble.server.quotas.controller_mutation_quota import ControllerMutationQuotaManager, TokenBucket
from kafkadouble.server.quotas.default_quota_callback import DefaultQuotaCallback, Entity
from kafkadouble.server.quotas.rate import Rate
from kafkadouble.server.quotas.throttle_time import throttle_time_ms
from kafkadouble.server.requests.request import Refusal
from tests.server.configs.witness import Witness, running

START = 1_700_000_000_000
USERS, CLIENTS = ("alice", "bob", "a b/ö", "<default>"), ("app", "other", "", "<default>")

Quota = tuple[str | None, str | None, float | None]


@pytest.fixture(scope="module")
def kafka() -> Iterator[Witness]:
    """The quotas of Apache Kafka 4.4.0, to compare with."""
    yield from running(Path(__file__).with_name("QuotaWitness.java"))


def chances(count: int) -> Iterator[random.Random]:
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    for number in range(count):
        yield random.Random(seed + number)


def times(chance: random.Random, count: int) -> Iterator[int]:
    """Times that stand still, go on by little, and jump over windows."""
    now = START
    for _ in range(count):
        now += chance.choice((0, 0, 1, 7, 250, 999, 1000, 1001, 3500, 11_000, 60_000, chance.randrange(20_000)))
        yield now


def shape(chance: random.Random) -> dict[str, Any]:
    return {
        "samples": chance.choice((1, 2, 3, 11, 11)),
        "seconds": chance.choice((1, 1, 2, 10)),
        "bound": chance.choice((0.5, 1, 10, 1000.5, 1e6)),
    }


TINY = 5e-324
"""The smallest quota: the time until a rate is so low is infinite."""


def test_quota_rates_are_measured_as_by_kafka(kafka: Witness) -> None:
    for chance in chances(200):
        arguments = shape(chance)
        arguments["bound"] = chance.choice((arguments["bound"], TINY))
        rate = Rate(arguments["samples"], arguments["seconds"] * 1000)
        steps: list[Any] = []
        expected: list[float] = []
        for now in times(chance, 60):
            op, value = chance.choice(("record", "record", "measure", "window")), chance.choice((0, 1, 2.5, 700, 10**7))
            steps.append([op, value, now])
            if op == "record":
                rate.record(value, now)
                expected.append(throttle_time_ms(rate, arguments["bound"], now))
            else:
                expected.append(rate.measure(now) if op == "measure" else rate.window_ms(now))
        response = kafka.ask(kind="rate", steps=steps, **arguments)
        assert [
            min(each, 2**31 - 1) if of[0] == "record" else each for each, of in zip(response, steps, strict=True)
        ] == (expected)


def test_token_buckets(kafka: Witness) -> None:
    for chance in chances(200):
        arguments = shape(chance)
        bucket = TokenBucket(arguments["samples"], arguments["seconds"] * 1000)
        steps: list[Any] = []
        expected: list[float | None] = []
        for now in times(chance, 60):
            op, value = chance.choice(("record", "measure")), chance.choice((0, -3, 1, 2.5, 700))
            steps.append([op, value, now])
            if op == "record":
                bucket.record(value, arguments["bound"], now)
            expected.append(None if op == "record" else bucket.measure(arguments["bound"], now))
        assert kafka.ask(kind="bucket", steps=steps, **arguments) == expected


def random_quotas(chance: random.Random) -> list[Quota]:
    """Quotas of one level or of many, of which some are removed again."""
    keys = [
        (user, client)
        for user in (*USERS[:3], None, "")
        for client in (*CLIENTS[:2], None, "")
        if (user, client) != ("", "")
    ]
    level = chance.choice((None, None, (True, False), (False, True), (True, True)))
    if level is not None:
        keys = [key for key in keys if ((key[0] != ""), (key[1] != "")) == level]
    chosen = chance.sample(keys, min(len(keys), chance.randrange(0, 6)))
    quotas: list[Quota] = [(*key, chance.choice((1, 2.5, 1000, 50_000))) for key in chosen]
    return quotas + [(*key, None) for key in chosen if chance.random() < 0.2]


def as_image(quotas: list[Quota], kind: str) -> dict[Entity, dict[str, float]]:
    image: dict[Entity, dict[str, float]] = {}
    for user, client, bound in quotas:
        entity = tuple((type_, name) for type_, name in (("client-id", client), ("user", user)) if name != "")
        image.pop(entity, None)
        if bound is not None:
            image[entity] = {kind: bound}
    return image


def test_the_precedence_of_quotas(kafka: Witness) -> None:
    clients = [(user, client) for user in USERS for client in CLIENTS]
    for chance in chances(300):
        quotas = random_quotas(chance)
        callback = DefaultQuotaCallback()
        callback.update(as_image(quotas, "producer_byte_rate"), "producer_byte_rate")
        expected = []
        for user, client in clients:
            tags = callback.tags(user, client)
            expected.append([*tags, callback.limit(tags)])
        response = kafka.ask(kind="precedence", quotas=quotas, clients=clients)
        assert [[desanitized(quota[0]), *quota[1:]] for quota in response] == expected, quotas


def desanitized(user: str) -> str:
    """Kafka's tags have the user as in a URL."""
    from urllib.parse import unquote

    return unquote(user)


def test_random_client_quota_steps_equal_kafka(kafka: Witness) -> None:
    """Rates and controller mutations of many clients, with the quotas of random levels."""
    for chance in chances(150):
        samples, seconds, quotas = chance.choice((2, 11)), chance.choice((1, 2)), random_quotas(chance)
        config = QuotaConfig(samples, seconds)
        manager = ClientQuotaManager("producer_byte_rate", config)
        manager.update(as_image(quotas, "producer_byte_rate"))
        mutations = ControllerMutationQuotaManager(config)
        mutations.update(as_image(quotas, "controller_mutation_rate"))
        steps: list[Any] = []
        expected: list[Any] = []
        for now in times(chance, 40):
            op = chance.choice(("record", "record", "unrecord", "most", "strict", "permissive"))
            user, client, value = (
                chance.choice(USERS[:3]),
                chance.choice(CLIENTS[:2]),
                chance.choice((0, 1, 7, 500, 90_000)),
            )
            steps.append([op, user, client, value, now])
            if op == "record":
                expected.append(manager.record(user, client, value, now))
            elif op == "most":
                expected.append(manager.max_value_in_quota_window(user, client))
            elif op == "unrecord":
                manager.unrecord(user, client, value, now)
                expected.append(None)
            else:
                expected.append(mutated(mutations, user, client, value, now, strict=op == "strict"))
        response = kafka.ask(kind="manager", samples=samples, seconds=seconds, quotas=quotas, steps=steps)
        assert response == expected, quotas


def mutated(
    mutations: ControllerMutationQuotaManager, user: str, client: str, value: int, now: int, *, strict: bool
) -> list[Any]:
    quota = mutations.quota_for(user, client, strict=strict, now=now)
    if quota is None:
        return [False, 0]
    try:
        quota.record(value)
    except Refusal:
        return [True, quota.throttle_time_ms(now)]
    return [False, quota.throttle_time_ms(now)]
