"""The value of a setting for a listener, and for a mechanism of a listener."""

from __future__ import annotations

import pytest

from kafkadouble.server.configs.listener_settings import name_of_listener, of_listener, of_mechanism
from kafkadouble.server.configs.settings import Settings

LOGIN = "listener.name.sasl.plain.sasl.jaas.config"


@pytest.fixture
def settings() -> Settings:
    return Settings(
        {
            "ssl.client.auth": "requested",
            "listener.name.mutual.ssl.client.auth": "required",
            "connections.max.reauth.ms": 1,
            "listener.name.sasl.connections.max.reauth.ms": 2,
            "listener.name.sasl.plain.connections.max.reauth.ms": 3,
            LOGIN: "PlainLoginModule required;",
            "sasl.jaas.config": "ignored",
        }
    )


@pytest.mark.parametrize("listener", ["mutual", "MUTUAL"])
def test_the_setting_of_the_listener_wins(settings: Settings, listener: str) -> None:
    assert of_listener(settings, listener, "ssl.client.auth") == "required"
    assert name_of_listener(settings, listener, "ssl.client.auth") == "listener.name.mutual.ssl.client.auth"


def test_other_listeners_have_the_setting_of_all(settings: Settings) -> None:
    assert of_listener(settings, "OTHER", "ssl.client.auth") == "requested"
    assert name_of_listener(settings, "OTHER", "ssl.client.auth") == "ssl.client.auth"


def test_a_setting_that_is_not_given_has_its_default(settings: Settings) -> None:
    assert of_listener(settings, "MUTUAL", "ssl.enabled.protocols") == ("TLSv1.2", "TLSv1.3")


@pytest.mark.parametrize(
    ("listener", "mechanism", "expected"), [("SASL", "PLAIN", 3), ("SASL", "SCRAM-SHA-256", 2), ("OTHER", "PLAIN", 1)]
)
def test_the_setting_of_the_mechanism_wins(settings: Settings, listener: str, mechanism: str, expected: int) -> None:
    assert of_mechanism(settings, listener, mechanism, "connections.max.reauth.ms") == expected


def test_a_login_is_that_of_one_mechanism(settings: Settings) -> None:
    assert of_mechanism(settings, "SASL", "PLAIN", "sasl.jaas.config") == "PlainLoginModule required;"
    assert of_mechanism(settings, "SASL", "SCRAM-SHA-256", "sasl.jaas.config") is None
