"""JWK sets at URLs: when they are fetched, tried again, and fetched for a key that is missing."""

from __future__ import annotations

import logging

import pytest

from kafkadouble.server.requests.timers import Timers
from kafkadouble.server.security.sasl.json_web_keys import JsonWebKey, keys_in
from kafkadouble.server.security.sasl.remote_keys import (
    BETWEEN_MS,
    LONGEST_KEY_ID,
    MISSING_MS,
    MOST_MISSING,
    KeyEndpoint,
    RemoteKeySets,
)
from tests.support.signed_tokens import jwk_of

NOW = 1_000_000
HOUR = 3_600_000
ENDPOINT = KeyEndpoint("http://issuer.example/keys", HOUR, 100, 10_000)


class Fetching:
    """One set, and the times at which it was to be fetched."""

    def __init__(self) -> None:
        self.timers, self.now = Timers(), NOW
        self.sets = RemoteKeySets(self.timers)
        self.set = self.sets.at(ENDPOINT, NOW)

    def is_due(self) -> bool:
        return self.sets.take_due() == [self.set]

    def wait(self, ms: int) -> bool:
        """Whether it is due after so much time, and not before."""
        end = self.now + ms
        self.timers.run(end - 1)
        assert not self.is_due()
        self.now = end
        self.timers.run(end)
        return self.is_due()

    def miss(self, key_id: object) -> bool:
        self.set.key_is_missing(key_id, self.now)
        return self.is_due()


@pytest.fixture
def fetching() -> Fetching:
    made = Fetching()
    assert made.is_due(), "it is fetched at once"
    assert made.sets.at(ENDPOINT, NOW) is made.set
    assert not made.is_due()
    return made


KEYS = keys_in(jwk_of("a"), "a test")
OTHERS = keys_in(jwk_of("b"), "a test")


def test_key_set_is_fetched_again_after_the_refresh_interval(fetching: Fetching) -> None:
    for keys in (KEYS, OTHERS):
        fetching.set.fetched(keys, fetching.now)
        assert fetching.set.keys is keys
        assert fetching.wait(HOUR)


def test_failed_jwks_request_is_retried_up_to_the_longest_backoff(
    fetching: Fetching, caplog: pytest.LogCaptureFixture
) -> None:
    """The waits double; the last one ends with the longest backoff."""
    fetching.set.fetched(KEYS, fetching.now)
    assert fetching.wait(HOUR)
    waits = (100, 200, 400, 800, 1600, 3200, 3700)
    assert sum(waits) == ENDPOINT.backoff_max_ms
    with caplog.at_level(logging.WARNING):
        for wait_ms in waits:
            fetching.set.failed("it is away", fetching.now)
            assert fetching.wait(wait_ms)
        assert caplog.text == ""
        fetching.set.failed("it is away", fetching.now)
    assert "the keys at http://issuer.example/keys stay as they were: it is away" in caplog.text
    assert fetching.set.keys is KEYS
    assert fetching.wait(HOUR)


def test_a_missing_key_has_the_set_fetched_once_a_minute(fetching: Fetching) -> None:
    fetching.set.fetched(KEYS, fetching.now)
    assert fetching.miss("b")
    fetching.set.fetched(KEYS, fetching.now)
    fetching.now += BETWEEN_MS
    assert not fetching.miss("b")
    assert fetching.miss("c")
    fetching.set.fetched(KEYS, fetching.now)
    fetching.now += MISSING_MS
    assert fetching.miss("b")
    fetching.set.fetched(OTHERS, fetching.now)
    fetching.now += BETWEEN_MS
    assert fetching.miss("b"), "it was found, so it may be missing again"


def test_many_names_of_missing_keys_have_the_set_fetched_every_ten_seconds(fetching: Fetching) -> None:
    """A token has the name of a key before its client is logged in."""
    fetching.set.fetched(KEYS, fetching.now)
    fetches = 0
    for number in range(200):
        if fetching.miss(f"key {number}"):
            fetches += 1
            fetching.set.fetched(KEYS, fetching.now)
        fetching.now += 100
    assert fetches == 2


def test_a_fetch_under_way_is_not_begun_again(fetching: Fetching) -> None:
    assert not fetching.miss("b")
    fetching.set.failed("it is away", fetching.now)
    assert not fetching.miss("c")
    assert fetching.wait(100)


@pytest.mark.parametrize("key_id", [None, 5, ["b"], "b" * (LONGEST_KEY_ID + 1)])
def test_invalid_key_id_does_not_fetch_keys(fetching: Fetching, key_id: object) -> None:
    fetching.set.fetched(KEYS, fetching.now)
    assert not fetching.miss(key_id)


def test_few_missing_keys_are_remembered(fetching: Fetching) -> None:
    for number in range(3 * MOST_MISSING):
        fetching.set.fetched(KEYS, fetching.now)
        assert fetching.miss(f"key {number}")
        fetching.now += BETWEEN_MS
        assert len(fetching.set._missing) <= MOST_MISSING


def test_a_node_that_replaces_another_has_its_keys() -> None:
    before, after = Fetching(), RemoteKeySets(Timers())
    before.set.fetched(KEYS, NOW)
    after.keep(before.sets)
    assert after.at(ENDPOINT, NOW).keys is KEYS
    assert after.take_due() == []
    assert after.at(ENDPOINT._replace(url="http://other.example"), NOW).keys == ()
    assert len(after.take_due()) == 1
    assert isinstance(KEYS[0], JsonWebKey)
