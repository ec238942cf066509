"""The names of resources, values and levels, wherever they are shown."""

from __future__ import annotations

from kafkadouble.messages.sentence import SECRET_WORDS
from kafkadouble.messages.show.text import HIDDEN
from kafkadouble.server.metadata.features import METADATA_VERSION
from kafkadouble.server.metadata.image import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kafkadouble.server.metadata.metadata_versions import NAMES

RESOURCES = {TOPIC: "topic", BROKER: "broker", CLIENT_METRICS: "client metrics", GROUP: "group"}
"""Types of configured resources, in words."""


def resource_text(kind: int, name: str) -> str:
    """A resource; the broker without a name stands for all."""
    if kind == BROKER and not name:
        return "all brokers"
    return f"{RESOURCES.get(kind, f'resource type {kind}')} {name}"


def value_text(name: str, value: str) -> str:
    """A value of a configuration; one that may be a secret is hidden."""
    return HIDDEN if any(word in name.lower() for word in SECRET_WORDS) else value


def level_text(name: str, level: int) -> str:
    """A feature's level, with the release where it has one."""
    release = NAMES.get(level) if name == METADATA_VERSION else None
    return f"{level} ({release})" if release else str(level)
