"""Authenticates and produces with one of the three Python clients: `python -m
interop.programs.python.secure CLIENT`. Each line of the input is an attempt. The program prints a
JSON object for each attempt.

Rules. As in the other languages, the program uses the idiom of the library and does not retry. An
error has the name that the library gives it.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import confluent_kafka

with warnings.catch_warnings():
    # These warnings are about calls of the clients themselves.
    warnings.simplefilter("ignore", DeprecationWarning)
    import aiokafka
    import kafka
    from aiokafka.abc import AbstractTokenProvider as TokenProviderOfAiokafka
    from kafka.net.sasl.oauth import AbstractTokenProvider

ck: Any = confluent_kafka
PATIENCE_S = 30.0
OFTEN_S = 0.1


class Attempt(NamedTuple):
    """One line of the input; its fields are separated by tabs."""

    bootstrap: str
    protocol: str
    mechanism: str
    user: str
    secret: str
    authority: str
    certificate: str
    topic: str
    records: str
    size: str

    @property
    def values(self) -> list[bytes]:
        return [b"x" * int(self.size)] * int(self.records)

    def context(self) -> ssl.SSLContext | None:
        if not self.protocol.endswith("SSL"):
            return None
        made = ssl.create_default_context(cafile=self.authority)
        if self.certificate:
            made.load_cert_chain(self.certificate)
        return made


class Failed(Exception):
    """A failed attempt: the library's name of the error, and its message."""


def of_confluent(attempt: Attempt) -> float:
    """Produces with confluent-kafka. librdkafka retries a failed authentication without end, and
    reports each failure to `error_cb`."""
    problems: list[Any] = []
    throttled_ms = [0.0]

    def throttled(event: Any) -> None:
        throttled_ms.append(event.throttle_time * 1000)

    settings: dict[str, Any] = {
        "bootstrap.servers": attempt.bootstrap,
        "security.protocol": attempt.protocol,
        "acks": "all",
        "log_level": 0,
        "error_cb": problems.append,
        "throttle_cb": throttled,
    }
    if attempt.protocol.endswith("SSL"):
        settings["ssl.ca.location"] = attempt.authority
    if attempt.certificate:
        settings |= {"ssl.certificate.location": attempt.certificate, "ssl.key.location": attempt.certificate}
    if attempt.mechanism:
        settings["sasl.mechanism"] = attempt.mechanism
    if attempt.mechanism == "OAUTHBEARER":
        settings["oauth_cb"] = lambda _: (attempt.secret, time.time() + 3600)
    elif attempt.mechanism:
        settings |= {"sasl.username": attempt.user, "sasl.password": attempt.secret}
    producer = ck.Producer(settings)
    refusal = ck.KafkaError._AUTHENTICATION
    for value in attempt.values:
        reports: list[Any] = []
        producer.produce(attempt.topic, value, on_delivery=lambda error, _, reports=reports: reports.append(error))
        end = time.monotonic() + PATIENCE_S
        while not reports:
            producer.poll(OFTEN_S)
            reports += [each for each in problems if each.code() == refusal][:1]
            if time.monotonic() > end:
                raise Failed("none", "no report")
        if reports[0] is not None:
            producer.purge()
            raise Failed(reports[0].name(), reports[0].str())
    producer.poll(OFTEN_S)
    return max(throttled_ms)


class OfKafkaPython(AbstractTokenProvider):  # type: ignore[misc]
    def __init__(self, text: str) -> None:
        self._text = text

    def token(self) -> str:
        return self._text


class OfAiokafka(TokenProviderOfAiokafka):  # type: ignore[misc]
    def __init__(self, text: str) -> None:
        self._text = text

    async def token(self) -> str:
        return self._text


def keywords(attempt: Attempt, provider: Callable[[str], Any]) -> dict[str, Any]:
    """The settings that kafka-python and aiokafka share."""
    settings: dict[str, Any] = {
        "bootstrap_servers": attempt.bootstrap,
        "security_protocol": attempt.protocol,
        "ssl_context": attempt.context(),
        "acks": "all",
    }
    if attempt.mechanism == "OAUTHBEARER":
        settings |= {"sasl_mechanism": attempt.mechanism, "sasl_oauth_token_provider": provider(attempt.secret)}
    elif attempt.mechanism:
        settings |= {
            "sasl_mechanism": attempt.mechanism,
            "sasl_plain_username": attempt.user,
            "sasl_plain_password": attempt.secret,
        }
    return settings


def of_kafka_python(attempt: Attempt) -> float:
    try:
        producer = kafka.KafkaProducer(
            **keywords(attempt, OfKafkaPython), max_block_ms=int(PATIENCE_S * 1000), bootstrap_timeout_ms=3000
        )
        try:
            for value in attempt.values:
                producer.send(attempt.topic, value).get(PATIENCE_S)
            metrics = producer.metrics()["producer-metrics"]
            return float(next((value for name, value in metrics.items() if "throttle-time-max" in name), -1))
        finally:
            producer.close(1)
    except kafka.errors.KafkaError as failure:
        raise Failed(type(failure).__name__, str(failure)) from None


def of_aiokafka(attempt: Attempt) -> float:
    return asyncio.run(asyncio.wait_for(_of_aiokafka(attempt), PATIENCE_S))


async def _of_aiokafka(attempt: Attempt) -> float:
    try:
        producer = aiokafka.AIOKafkaProducer(**keywords(attempt, OfAiokafka))
        try:
            await producer.start()
            for value in attempt.values:
                await producer.send_and_wait(attempt.topic, value)
        finally:
            await producer.stop()
    except aiokafka.errors.KafkaError as failure:
        raise Failed(type(failure).__name__, str(failure)) from None
    return -1


CLIENTS: Mapping[str, Callable[[Attempt], float]] = {
    "confluent-kafka": of_confluent,
    "kafka-python": of_kafka_python,
    "aiokafka": of_aiokafka,
}


def ended(client: str, attempt: Attempt) -> dict[str, Any]:
    began, error, about, throttle_ms = time.monotonic(), "", "", -1.0
    try:
        throttle_ms = CLIENTS[client](attempt)
    except Failed as failure:
        error, about = failure.args
    except Exception as failure:  # an unexpected error is reported as well
        error, about = type(failure).__name__, str(failure)
    return {"error": error, "seconds": time.monotonic() - began, "throttle_ms": throttle_ms, "about": about}


def main(client: str) -> None:
    for line in sys.stdin:
        print(json.dumps(ended(client, Attempt(*line.rstrip("\n").split("\t")))), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CLIENTS:
        sys.exit(f"usage: python -m interop.programs.python.secure {'|'.join(CLIENTS)}")
    main(sys.argv[1])
