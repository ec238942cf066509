"""Whether brokers with certain settings can connect to one another, as Kafka finds out at the start
and before it alters their settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.access.certificates import Certificates
from kafkadouble.common.errors import UsageError
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.security.tls.contexts import server_context
from kafkadouble.server.security.tls.handshake_check import check_own_trust, handshake_problem, peer_context
from kafkadouble.server.security.tls.listener_contexts import ListenerContexts

HOSTS = ["localhost", "127.0.0.1"]
SPECS = [ListenerSpec(name, "SSL", ("127.0.0.1", 0), None, SERVED) for name in ("INTERNAL", "EXTERNAL")]


class Authority:
    """An authority, and a key store that it has signed."""

    def __init__(self, kind: str, folder: Path) -> None:
        made = Certificates(kind, HOSTS)
        pair = made.of_brokers()
        self.text, self.trust, self.key = made.authority, folder / f"{kind}-trust.pem", folder / f"{kind}-key.pem"
        self.trust.write_text(made.authority)
        self.key.write_text(pair.key + pair.certificate)
        made.close()


@pytest.fixture
def one(tmp_path: Path) -> Authority:
    return Authority("valid", tmp_path)


@pytest.fixture
def other(tmp_path: Path) -> Authority:
    (tmp_path / "other").mkdir()
    return Authority("valid", tmp_path / "other")


def settings(key: Path, trust: Path | None, listener: str = "internal", **more: object) -> Settings:
    given: dict[str, object] = {
        "listener.security.protocol.map": "INTERNAL:SSL,EXTERNAL:SSL,CONTROLLER:PLAINTEXT",
        "listeners": "INTERNAL://127.0.0.1:0,EXTERNAL://127.0.0.1:0",
        "inter.broker.listener.name": "INTERNAL",
        "ssl.keystore.type": "PEM",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.location": str(key),
        **({} if trust is None else {"ssl.truststore.location": str(trust)}),
    }
    prefix = f"listener.name.{listener}."
    own = {f"{prefix}{name}": value for name, value in given.items() if name.startswith("ssl.")}
    return Settings({**given, **own, **{name.replace("_", "."): value for name, value in more.items()}})


def test_brokers_that_trust_one_another(one: Authority) -> None:
    both = settings(one.key, one.trust, ssl_client_auth="required")
    check_own_trust(both, "INTERNAL")
    assert handshake_problem(server_context(both, "INTERNAL"), peer_context(both, "INTERNAL")) == ""


def test_a_trust_store_that_lacks_the_authority(one: Authority, other: Authority) -> None:
    with pytest.raises(UsageError) as refused:
        check_own_trust(settings(one.key, other.trust), "INTERNAL")
    assert str(refused.value).startswith(
        "listener.name.internal.ssl.keystore.location (listener INTERNAL): other brokers with the same settings cannot "
        "connect: the certificate is refused: "
    )
    with pytest.raises(UsageError, match="the certificate is refused: unable to get local issuer certificate"):
        check_own_trust(settings(one.key, None), "INTERNAL")


def test_a_server_that_does_not_trust_its_clients(one: Authority, other: Authority) -> None:
    """The same authority on one side, another one on the other."""
    server = server_context(settings(one.key, other.trust, ssl_client_auth="required"), "INTERNAL")
    assert "the certificate is refused: " in handshake_problem(
        server, peer_context(settings(one.key, one.trust), "INTERNAL")
    )


def test_protocols_without_a_common_one(one: Authority) -> None:
    old = settings(one.key, one.trust, ssl_enabled_protocols="TLSv1.2")
    new = settings(one.key, one.trust, ssl_enabled_protocols="TLSv1.3")
    problem = handshake_problem(server_context(old, "INTERNAL"), peer_context(new, "INTERNAL"))
    assert problem.startswith("the handshake fails: ")


@pytest.mark.parametrize("kind", ["expired", "self-signed"])
def test_certificates_that_clients_refuse(tmp_path: Path, kind: str) -> None:
    made = Authority(kind, tmp_path)
    with pytest.raises(UsageError, match="the certificate is refused"):
        check_own_trust(settings(made.key, made.trust), "INTERNAL")


def test_host_names_are_not_compared(tmp_path: Path) -> None:
    made = Authority("wrong-host", tmp_path)
    check_own_trust(settings(made.key, made.trust), "INTERNAL")


def test_a_new_store_must_suit_the_one_before(one: Authority, other: Authority, tmp_path: Path) -> None:
    """An authority is replaced in three steps: trust both, show the new one, trust only that."""
    both = tmp_path / "both.pem"
    both.write_text(one.text + other.text)
    contexts = ListenerContexts(settings(one.key, one.trust), SPECS)
    for key, trust in ((other.key, one.trust), (other.key, other.trust), (one.key, other.trust)):
        problem = contexts.problem_of(settings(key, trust))
        assert problem.startswith(
            "Validation of dynamic config update of SSLFactory failed: the certificate is refused"
        )
    for key, trust in ((one.key, both), (other.key, both), (other.key, other.trust)):
        altered = settings(key, trust)
        assert contexts.problem_of(altered) == ""
        contexts.reload(altered)


def test_other_listeners_are_not_tried(one: Authority, other: Authority) -> None:
    contexts = ListenerContexts(settings(one.key, one.trust, "external"), SPECS)
    assert contexts.problem_of(settings(other.key, one.trust, "external", ssl_keystore_location=str(one.key))) == ""


def test_a_double_is_refused_at_its_start(other: Authority) -> None:
    with pytest.raises(UsageError, match=r"^listener.name.ssl.ssl.keystore.key \(listener SSL\): other brokers with"):
        KafkaDouble(security="SSL", config={"ssl.truststore.certificates": other.text})
