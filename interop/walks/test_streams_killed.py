"""Kafka Streams with `exactly_once_v2` counts each line exactly once while its broker and the
application itself are killed, and continue with their files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from interop.brokers import Broker
from interop.served import served

from .counting import WordCount, faults
from .toolchains.building import Missing

pytestmark = pytest.mark.needs("restart", "kill")

IN_A_TRANSACTION_MS, NEVER_MS = 1000, 600_000
"""Commit intervals: so long that most kills come before the commit, and longer than a test."""
TRIES = 10


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def counting(
    broker: Broker, stack: ExitStack, guarantee: str, commit_interval_ms: int, protocol: str = "classic"
) -> WordCount:
    if protocol == "streams" and "StreamsGroupHeartbeat" not in served(broker.bootstrap):
        pytest.skip("the broker has no streams groups (KIP-1071)")
    try:
        return WordCount(broker, stack, guarantee, commit_interval_ms, protocol)
    except Missing as reason:
        pytest.skip(f"no Kafka Streams: {reason}")


@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_streams_application_that_is_killed_counts_each_line_exactly_once(
    broker: Broker, stack: ExitStack, protocol: str
) -> None:
    application = counting(broker, stack, "exactly_once_v2", IN_A_TRANSACTION_MS, protocol)
    application.goes_on()
    application.begins_a_transaction()
    (server,) = broker.servers
    server.kill()
    server.start()
    application.goes_on()
    _kill_in_a_transaction(application)
    application.start()
    application.goes_on()
    application.stop()
    assert not (wrong := faults(application.counts(), application.lines)), "\n".join(wrong)


def _kill_in_a_transaction(application: WordCount) -> None:
    for _ in range(TRIES):
        application.begins_a_transaction()
        application.kill()
        if application.is_in_a_transaction():
            return
        application.start()
        application.goes_on()
    raise AssertionError(f"no kill of {TRIES} came before a commit")


def test_lines_that_are_counted_twice_are_noticed(broker: Broker, stack: ExitStack) -> None:
    application = counting(broker, stack, "at_least_once", NEVER_MS)
    application.goes_on()
    first = application.lines
    application.kill()
    application.start()
    application.write()
    # It begins again with the first line. Both the lines and their words in the repartition topic
    # are processed twice.
    application.has_counted(first + first + application.lines)
    application.stop()
    counts = application.counts()
    assert counts["every"] == list(range(1, 2 * first + application.lines + 1))
    assert any(wrong.startswith("every: ") for wrong in faults(counts, application.lines))
