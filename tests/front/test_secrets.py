"""No output shows a secret: passwords, keys of SCRAM, secrets of tokens, tokens, and passwords of
key stores are planted wherever a client or an operator gives them, and then searched everywhere."""

from __future__ import annotations

import base64
import contextlib
import gc
import hashlib
import hmac
import io
import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pyarrow.parquet as pq
import pytest

from kafkadouble import KafkaDouble
from kafkadouble.cli import ctl, dump, inspect
from kafkadouble.control.server import ControlServer
from kafkadouble.control.views import view_events
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.security.sasl import oauth_bearer, scram
from tests.control.events import streaming
from tests.control.http import call
from tests.support import signed_tokens as made
from tests.support.client import ask
from tests.support.sasl_talk import Talk, plain_token, shake
from tests.support.signed_tokens import jwk_set, signed

MODULES = "org.apache.kafka.common.security"
WORD = "PLANTED"
"""Every secret has it; what is made of secrets is searched by its own text."""

SALTED = hashlib.pbkdf2_hmac("sha256", f"{WORD}-of-bob".encode(), b"salt", 4096)
BROKER = 4
MANY = 1000
"""Outputs that are searched; most are the `repr` of an object."""

LISTENERS = {"INTERNAL": 0, "LOGIN": 0}


def config(folder: Path) -> dict[str, object]:
    return {
        "listener.security.protocol.map": "INTERNAL:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "INTERNAL",
        **made.settings_of(jwk_set(folder / "keys.json"), "login"),
        "listener.name.login.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,OAUTHBEARER",
        "listener.name.login.plain.sasl.jaas.config": f"{MODULES}.plain.PlainLoginModule required "
        f'username="node" password="{WORD}-of-node" user_node="{WORD}-of-node" user_alice="{WORD}-of-alice";',
        "listener.name.login.scram-sha-256.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required;",
        "delegation.token.secret.key": f"{WORD}-secret-key",
        "ssl.keystore.password": f"{WORD}-of-key-store",
        "ssl.key.password": f"{WORD}-of-key",
        "ssl.truststore.password": f"{WORD}-of-trust-store",
    }


class Clients:
    """Clients that give and get secrets. `found` are those that the double made."""

    def __init__(self, kafka: KafkaDouble) -> None:
        self._kafka, self.found = kafka, set[str]()
        self._open: list[Talk] = []
        self.described = ""

    def _address(self, listener: str) -> tuple[str, int]:
        host, _, port = self._kafka.bootstrap(listener).rpartition(":")
        return host, int(port)

    def run(self) -> None:
        """Every way to give a secret, right and wrong."""
        self._alter_secrets()
        self._log_in("PLAIN", message=f"\0alice\0{WORD}-of-alice".encode())
        self._log_in("PLAIN", message=f"\0alice\0{WORD}-wrong".encode())
        self._log_in("PLAIN", message=f"\0alice\0{WORD}-of-alice".encode(), version=99)
        self._by_scram("bob", f"{WORD}-of-bob")
        self._by_scram("bob", f"{WORD}-wrong")
        now = int(time.time())
        for token in (signed(now), signed(now, made.STRANGER), signed(now - 9999), signed(now, aud="others")):
            self.found |= {*token.split(".")[1:]}
            self._log_in("OAUTHBEARER", message=next(oauth_bearer.client_exchange(token)))
        self._tokens()

    def _alter_secrets(self) -> None:
        of, scrams = IncrementalAlterConfigsRequest, AlterUserScramCredentialsRequest
        login = f'{MODULES}.plain.PlainLoginModule required user_alice="{WORD}-of-alice" user_carol="{WORD}-of-carol";'
        values = {
            "listener.name.login.plain.sasl.jaas.config": login,
            "listener.name.other.plain.sasl.jaas.config": f"nonsense {WORD}",
            "listener.name.other.ssl.keystore.password": f"{WORD}-altered",
            "listener.name.other.ssl.key.password": f"{WORD}-altered",
            "my.own.secret": f"{WORD}-of-a-plugin",
        }
        for name, value in values.items():
            altered = of.AlterConfigsResource(
                resource_type=BROKER, resource_name="1", configs=[of.AlterableConfig(name=name, value=value)]
            )
            ask(self._address("INTERNAL"), of(resources=[altered]), 1)
        key = scrams.ScramCredentialUpsertion(
            name="bob", mechanism=1, iterations=4096, salt=b"salt", salted_password=SALTED
        )
        ask(self._address("INTERNAL"), scrams(upsertions=[key]), 0)
        described = DescribeConfigsRequest.DescribeConfigsResource(resource_type=BROKER, resource_name="1")
        answer = ask(self._address("INTERNAL"), DescribeConfigsRequest(resources=[described]), 4)
        self.described = repr([(each.name, each.value, each.synonyms) for each in answer.results[0].configs])

    def _log_in(self, mechanism: str, *, message: bytes, version: int = 2) -> None:
        talk = Talk(self._address("LOGIN"))
        with talk.socket:
            shake(talk, mechanism)
            plain_token(talk, message, version)
            if talk.last.get("authBytes"):
                plain_token(talk, b"\x01")

    def _by_scram(self, user: str, password: str, *, by_token: bool = False) -> Talk:
        talk = Talk(self._address("LOGIN"))
        shake(talk, "SCRAM-SHA-256")
        talk.by(scram.client_exchange("SCRAM-SHA-256", user, password, by_token=by_token))
        self._open.append(talk)
        return talk

    def _tokens(self) -> None:
        """Bob's token is created, described, renewed, used and forgotten."""
        bob = self._by_scram("bob", f"{WORD}-of-bob")
        bob.ask("CreateDelegationToken", 3, renewers=[], max_lifetime_ms=-1)
        token_id = str(bob.last["tokenId"])
        proof = hmac.digest(f"{WORD}-secret-key".encode(), token_id.encode(), "sha512")
        self.found |= {proof.hex(), base64.b64encode(proof).decode(), proof.decode("latin-1")}
        bob.ask("DescribeDelegationToken", 3, owners=None)
        bob.ask("RenewDelegationToken", 2, hmac=proof, renew_period_ms=-1)
        holder = self._by_scram(token_id, base64.b64encode(proof).decode(), by_token=True)
        holder.ask("Metadata", 12, topics=[])
        assert holder.outcomes[-1] != "closed"
        for talk in self._open:
            talk.socket.close()


def of_scram(kafka: KafkaDouble) -> set[str]:
    """What proves Bob's identity, and is in no record as a text."""
    [credential] = kafka._double_host.serving().broker.node.image.scram.values()
    raw = (SALTED, credential.stored_key, credential.server_key)
    return {text for each in raw for text in (each.hex(), base64.b64encode(each).decode(), repr(each)[2:-1])}


def reachable(start: object) -> Iterator[object]:
    """Every object of the product that an object leads to."""
    seen, waiting = {id(start)}, [start]
    while waiting:
        here = waiting.pop()
        if type(here).__module__.startswith("kafkadouble"):
            yield here
        for referent in gc.get_referents(here):
            if id(referent) not in seen and not isinstance(referent, type | ModuleType):
                seen.add(id(referent))
                waiting += _of_function(referent) if isinstance(referent, FunctionType) else [referent]


def _of_function(function: FunctionType) -> list[object]:
    """What a function holds, without the globals of its module."""
    return [*(function.__closure__ or ()), *(function.__defaults__ or ()), function.__kwdefaults__]


def pages(url: str, numbers: list[int]) -> Iterator[str]:
    """What the control plane says to the live page, and to a program."""
    paths = [
        "/requests?limit=1000",
        "/metrics",
        *(f"/requests/{number}{end}" for number in numbers for end in ("", "/hexdump")),
    ]
    for path in paths:
        answer = call(url, "GET", path)
        assert answer.status == 200, path
        yield answer.body.decode()
    with streaming(url, "/views") as views:
        for _ in view_events.VIEWS:
            yield str(views.next())
    with streaming(url, "/events?after=0") as events:
        for _ in numbers:
            yield str(events.next())


def printed(main: Callable[[list[str]], int], *words: str) -> str:
    """The output of a command."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        main([*words])
    return out.getvalue() + err.getvalue()


def test_no_output_shows_a_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    shown: dict[str, str] = {}
    capture = tmp_path / "capture.parquet"
    double = KafkaDouble(
        listeners=LISTENERS,
        config=config(tmp_path),
        data_dir=tmp_path / "data",
        capture=capture,
        capture_bodies=True,
        capture_frames=True,
    )
    with double as kafka, ControlServer(kafka) as control:
        clients = Clients(kafka)
        clients.run()
        seen = list(kafka.requests)
        secrets = {WORD, *clients.found, *of_scram(kafka)}
        shown["the history"] = repr([(each, each.body, each.answer) for each in seen])
        shown["the transcript"] = kafka.requests.transcript()
        shown["JSON of the history"] = json.dumps(kafka.requests.to_json(), default=repr)
        with pytest.raises(AssertionError) as missed:
            kafka.requests.assert_seen("SaslAuthenticate", error="UNKNOWN_SERVER_ERROR")
        shown["a near miss"] = str(missed.value)
        with pytest.raises(TimeoutError) as late:
            kafka.wait_for_request("IncrementalAlterConfigs", 99, timeout=0.01)
        shown["a wait in vain"] = str(late.value)
        shown["DescribeConfigs"] = clients.described
        shown |= {
            f"page {number}": text for number, text in enumerate(pages(control.url, [each.number for each in seen]))
        }
        for words in (["requests"], ["topics"], ["describe_cluster"]):
            shown[f"ctl {words}"] = printed(ctl.main, "--url", control.url, *words)
            shown[f"ctl --json {words}"] = printed(ctl.main, "--url", control.url, "--json", *words)
        shown |= {f"repr of {type(each).__name__} {n}": repr(each) for n, each in enumerate(reachable(double))}
    logs = sorted((tmp_path / "data").rglob("__cluster_metadata-0/*.log"))
    assert logs
    shown["dump"] = printed(dump.main, "--records", *map(str, logs)) + printed(
        dump.main, "--json", "--records", *map(str, logs)
    )
    shown["inspect"] = printed(inspect.main, "--style", "hex", str(logs[0]))
    shown["the capture"] = str(pq.read_table(capture).to_pylist())
    shown["logs"] = caplog.text
    for mechanism in ("PLAIN", "OAUTHBEARER"):
        assert f"cannot be authenticated by {mechanism}" in caplog.text
    assert {"SaslAuthenticate", "IncrementalAlterConfigs", "RenewDelegationToken"} <= {each.api for each in seen}
    for record in ("UserScramCredentialRecord", "ConfigRecord", "DelegationTokenRecord"):
        assert record in shown["dump"]
    assert len(shown) > MANY
    leaks = [(place, _around(text, secret)) for place, text in shown.items() for secret in secrets if secret in text]
    assert leaks == []


def _around(text: str, secret: str) -> str:
    at = text.find(secret)
    return text[max(0, at - 100) : at + 60]
