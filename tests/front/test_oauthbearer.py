"""`oauthbearer=`: what brokers take as a token, tokens for tests, the token endpoint, and clients
that log in with each kind."""

from __future__ import annotations

import asyncio
import base64
import json
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import aiokafka
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafkadouble import KafkaDouble, UsageError
from tests.support.serving import serving

# kafka-python reads its message specifications by a call that Python 3.11 and 3.12 deprecate.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    from kafka import KafkaConsumer

LONG_S = 20.0
SASL: Literal["SASL_PLAINTEXT"] = "SASL_PLAINTEXT"
MSK_TOKEN = base64.urlsafe_b64encode(b"https://kafka.eu-west-1.amazonaws.com/?Action=kafka-cluster%3AConnect").decode()


def admin(kafka: KafkaDouble, token: str) -> AdminClient:
    config: dict[str, Any] = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "security.protocol": SASL,
        "sasl.mechanism": "OAUTHBEARER",
        "oauth_cb": lambda _: (token, time.time() + 600),
        "log_level": 0,
    }
    return AdminClient(config)


def principal(kafka: KafkaDouble, token: str) -> str:
    admin(kafka, token).list_topics(timeout=LONG_S)
    return str(kafka.requests.of("Metadata")[-1].principal)


def is_refused(kafka: KafkaDouble, token: str) -> bool:
    client = admin(kafka, token)
    answered = kafka.requests.of("SaslAuthenticate")
    client.poll(0)
    kafka.wait_for_request("SaslAuthenticate", since=answered[-1] if answered else None)
    with pytest.raises(KafkaException):
        client.list_topics(timeout=0.01)
    return not kafka.requests.of("Metadata")


def test_a_function_says_whose_a_token_is() -> None:
    with KafkaDouble(security=SASL, oauthbearer={"one": "alice", "two": "bob"}.get) as kafka:
        assert principal(kafka, "one") == "User:alice"
        assert principal(kafka, "two") == "User:bob"


@pytest.mark.parametrize("brokers", [1, 3])
def test_a_token_is_refused_for_which_the_function_returns_none(brokers: int) -> None:
    with KafkaDouble(security=SASL, oauthbearer=lambda _: None, brokers=brokers) as kafka:
        assert is_refused(kafka, "other")
        assert kafka.token_errors == []


def test_an_exception_of_the_function_refuses_the_token_and_is_kept() -> None:
    with KafkaDouble(security=SASL, oauthbearer=lambda token: str(int(token))) as kafka:
        assert is_refused(kafka, "other")
        assert isinstance(kafka.token_errors[0], ValueError)


def test_a_function_that_returns_no_text_refuses_the_token_and_says_so() -> None:
    number: Any = lambda _: 5  # noqa: E731
    with KafkaDouble(security=SASL, oauthbearer=number) as kafka:
        assert is_refused(kafka, "other")
        assert "the name of a principal or None, not 5" in str(kafka.token_errors[0])


def test_any_token_is_accepted_as_it_is() -> None:
    with KafkaDouble(security=SASL, oauthbearer="any") as kafka:
        assert principal(kafka, MSK_TOKEN.rstrip("=")) == "User:ANONYMOUS"
        assert principal(kafka, kafka.bearer_token("carol", -1000)) == "User:carol"
        assert principal(kafka, "a.b.c") == "User:ANONYMOUS"


def test_users_log_in_beside_tokens() -> None:
    with KafkaDouble(security=SASL, users={"alice": "secret"}, oauthbearer="any", brokers=3) as kafka:
        assert len(AdminClient(kafka.client_config("alice")).list_topics(timeout=LONG_S).brokers) == 3
        kafka.set_user("bob", "other")
        assert AdminClient(kafka.client_config("bob")).list_topics(timeout=LONG_S).brokers
        assert principal(kafka, kafka.bearer_token("carol")) == "User:carol"


@pytest.mark.parametrize("lives", ["reset", "restart"])
def test_tokens_are_taken_after_a_new_life(lives: str) -> None:
    kafka = KafkaDouble(security=SASL, oauthbearer="signed")
    with kafka:
        assert principal(kafka, kafka.bearer_token("alice")) == "User:alice"
        if lives == "reset":
            kafka.reset()
        else:
            kafka.stop()
            kafka.start()
        assert principal(kafka, kafka.bearer_token("alice")) == "User:alice"


WRONG: dict[str, Callable[[KafkaDouble], str]] = {
    "expired": lambda kafka: kafka.bearer_token("alice", -1000),
    "of another audience": lambda kafka: kafka.bearer_token("alice", claims={"aud": "other"}),
    "of another issuer": lambda kafka: kafka.bearer_token("alice", claims={"iss": "other"}),
    "of no user": lambda kafka: kafka.bearer_token("alice", claims={"sub": " "}),
    "not valid yet": lambda kafka: kafka.bearer_token("alice", claims={"nbf": int(time.time()) + 1000}),
    "altered": lambda kafka: kafka.bearer_token("alice")[:-6] + "AAAAAA",
    "unsecured": lambda kafka: "e30.e30.",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_signed_token_is_refused_that_is(wrong: str) -> None:
    with KafkaDouble(security=SASL, oauthbearer="signed") as kafka:
        assert is_refused(kafka, WRONG[wrong](kafka))


def test_clients_get_signed_tokens_at_the_token_endpoint() -> None:
    with KafkaDouble(security=SASL, oauthbearer="signed") as kafka:
        config = kafka.client_config("alice", mechanism="OAUTHBEARER")
        assert config["sasl.oauthbearer.method"] == "oidc"
        assert AdminClient({**config, "log_level": 0}).list_topics(timeout=LONG_S).brokers
        assert kafka.requests.of("Metadata")[-1].principal == "User:alice"


@pytest.mark.parametrize("kind", ["unsecured", "signed", "any"])
def test_clients_in_python_log_in_with_the_settings_that_they_are_given(kind: Any) -> None:
    with KafkaDouble(security=SASL, oauthbearer=kind) as kafka:
        consumer = KafkaConsumer(**kafka.client_config("alice", "kafka-python", "OAUTHBEARER"))
        consumer.topics()
        consumer.close()
        asyncio.run(_asked(kafka.client_config("bob", "aiokafka", "OAUTHBEARER")))
        principals = {each.principal for each in kafka.requests.of("Metadata")}
        assert principals >= {"User:alice", "User:bob"}


async def _asked(config: dict[str, Any]) -> None:
    async with aiokafka.AIOKafkaConsumer(**config) as consumer:
        await consumer.topics()


def posted(url: str, form: dict[str, str], header: str | None = None) -> tuple[int, Any]:
    request = urllib.request.Request(url, urlencode(form).encode())
    if header is not None:
        request.add_header("Authorization", "Basic " + base64.b64encode(header.encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=LONG_S) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


GRANT = {"grant_type": "client_credentials"}


def test_the_token_endpoint_answers_as_rfc_6749_says() -> None:
    users = {"alice": "secret"}
    with KafkaDouble(security=SASL, users=users, oauthbearer="signed") as kafka:
        url = kafka.token_endpoint
        status, given = posted(url, {**GRANT, "scope": "read"}, "alice:secret")
        assert (status, given["token_type"], given["expires_in"], given["scope"]) == (200, "Bearer", 3600, "read")
        assert principal(kafka, given["access_token"]) == "User:alice"
        in_form = {**GRANT, "client_id": "other", "client_secret": "any"}
        assert posted(url, in_form)[0] == 200
        assert posted(url, {**in_form, "client_id": "alice"}) == (401, {"error": "invalid_client"})
        assert posted(url, GRANT, "alice:wrong") == (401, {"error": "invalid_client"})
        assert posted(url, GRANT)[0] == 401
        assert posted(url, {"grant_type": "password"}, "alice:secret") == (400, {"error": "unsupported_grant_type"})
        assert posted(url, {**GRANT, "more": "x" * (64 << 10)})[0] == 413
        with urllib.request.urlopen(url.replace("/token", "/keys"), timeout=LONG_S) as answer:
            assert json.load(answer)["keys"][0].keys() == {"kty", "crv", "x", "y", "kid", "alg", "use"}


def test_the_token_endpoint_gives_tokens_without_a_signature_if_there_is_no_issuer() -> None:
    with KafkaDouble(security=SASL, oauthbearer="unsecured") as kafka:
        token = posted(kafka.token_endpoint, GRANT, "alice:secret")[1]["access_token"]
        assert principal(kafka, token) == "User:alice"
        with pytest.raises(UsageError, match="tokens have no signature: give security"):
            kafka.token_keys  # noqa: B018


def test_a_double_without_tokens_has_no_token_endpoint() -> None:
    with KafkaDouble(security=SASL, users={"alice": "secret"}) as kafka:
        with pytest.raises(UsageError, match="oauthbearer='signed'"):
            kafka.token_endpoint  # noqa: B018
        assert posted(f"{kafka.page}oauth/token", GRANT, "alice:secret")[0] == 400


def test_the_files_of_the_issuer_are_removed_with_the_double() -> None:
    kafka = KafkaDouble(security=SASL, oauthbearer="signed")
    file = Path(kafka._double_host.settings.texts["sasl.oauthbearer.jwks.endpoint.url"].removeprefix("file://"))
    assert file.exists()
    del kafka
    assert not file.exists()


def test_serve_has_a_token_endpoint_that_needs_no_token_of_the_control_plane() -> None:
    options = ("--security", SASL, "--oauthbearer", "signed", "--port", "0", "--control-port", "0")
    with serving(*options) as served:
        bootstrap = served.startup["bootstrap.servers"]
        url = f"{served.control_url()}/oauth/token"
        config: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "security.protocol": SASL,
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.token.endpoint.url": url,
            "sasl.oauthbearer.client.id": "alice",
            "sasl.oauthbearer.client.secret": "secret",
        }
        assert AdminClient(config).list_topics(timeout=LONG_S).brokers


def test_a_token_needs_oauthbearer() -> None:
    with (
        KafkaDouble() as kafka,
        pytest.raises(UsageError, match="give security='SASL_PLAINTEXT' or 'SASL_SSL', and oauthbearer"),
    ):
        kafka.bearer_token("alice")
