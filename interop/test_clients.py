"""The shape of the clients: which errors of a poll are nothing but a broker that is away."""

from __future__ import annotations

from typing import Any

import confluent_kafka
import pytest
from aiokafka import errors as of_aiokafka
from kafka import errors as of_kafka_python

from interop.clients import aio, confluent, python, shape
from interop.clients.shape import Refused, Seen

ONE = Seen("t", 0, 0, None, b"v", [], 0, 0)


class Failing(shape.Consumer):
    """One whose polls end in these, one after the other."""

    def __init__(self, *outcomes: Refused | list[Seen]) -> None:
        self._outcomes = list(outcomes)

    def polled(self, seconds: float) -> list[Seen]:
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Refused):
            raise outcome
        return outcome


def test_passing_error_of_a_consumer_is_an_empty_poll() -> None:
    consumer = Failing(Refused(-1000, "away", passes=True), [ONE])
    assert consumer.poll(0) == []
    assert consumer.poll(0) == [ONE]


def test_permanent_error_of_a_consumer_is_raised_at_once() -> None:
    with pytest.raises(Refused, match="forbidden"):
        Failing(Refused(29, "forbidden")).poll(0)


def test_passing_error_of_a_consumer_that_stays_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Refused(-1000, "away", passes=True)
    consumer = Failing(away, [], away, away)
    assert [consumer.poll(0), consumer.poll(0), consumer.poll(0)] == [
        [],
        [],
        [],
    ]  # a record between the errors restarts the time limit
    monkeypatch.setattr(shape, "PASSES_WITHIN", -1)
    with pytest.raises(Refused, match="away"):
        consumer.poll(0)


def test_missing_records_are_reported_with_the_reason() -> None:
    consumer = Failing(*[Refused(-1000, "away", passes=True)] * 9)
    with pytest.raises(AssertionError, match=r"0 records of 1 .*away"):
        consumer.read(1, within=0.15)


PYTHON, AIO = of_kafka_python, of_aiokafka
CONFLUENT: Any = confluent_kafka.KafkaError

TRANSLATED = {
    "kafka-python, refused": (
        python.translated_errors,
        PYTHON.KafkaConnectionError(ConnectionRefusedError(111, "refused")),
        True,
    ),
    "kafka-python, moved": (python.translated_errors, PYTHON.NotCoordinatorError(), True),
    "kafka-python, forbidden": (python.translated_errors, PYTHON.TopicAuthorizationFailedError(), False),
    "kafka-python, truncated": (python.translated_errors, PYTHON.LogTruncationError({}), False),
    "aiokafka, refused": (aio.translated_errors, AIO.KafkaConnectionError("refused"), True),
    "aiokafka, moved": (aio.translated_errors, AIO.NotCoordinatorForGroupError(), True),
    "aiokafka, out of range": (aio.translated_errors, AIO.OffsetOutOfRangeError({}), False),
    "confluent, away": (
        confluent.translated_errors,
        confluent_kafka.KafkaException(CONFLUENT(CONFLUENT._TRANSPORT)),
        True,
    ),
    "confluent, moved": (
        confluent.translated_errors,
        confluent_kafka.KafkaException(CONFLUENT(CONFLUENT.NOT_COORDINATOR)),
        True,
    ),
    "confluent, truncated": (
        confluent.translated_errors,
        confluent_kafka.KafkaException(CONFLUENT(CONFLUENT._AUTO_OFFSET_RESET)),
        False,
    ),
}


@pytest.mark.parametrize("case", TRANSLATED)
def test_each_client_translates_errors_that_pass(case: str) -> None:
    translated_errors, error, passes = TRANSLATED[case]
    with pytest.raises(Refused) as caught, translated_errors():
        raise error
    assert caught.value.passes is passes
