"""How many connections there may be: in all, of one listener, from one address."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kafkadouble.server.configs.listeners import per_ip_overrides
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.connection_quotas import ConnectionCounts, ConnectionQuotas, in_excess
from kafkadouble.wire.errors import UsageError

NONE = 2**31 - 1


def quotas(**settings: object) -> ConnectionQuotas:
    found = Settings({name.replace("_", "."): value for name, value in settings.items()})
    return ConnectionQuotas("PLAINTEXT", lambda: found)


def test_without_settings_there_is_no_limit() -> None:
    found = quotas()
    assert (found.most, found.most_from("127.0.0.1")) == (NONE, NONE)
    assert all(found.add("127.0.0.1") for _ in range(1000))
    assert not found.is_full


def test_a_listener_is_full_and_has_room_again() -> None:
    found = quotas(max_connections=2)
    full = []
    for host in ("10.0.0.1", "10.0.0.2"):
        assert found.add(host)
        full.append(found.is_full)
    found.remove("10.0.0.1")
    assert [*full, found.is_full] == [False, True, False]
    assert found.total == 1


def test_the_listener_s_own_limit_counts_beside_the_broker_s() -> None:
    own = {"listener.name.plaintext.max.connections": 3}
    assert ConnectionQuotas("PLAINTEXT", lambda: Settings(own)).most == 3
    assert ConnectionQuotas("CONTROLLER", lambda: Settings(own)).most == NONE
    both = Settings({**own, "max.connections": 2})
    assert ConnectionQuotas("PLAINTEXT", lambda: both).most == 2


def test_address_has_no_more_connections_than_its_limit() -> None:
    found = quotas(max_connections_per_ip=1)
    assert found.add("10.0.0.1")
    assert not found.add("10.0.0.1")
    assert found.add("10.0.0.2")
    assert found.total == 2
    found.remove("10.0.0.1")
    assert found.add("10.0.0.1")


def test_connection_overrides_count_for_their_ips() -> None:
    text = "127.0.0.1:2, ::1:3,localhost:4,fe80::1:5"
    assert per_ip_overrides(text) == {"127.0.0.1": 4, "::1": 3, "fe80::1": 5}
    found = quotas(max_connections_per_ip=1, max_connections_per_ip_overrides="10.0.0.1:0")
    assert not found.add("10.0.0.1")
    assert found.add("10.0.0.2")


@pytest.mark.parametrize("text", ["10.0.0.1", "10.0.0.1:many", ":", "[fe80::1]:5"])
def test_malformed_connection_overrides_are_refused_at_the_start(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:COUNT"):
        Settings({"max.connections.per.ip.overrides": text})


class Counted:
    """A connection of a listener, on which something moved at this time."""

    def __init__(self, quotas: ConnectionQuotas, moved_at: int) -> None:
        self.quotas, self.moved_at = quotas, moved_at
        assert quotas.add("10.0.0.1")


def test_lowered_connection_limit_closes_the_least_recently_used() -> None:
    current = Settings()
    quotas = ConnectionQuotas("PLAINTEXT", lambda: current)
    connections = [Counted(quotas, moved_at) for moved_at in (3, 1, 5, 2, 4)]
    assert in_excess(connections) == []
    before = quotas.is_exceeded
    current = current.altered({"max.connections": "2"}, {})
    assert quotas.is_full
    assert (before, quotas.is_exceeded) == (False, True)
    assert [each.moved_at for each in in_excess(connections)] == [1, 2, 3]


TWO = {
    "listeners": "INTERNAL://:0,EXTERNAL://:0",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "inter.broker.listener.name": "internal",
}


def two_listeners(**config: object) -> tuple[ConnectionQuotas, ConnectionQuotas]:
    """The quotas of the brokers' listener, and of the clients'."""
    settings = Settings({**TWO, **{name.replace("_", "."): value for name, value in config.items()}})
    counts = ConnectionCounts()
    internal, external = (ConnectionQuotas(name, lambda: settings, counts) for name in ("INTERNAL", "EXTERNAL"))
    return internal, external


def test_the_limits_of_a_broker_are_those_of_all_its_listeners_together() -> None:
    internal, external = two_listeners(max_connections=2, max_connections_per_ip=2)
    assert internal.add("10.0.0.1")
    assert external.add("10.0.0.1")
    assert external.is_full
    assert not external.add("10.0.0.1")


def test_the_listener_of_the_brokers_is_protected() -> None:
    internal, external = two_listeners(max_connections=2)
    of_client, later = Counted(external, 1), Counted(external, 2)
    assert not internal.is_full
    before = internal.is_exceeded
    of_broker = Counted(internal, 0)
    assert (before, internal.is_exceeded) == (False, True)
    assert in_excess([of_broker, later, of_client]) == [of_client]


def test_each_listener_has_its_own_limit_beside_that_of_all() -> None:
    internal, external = two_listeners(**{"listener.name.internal.max.connections": 1, "max.connections": 3})
    assert (internal.most, external.most) == (1, 3)
    first = Counted(internal, 1)
    assert internal.is_full
    before = internal.is_exceeded
    second = Counted(internal, 2)
    assert (before, internal.is_exceeded) == (False, True)
    clients = [Counted(external, moved_at) for moved_at in (3, 4)]
    assert in_excess([first, second, *clients]) == [first]


class Clock:
    """A time that the test sets."""

    time = 1_700_000_000_000

    def now(self) -> int:
        return self.time


def accepted_at(quotas: ConnectionQuotas, clock: Clock, count: int) -> list[int]:
    """When each of so many connections is accepted that come at once (ms after the first)."""
    start, found_at = clock.time, []
    for _ in range(count):
        while quotas.is_too_fast:
            clock.time += 1
        found_at.append(clock.time - start)
    return found_at


def test_connections_beyond_the_rate_wait() -> None:
    clock, settings = Clock(), Settings({"max.connection.creation.rate": 2})
    quotas = ConnectionQuotas("PLAINTEXT", lambda: settings, now=clock.now)
    at = accepted_at(quotas, clock, 30)
    # Ten of eleven windows are full: 20 connections at once, and each of the others waits for at
    # most one window.
    assert at[:20] == [0] * 20
    assert at[20] == 500
    assert all(0 < later - earlier <= 1000 for earlier, later in pairwise(at[20:]))


def test_a_listener_may_have_a_rate_of_its_own() -> None:
    clock = Clock()
    settings = Settings({"listener.name.external.max.connection.creation.rate": 1})
    counts = ConnectionCounts()
    internal, external = (
        ConnectionQuotas(name, lambda: settings, counts, now=clock.now) for name in ("INTERNAL", "EXTERNAL")
    )
    assert accepted_at(internal, clock, 50)[-1] == 0
    assert accepted_at(external, clock, 11)[-2:] == [0, 1000]


def test_the_rate_of_the_broker_is_that_of_all_its_listeners() -> None:
    clock, settings, counts = Clock(), Settings({"max.connection.creation.rate": 1}), ConnectionCounts()
    first, second = (ConnectionQuotas(name, lambda: settings, counts, now=clock.now) for name in ("A", "B"))
    assert accepted_at(first, clock, 5) + accepted_at(second, clock, 5) == [0] * 10
    assert accepted_at(second, clock, 1) == [1000]


def test_raised_connection_rate_counts_at_once() -> None:
    clock, settings = Clock(), Settings({"max.connection.creation.rate": 1})
    quotas = ConnectionQuotas("PLAINTEXT", lambda: settings, now=clock.now)
    accepted_at(quotas, clock, 12)
    settings = Settings()
    assert accepted_at(quotas, clock, 50)[-1] == 0


def test_connections_from_an_address_beyond_its_quota_are_closed_and_not_counted() -> None:
    clock, settings = Clock(), Settings({"max.connection.creation.rate": 100})
    limits = {"10.0.0.1": 1.0}
    quotas = ConnectionQuotas("PLAINTEXT", lambda: settings, now=clock.now, address_limit=limits.get)
    assert [quotas.throttle_address_ms("10.0.0.1") for _ in range(5)] == [0] * 5
    clock.time += 5_000
    assert [quotas.throttle_address_ms("10.0.0.1") for _ in range(25)] == [0] * 5 + [1000] * 20
    assert quotas.throttle_address_ms("10.0.0.2") == 0
    clock.time += 6_500  # the first five are forgotten
    assert quotas.throttle_address_ms("10.0.0.1") == 0


def test_a_rate_of_zero_accepts_a_connection_in_each_window() -> None:
    clock, settings = Clock(), Settings({"max.connection.creation.rate": 0})
    quotas = ConnectionQuotas("PLAINTEXT", lambda: settings, now=clock.now)
    assert accepted_at(quotas, clock, 3) == [1000, 2000, 3000]
