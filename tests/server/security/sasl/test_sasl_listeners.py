"""The mechanisms of a listener after its settings were altered, also to what cannot be read."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.security.sasl.sasl_listeners import SaslListeners

LOGIN = "listener.name.login.plain.sasl.jaas.config"
PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_ann="secret";'


def host(**altered: str) -> Any:
    settings = Settings({"listener.name.login.sasl.enabled.mechanisms": "PLAIN", LOGIN: PLAIN})
    return SimpleNamespace(settings=settings.altered({}, altered), random=Random(1), now=0)


def test_sasl_listeners_follow_changed_settings() -> None:
    node = host()
    listeners = SaslListeners(node)
    first = listeners.enabled("LOGIN")
    assert listeners.enabled("LOGIN") is first
    node.settings = host(**{"listener.name.login.connections.max.reauth.ms": "5"}).settings
    assert listeners.enabled("LOGIN").max_reauth_ms == {"PLAIN": 5}


def test_malformed_sasl_config_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    node = host()
    listeners = SaslListeners(node)
    first = listeners.enabled("LOGIN")
    node.settings = host(**{LOGIN: "nonsense"}).settings
    assert listeners.enabled("LOGIN") is first
    assert f"listener LOGIN keeps its logins: {LOGIN}" in caplog.text


def test_after_a_restart_it_has_those_of_the_start() -> None:
    assert [*SaslListeners(host(**{LOGIN: "nonsense"})).enabled("LOGIN").begin] == ["PLAIN"]
