"""How many connections there may be: in all, of one listener, from one address."""

from __future__ import annotations

import pytest

from kafkadouble.server.configs.listeners import per_ip_overrides
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.connection_quotas import ConnectionQuotas
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


def test_one_address_has_no_more_than_it_may() -> None:
    found = quotas(max_connections_per_ip=1)
    assert found.add("10.0.0.1")
    assert not found.add("10.0.0.1")
    assert found.add("10.0.0.2")
    assert found.total == 2
    found.remove("10.0.0.1")
    assert found.add("10.0.0.1")


def test_overrides_count_for_their_addresses() -> None:
    text = "127.0.0.1:2, ::1:3,localhost:4,[fe80::1]:5"
    assert per_ip_overrides(text) == {"127.0.0.1": 4, "::1": 3, "fe80::1": 5}
    found = quotas(max_connections_per_ip=1, max_connections_per_ip_overrides="10.0.0.1:0")
    assert not found.add("10.0.0.1")
    assert found.add("10.0.0.2")


@pytest.mark.parametrize("text", ["10.0.0.1", "10.0.0.1:many", ":"])
def test_overrides_that_cannot_be_are_refused_at_the_start(text: str) -> None:
    with pytest.raises(UsageError, match="HOST:COUNT"):
        Settings({"max.connections.per.ip.overrides": text})


def test_a_limit_that_is_lowered_leaves_an_excess() -> None:
    current = Settings()
    found = ConnectionQuotas("PLAINTEXT", lambda: current)
    for _ in range(5):
        found.add("10.0.0.1")
    assert found.excess == 0
    current = current.altered({"max.connections": "2"}, {})
    assert (found.excess, found.is_full) == (3, True)
