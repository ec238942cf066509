"""A change of certificates: what is refused, and what new connections have then (KIP-226)."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kafkadouble.access.certificates import Certificates
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.security.tls.listener_contexts import ListenerContexts

SPECS = [ListenerSpec("SSL", "SSL", ("127.0.0.1", 0), None, SERVED)]
STORE = "listener.name.ssl.ssl.keystore.location"


def store(path: Path, hosts: list[str], name: str = "") -> str:
    made = Certificates("valid", hosts)
    pair = made.of_brokers()
    path.write_text(pair.key + pair.certificate if not name else made.of_user(name).read_text())
    made.close()
    return str(path)


def altered(path: str, **more: object) -> Settings:
    allowed = {name.replace("_", "."): value for name, value in more.items()}
    return Settings({"listener.name.ssl.ssl.keystore.type": "PEM", STORE: path, **allowed})


def test_a_certificate_with_the_same_names_is_taken(tmp_path: Path) -> None:
    contexts = ListenerContexts(altered(store(tmp_path / "1", ["a"])), SPECS)
    before, after = contexts.context("SSL"), altered(store(tmp_path / "2", ["a", "b"]))
    assert contexts.problem_of(after) == ""
    assert contexts.context("SSL") is before
    contexts.reload(after)
    assert contexts.context("SSL") is not before


def test_new_certificate_with_other_names_must_be_allowed(tmp_path: Path) -> None:
    contexts = ListenerContexts(altered(store(tmp_path / "1", ["a", "127.0.0.1"])), SPECS)
    other_host, other_name = store(tmp_path / "2", ["b"]), store(tmp_path / "3", [], "other")
    problem = contexts.problem_of(altered(other_host))
    assert problem == (
        "Validation of dynamic config update of SSLFactory failed: org.apache.kafka.common.config.ConfigException: "
        "Keystore SubjectAltNames do not match:  existing={alias=kafka, SAN=[[2, a], [7, 127.0.0.1]]}, "
        "new={alias=kafka, SAN=[[2, b]]}"
    )
    assert contexts.problem_of(altered(other_host, ssl_allow_san_changes=True)) == ""
    problem = contexts.problem_of(altered(other_name, ssl_allow_san_changes=True))
    assert problem.endswith(
        "Keystore DistinguishedName does not match:  existing={alias=kafka, DN=CN=kafkadouble}, "
        "new={alias=kafka, DN=CN=other}"
    )
    both = altered(other_name, ssl_allow_san_changes=True, ssl_allow_dn_changes=True)
    assert contexts.problem_of(both) == ""


def test_a_store_that_cannot_be_read_is_a_problem_and_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    contexts = ListenerContexts(altered(store(tmp_path / "1", ["a"])), SPECS)
    before, gone = contexts.context("SSL"), altered(str(tmp_path / "gone"))
    assert contexts.problem_of(gone).startswith("Validation of dynamic config update of SSLFactory failed: ")
    with caplog.at_level(logging.WARNING):
        contexts.reload(gone)
    assert contexts.context("SSL") is before
    assert "listener SSL keeps its certificates: " in caplog.text


def test_a_store_can_neither_be_taken_away_nor_added(tmp_path: Path) -> None:
    own = store(tmp_path / "1", ["a"])
    contexts = ListenerContexts(altered(own), SPECS)
    none = Settings({"listener.name.ssl.ssl.keystore.type": "PEM"})
    assert contexts.problem_of(none).endswith(
        "ConfigException: Cannot remove the SSL keystore from an existing listener for which a keystore was configured."
    )
    trusting = {"listener_name_ssl_ssl_truststore_type": "PEM", "listener_name_ssl_ssl_truststore_location": own}
    assert contexts.problem_of(altered(own, **trusting)).endswith(
        "ConfigException: Cannot add SSL truststore to an existing listener for which no truststore was configured."
    )
