"""The value of a setting for one listener, and for one SASL mechanism of a listener (KIP-103,
KIP-226).

    listener.name.NAME.MECHANISM.SETTING   for a mechanism of a listener
    listener.name.NAME.SETTING             for a listener
    SETTING                                for every listener

Rules. The first that is set decides. Names of listeners and mechanisms are in small letters in a
setting's name, as Kafka compares them, and any case here. A login is that of one mechanism: Kafka
ignores a `sasl.jaas.config` of all mechanisms on a broker.
"""

from __future__ import annotations

from .broker import LISTENER_PREFIX
from .definition import Value
from .layers import Layers

JAAS = "sasl.jaas.config"


def of_listener(settings: Layers, listener_name: str, setting: str) -> Value:
    """The value of a setting for a listener."""
    return settings.value(name_of_listener(settings, listener_name, setting))


def of_mechanism(settings: Layers, listener_name: str, mechanism: str, setting: str) -> Value:
    """The value of a setting for a SASL mechanism of a listener."""
    name = f"{prefix_of(listener_name)}{mechanism.lower()}.{setting}"
    if name in settings.texts:
        return settings.value(name)
    return None if setting == JAAS else of_listener(settings, listener_name, setting)


def name_of_listener(settings: Layers, listener_name: str, setting: str) -> str:
    """The name under which the value of a setting for a listener is set."""
    name = prefix_of(listener_name) + setting
    return name if name in settings.texts else setting


def prefix_of(listener_name: str) -> str:
    """The prefix of a listener's own settings."""
    return f"{LISTENER_PREFIX}{listener_name.lower()}."
