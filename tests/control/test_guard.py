"""Who may call: tokens, hosts and origins."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.control.http.guard import Guard
from kafkadouble.control.http.hosts import AllowedHosts, is_loopback
from kafkadouble.control.http.problems import ControlProblem
from kafkadouble.control.server import ControlServer
from tests.control.http import call

OWN = {"host": "127.0.0.1:8080"}
TOKEN = "a token of a test".replace(" ", "-")
TOKEN_GUARD = Guard(TOKEN, AllowedHosts(has_token=True))


@pytest.mark.parametrize(
    "headers",
    [
        OWN,
        {"host": "localhost:8080"},
        {"host": "localhost"},
        {"host": "[::1]:8080"},
        {"host": "[::1]"},
        {**OWN, "origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-origin"},
        {**OWN, "sec-fetch-site": "none"},
    ],
)
def test_guard_allows_requests_of_this_host(headers: Mapping[str, str]) -> None:
    Guard().check("/verbs/reset", headers)


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ({}, "the Host header is ''"),
        ({"host": "attacker.example:8080"}, "the Host header is 'attacker.example:8080'"),
        ({"host": "127.0.0.1.attacker.example"}, "--control-allowed-hosts NAME` allows it"),
        ({"host": "localhost.attacker.example:80"}, "does not know that this is its name"),
        ({"host": "192.168.0.7:8080"}, "does not know that this is its name"),
        ({**OWN, "origin": "http://attacker.example"}, "a page of http://attacker.example may not call"),
        ({**OWN, "origin": "null"}, "a page of null may not call"),
        ({**OWN, "origin": "http://127.0.0.1:9999"}, "a page of http://127.0.0.1:9999 may not call"),
        ({**OWN, "sec-fetch-site": "cross-site"}, "a page of another site may not call"),
        ({**OWN, "sec-fetch-site": "same-site"}, "a page of another site may not call"),
    ],
)
def test_guard_refuses_requests_of_other_sites(headers: Mapping[str, str], problem: str) -> None:
    with pytest.raises(ControlProblem, match=problem) as refused:
        Guard().check("/verbs/reset", headers)
    assert refused.value.status == 403
    if "host" in headers and "origin" in headers:
        # The token does not make a page of another site trusted.
        with pytest.raises(ControlProblem, match="may not call"):
            TOKEN_GUARD.check("/verbs/reset", {**headers, "authorization": f"Bearer {TOKEN}"})


@pytest.mark.parametrize(
    "given", ["", TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer wrong", f"Bearer {TOKEN}x", "Bearer é"]
)
def test_a_token_is_needed(given: str) -> None:
    with pytest.raises(ControlProblem, match="the token is missing or wrong") as refused:
        TOKEN_GUARD.check("/verbs/reset", {"host": "kafka:8080", "authorization": given})
    assert refused.value.status == 401


def test_a_token_is_enough_under_a_private_name() -> None:
    for scheme in ("Bearer", "bearer"):
        TOKEN_GUARD.check("/verbs/reset", {"host": "kafka:8080", "authorization": f"{scheme} {TOKEN}"})
    TOKEN_GUARD.check("/health", {"host": "kafka:8080"})


@pytest.mark.parametrize("path", ["/verbs/reset", "/health", "/ready", "/"])
def test_a_token_does_not_make_a_public_name_allowed(path: str) -> None:
    headers = {"host": "attacker.example:8080", "authorization": f"Bearer {TOKEN}"}
    with pytest.raises(ControlProblem, match=r"the Host header is .attacker\.example:8080.") as refused:
        TOKEN_GUARD.check(path, headers, is_page=path == "/")
    assert refused.value.status == 403


NAMED = ["kafka.example.org", ".ci.example.org", "FE80::1", "2001:DB8::7"]

HOSTS = {
    # Host header: allowed without a token, with one, and where its name is given
    "localhost": (True, True, True),
    "LocalHost:8080": (True, True, True),
    "127.0.0.1:8080": (True, True, True),
    "127.9.9.9": (True, True, True),
    "[::1]:8080": (True, True, True),
    "192.168.0.7:8080": (False, True, False),
    "203.0.113.9": (False, True, False),
    "[2001:db8::7]:8080": (False, True, True),
    "[2001:db8::8]:8080": (False, True, False),
    "kafka": (False, True, False),
    "kafkadouble:8080": (False, True, False),
    "kafka.:8080": (False, True, False),
    "host.docker.internal:8080": (False, True, False),
    "kafka.default.svc.cluster.local": (False, True, False),
    "kafka.localhost:8080": (False, True, False),
    "kafka.test": (False, True, False),
    "": (False, True, False),  # no browser sends none
    "kafka.example.org": (False, False, True),
    "KAFKA.Example.org.:8080": (False, False, True),
    "a.kafka.example.org": (False, False, False),
    "ci.example.org": (False, False, True),
    "job7.a.ci.example.org:8080": (False, False, True),
    "notci.example.org": (False, False, False),
    "example.org": (False, False, False),
    "attacker.example:8080": (False, False, False),
    "127.0.0.1.attacker.example": (False, False, False),
    "localhost.attacker.example:80": (False, False, False),
    "internal.attacker.example": (False, False, False),
    "attacker.example:localhost": (False, False, False),
    "[attacker.example]:80": (False, False, False),
    "." * 60_000 + "attacker.example": (False, False, False),
}


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host[-40:] or "none")
def test_guard_allows_known_host_names(host: str) -> None:
    guards = AllowedHosts(), AllowedHosts(has_token=True), AllowedHosts(NAMED)
    assert tuple(guard.allows(host) for guard in guards) == HOSTS[host]


def test_invalid_host_name_is_refused() -> None:
    for name in ("", ".", "kafka:8080", "http://kafka", "*", "a b"):
        with pytest.raises(UsageError, match=f"{re.escape(repr(name))} is no host name: give names without a port"):
            ControlServer(KafkaDouble(), allowed_hosts=[name])


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback_hosts_are_recognised(host: str, is_own: bool) -> None:
    assert is_loopback(host) is is_own
    assert not is_loopback(f"{host}.example")


def test_an_address_that_others_reach_needs_a_token() -> None:
    kafka = KafkaDouble()
    with pytest.raises(UsageError, match=r"the control plane at 0\.0\.0\.0 would obey every machine"):
        ControlServer(kafka, host="0.0.0.0")
    for token in ("short", "with spaces", "umlautü-in-it", "line\nbreak"):
        with pytest.raises(UsageError, match="a token has at least 8 printable ASCII characters"):
            ControlServer(kafka, token=token)


def test_control_plane_with_a_token_refuses_calls_without_it() -> None:
    with KafkaDouble() as kafka, ControlServer(kafka, host="0.0.0.0", token=TOKEN) as control:
        url = f"http://127.0.0.1:{control.port}"
        assert call(url, "GET", "/verbs").status == 401
        assert call(url, "GET", "/events").status == 401
        assert call(url, "GET", "/health").status == 200
        right = {"Authorization": f"Bearer {TOKEN}", "Host": "kafkadouble:8080"}
        for path in ("/verbs", "/events", "/health", "/ready", "/"):
            assert call(url, "GET", path, None, {**right, "Host": "attacker.example"}).status == 403
        assert call(url, "POST", "/verbs/topics", {}, right).json == {"result": {}}
        assert call(url, "POST", "/verbs/reset", b"", {"Origin": "http://attacker.example", **right}).status == 403
