"""The client's settings: Kafka's names, defaults and bounds. Unknown settings are reported, wrong
values are refused."""

from __future__ import annotations

import logging

import pytest

from kafkadouble.pipeline.client import Client, others
from kafkadouble.pipeline.client.names import BrokerEndpoint, address
from kafkadouble.pipeline.client.settings import TABLE, ClientSettings
from kafkadouble.wire.errors import UsageError
from tests.support.kafka_client_settings import NAMES


@pytest.fixture(autouse=True)
def _nothing_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets which warnings this process has logged already."""
    monkeypatch.setattr(others, "_logged", set())


def settings(**given: object) -> ClientSettings:
    return ClientSettings(
        {"bootstrap.servers": "localhost:9092", **{name.replace("_", "."): value for name, value in given.items()}}
    )


def test_defaults_are_those_of_kafka() -> None:
    found = settings()
    assert (found.text("security.protocol"), found.text("acks"), found.text("client.rack")) == ("PLAINTEXT", "all", "")
    assert (found.int("request.timeout.ms"), found.seconds("default.api.timeout.ms")) == (30_000, 60.0)
    assert found.names("ssl.enabled.protocols") == ("TLSv1.2", "TLSv1.3")
    assert found.flag("enable.idempotence")
    assert found.text("sasl.username") is None


def test_values_may_be_what_python_has() -> None:
    found = settings(request_timeout_ms=5, enable_idempotence=False, fetch_max_bytes="2048", client_id=None)
    assert (found.int("request.timeout.ms"), found.flag("enable.idempotence"), found.int("fetch.max.bytes")) == (
        5,
        False,
        2048,
    )
    assert found.text("client.id") == "kafkadouble"
    assert ClientSettings({"bootstrap.servers": ["a:1", "b:2"]}).bootstrap == [
        BrokerEndpoint("a", 1),
        BrokerEndpoint("b", 2),
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("request.timeout.ms", "soon", "Invalid value soon for configuration request.timeout.ms"),
        ("request.timeout.ms", 0, "request.timeout.ms: Value must be at least 1"),
        ("security.protocol", "TLS", "Invalid value TLS for configuration security.protocol: .*SASL_SSL"),
        ("ssl.endpoint.identification.algorithm", "http", "ssl.endpoint.identification.algorithm"),
        ("enable.idempotence", "perhaps", "enable.idempotence: Expected value to be either true or false"),
        ("acks", "2", "Invalid value 2 for configuration acks"),
        ("bootstrap.servers", "", "bootstrap.servers"),
        ("bootstrap.servers", "localhost", "bootstrap.servers: 'localhost' is no address; give HOST:PORT"),
        ("bootstrap.servers", "localhost:0", "'localhost:0' is no address"),
        ("bootstrap.servers", "a:1,:2", "':2' is no address"),
    ],
)
def test_a_value_that_cannot_be_is_one_sentence(name: str, value: object, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        Client({"bootstrap.servers": "localhost:9092", name: value})
    assert "\n" not in str(refused.value)


def test_brokers_must_be_given() -> None:
    with pytest.raises(UsageError, match=r"bootstrap.servers is missing"):
        Client({"client.id": "x"})


def test_an_unknown_name_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        settings(retry_backof_ms=5, wholly_other=1)
    assert caplog.messages == [
        "unknown setting 'retry.backof.ms' is ignored; did you mean 'retry.backoff.ms'?",
        "unknown setting 'wholly.other' is ignored",
    ]


OURS = {"sasl.username", "sasl.password", "ssl.ca.location"}
"""Names from librdkafka, which Kafka does not have."""
REMOVED = {"auto.include.jmx.reporter"}
"""A setting that Kafka had before 4.0."""


def test_each_of_kafkas_settings_has_one_row() -> None:
    heeded = {config.name for config in TABLE}
    assert not heeded & others.BY_NAME.keys()
    assert heeded | others.BY_NAME.keys() == NAMES.keys() | OURS | REMOVED
    assert {row.name: row.role for row in others.BY_NAME.values() if row.name not in REMOVED} == {
        name: role for name, role in NAMES.items() if name in others.BY_NAME
    }


@pytest.mark.parametrize("name", sorted(others.BY_NAME))
def test_a_setting_that_does_nothing_is_refused_or_reported_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    row = others.BY_NAME[name]
    if row.refused:
        with pytest.raises(UsageError, match=f"the setting {name} is not supported: ") as refused:
            ClientSettings({"bootstrap.servers": "h:1", name: "other"})
        assert str(refused.value).endswith(row.why)
    else:
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                ClientSettings({"bootstrap.servers": "h:1", name: "other"})
        assert caplog.messages == [f"the setting {name} has no effect: {row.why}"]


def test_values_that_change_nothing_are_taken(caplog: pytest.LogCaptureFixture) -> None:
    same = {row.name: value for row in others.BY_NAME.values() for value in row.same}
    assert same["partitioner.class"] == ""
    assert same["auto.offset.reset"] == "none"
    with caplog.at_level(logging.WARNING):
        ClientSettings({"bootstrap.servers": "h:1", **same})
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("localhost:9092", BrokerEndpoint("localhost", 9092)),
        ("[::1]:9092", BrokerEndpoint("::1", 9092)),
        ("PLAINTEXT://h:1", BrokerEndpoint("h", 1)),
        ("h:65536", None),
        ("h:", None),
        (":1", None),
        ("h", None),
        ("h:-1", None),
        ("h:" + "9" * 5000, None),
        ("h:\u0661", None),
    ],
)
def test_bootstrap_servers_are_read_as_addresses(text: str, endpoint: BrokerEndpoint | None) -> None:
    assert address(text) == endpoint
    if endpoint is not None:
        assert address(str(endpoint)) == endpoint
