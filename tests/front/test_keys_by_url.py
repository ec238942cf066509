"""Signed tokens whose keys are behind an http or https URL: fetched at the start, refreshed, and
fetched for a key that is missing; a server that fails or is silent delays no client."""

from __future__ import annotations

import json
import os
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.access.certificates import Certificates
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.network.key_fetches import SMALL_BYTES
from kafkadouble.server.security.sasl import oauth_bearer
from tests.support import signed_tokens as made
from tests.support.client import ask
from tests.support.jwks_server import JwksServer, jwks_server
from tests.support.sasl_talk import Talk, shake
from tests.support.signed_tokens import jwk_of, signed
from tests.support.waiting import eventually

LISTENERS = {"INTERNAL": 0, "SIGNED": 0}
CONFIG = {
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,SIGNED:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
}
JWKS = "sasl.oauthbearer.jwks.endpoint"
LONG_S = 20.0


def double(url: str, **more: object) -> KafkaDouble:
    config = {**CONFIG, **made.settings_of(url, "signed"), **more}
    return KafkaDouble(listeners=LISTENERS, config=config)


@pytest.fixture
def server() -> Iterator[JwksServer]:
    with jwks_server(jwk_of("a")) as found:
        yield found


def is_accepted(kafka: KafkaDouble, key_id: str) -> bool:
    """Whether a token that names this key logs in."""
    host, _, port = kafka.bootstrap("SIGNED").rpartition(":")
    talk = Talk((host, int(port)))
    with talk.socket:
        shake(talk, "OAUTHBEARER")
        exchange = oauth_bearer.client_exchange(signed(int(time.time()), key_id=key_id))
        talk.ask("SaslAuthenticate", 2, auth_bytes=next(exchange))
        return not talk.answer_bytes()


def test_keys_are_fetched_before_a_client_comes(server: JwksServer) -> None:
    with double(server.url) as kafka:
        assert server.seen == 1
        assert is_accepted(kafka, "a")
        kafka.reset()
        assert is_accepted(kafka, "a"), "a node that replaces another has its keys"
        assert server.seen == 1


def test_a_key_that_is_missing_is_fetched(server: JwksServer) -> None:
    with double(server.url) as kafka:
        server.body = jwk_of("b")
        assert not is_accepted(kafka, "b"), "the token that names it is refused"
        eventually(lambda: is_accepted(kafka, "b"))
        assert server.seen == 2
        assert not is_accepted(kafka, "a")


def test_keys_are_refreshed_and_stay_when_that_fails(server: JwksServer, caplog: pytest.LogCaptureFixture) -> None:
    more = {f"{JWKS}.refresh.ms": 20, f"{JWKS}.retry.backoff.ms": 1, f"{JWKS}.retry.backoff.max.ms": 5}
    with double(server.url, **more) as kafka:
        eventually(lambda: server.seen > 2)
        server.status = 503
        eventually(lambda: f"the keys at {server.url} stay as they were: the answer has the status 503" in caplog.text)
        assert is_accepted(kafka, "a")
        server.status, server.body = 200, jwk_of("b")
        eventually(lambda: is_accepted(kafka, "b"))


def test_a_server_that_is_silent_delays_nothing(server: JwksServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither other clients nor the stop, which would otherwise wait until this test fails."""
    monkeypatch.setattr("kafkadouble.server.network.http_get.TIMEOUT_S", 3600.0)
    with double(server.url, **{f"{JWKS}.refresh.ms": 20}) as kafka:
        server.be_silent(True)
        seen = server.seen
        eventually(lambda: server.seen > seen)
        assert is_accepted(kafka, "a")


def test_stop_leaves_no_thread_of_key_fetches() -> None:
    counts = []
    for _ in range(3):
        with jwks_server(jwk_of("a")) as server, double(server.url, **{f"{JWKS}.refresh.ms": 5}) as kafka:
            server.be_silent(True)
            seen = server.seen
            eventually(lambda server=server, seen=seen: server.seen > seen)  # type: ignore[misc]  # mypy takes no default
            assert is_accepted(kafka, "a")
        counts.append((len(os.listdir("/proc/self/fd")), threading.active_count()))
    assert counts[1] == counts[2]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"status": 404}, "the answer has the status 404"),
        ({"body": b"[]"}, "is no JWK set"),
        ({"body": b'{"keys": []}'}, "has no key that can check a signature"),
        ({"body": b"{}" + bytes(1 << 19)}, "the answer has more than 524288 bytes"),
        ({"status": 302, "headers": {"Location": "https://127.0.0.1/keys"}}, "leads to a URL of another scheme"),
        ({"status": 302, "headers": {"Location": "/keys"}}, "the answer has the status 302"),
        ({"headers": {"Transfer-Encoding": "chunked"}, "body": b"x\r\n"}, "the answer is no HTTP/1.1"),
        ({"headers": {"Transfer-Encoding": "chunked"}, "body": b"fffffff\r\n"}, "the answer is no HTTP/1.1"),
        ({"headers": {"Transfer-Encoding": "chunked"}, "body": b"-2\r\n"}, "the answer is no HTTP/1.1"),
    ],
)
def test_a_first_fetch_that_fails_is_refused_at_the_start(
    server: JwksServer, answer: dict[str, Any], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafkadouble.server.network.key_fetches.WAITS_S", (0.0,))
    for name, value in answer.items():
        setattr(server, name, value)
    kafka, before = double(server.url), threading.active_count()
    with pytest.raises(UsageError, match=rf"jwks\.endpoint\.url: http://127\.0\.0\.1.*{problem}"):
        kafka.start()
    eventually(lambda: threading.active_count() == before)  # of the server, too


def test_a_url_where_no_server_is_is_refused_at_the_start(server: JwksServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.server.network.key_fetches.WAITS_S", (0.0,))
    server.close()
    with pytest.raises(UsageError, match="cannot be fetched: Connect"):
        double(server.url).start()


def test_a_file_of_keys_that_is_missing_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"jwks\.endpoint\.url: .*keys\.json cannot be read"):
        double((tmp_path / "keys.json").as_uri()).start()


def test_a_set_in_chunks_and_behind_a_redirection(server: JwksServer) -> None:
    text = jwk_of("a")
    server.headers = {"Transfer-Encoding": "chunked"}
    server.body = b"5;x=y\r\n" + text[:5] + b"\r\n%x\r\n" % len(text[5:]) + text[5:] + b"\r\n0\r\n\r\n"
    with jwks_server(b"") as other:
        other.status, other.headers = 307, {"Location": server.url}
        with double(other.url) as kafka:
            assert is_accepted(kafka, "a")


def test_key_set_that_is_too_large_is_refused(server: JwksServer) -> None:
    keys = [made.jwk(made.RSA, kid=f"key {number}") for number in range(1000)]
    server.body = json.dumps({"keys": keys}).encode()
    assert len(server.body) > SMALL_BYTES
    with double(server.url) as kafka:
        assert is_accepted(kafka, "key 999")


def test_https_with_an_authority_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.server.network.key_fetches.WAITS_S", (0.0,))
    certificates = Certificates("valid", ["127.0.0.1"])
    pair, file = certificates.of_brokers(), tmp_path / "server.pem"
    file.write_text(pair.key + pair.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    trusted = f'required ssl.truststore.type="PEM" ssl.truststore.location="{certificates.authority_file}";'
    login = {"listener.name.signed.oauthbearer.sasl.jaas.config": made.MODULE.replace("required;", trusted)}
    with jwks_server(jwk_of("a"), context) as server:
        with double(server.url, **login) as kafka:
            assert is_accepted(kafka, "a")
        with pytest.raises(UsageError, match=r"TLS fails: (self.signed certificate|unable to get local issuer)"):
            double(server.url).start()
    certificates.close()


def test_a_client_cannot_alter_the_url(server: JwksServer) -> None:
    of = IncrementalAlterConfigsRequest
    names = (f"{JWKS}.url", f"listener.name.signed.{JWKS}.url", f"listener.name.signed.oauthbearer.{JWKS}.url")
    with jwks_server(jwk_of("b")) as other, double(server.url) as kafka:
        for name in names:
            config = of.AlterableConfig(name=name, value=other.url)
            resource = of.AlterConfigsResource(resource_type=4, resource_name="1", configs=[config])
            ask(kafka.bootstrap("INTERNAL"), of(resources=[resource]), 1)
        assert is_accepted(kafka, "a")
        assert not is_accepted(kafka, "b")
        assert other.seen == 0
