"""Which frames a capture leaves out, because they hold secrets.

Rules. A frame of an API whose bodies may hold credentials is left out, by the row of the API. So is
one that sets configurations of a broker of which one is a secret, or is unknown: a plugin may call
it a password. Of a frame that was not decoded the API alone counts.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.sentence import SECRET_WORDS

from ..apis.row import BODIES
from ..apis.served import ROWS
from ..configs.alter import Resource
from ..configs.broker import broker_config

OF_CREDENTIALS = frozenset(row.api.key for row in ROWS if row.secrets == BODIES)
OF_BROKERS = frozenset(row.api.key for row in ROWS if row.name in ("AlterConfigs", "IncrementalAlterConfigs"))
"""The APIs that set configurations of brokers."""


def holds_secrets(api_key: int, body: Any = None) -> bool:
    """Whether the frames of a request and of its answer are left out. `body` is None for a request
    that was not decoded."""
    if api_key in OF_CREDENTIALS:
        return True
    return api_key in OF_BROKERS and (body is None or _sets_secret(body))


def _sets_secret(body: Any) -> bool:
    return any(
        _is_secret(config.name)
        for resource in body.resources
        if resource.resource_type == Resource.BROKER
        for config in resource.configs
    )


def _is_secret(name: str) -> bool:
    config = broker_config(name)
    return config is None or config.sensitive or any(word in name.lower() for word in SECRET_WORDS)
