"""The client's settings, by Kafka's dotted names.

Rules. A value that Kafka would refuse is a UsageError of one sentence. An unknown name is logged as
a warning, because programs pass settings of other libraries along. `others` handles Kafka's
settings that have no effect here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from kafkadouble.server.configs.definition import Value
from kafkadouble.server.configs.did_you_mean import STRICT, nearest, suggestion
from kafkadouble.server.configs.table import ConfigDef
from kafkadouble.wire.errors import UsageError

from . import others
from .names import BrokerEndpoint, address
from .rows import ROWS

TABLE = ConfigDef(lambda: iter([ROWS]))


class ClientSettings:
    """The settings of one client; a setting that is not given has its default."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self.given = {name: _text(value) for name, value in given.items() if value is not None}
        self._values: dict[str, Value] = {}
        for name, text in self.given.items():
            if (config := TABLE.get(name)) is not None:
                self._values[name] = config.parse(text)
            elif name in others.BY_NAME:
                others.judge(name, text)
            else:
                others.warn_once(f"unknown setting {name!r} is ignored{_near_miss(name)}")
        self.bootstrap = self._bootstrap()

    def text(self, name: str) -> str | None:
        """A text, or None when there is none."""
        return cast("str | None", self._value(name))

    def int(self, name: str) -> int:
        return cast(int, self._value(name))

    def flag(self, name: str) -> bool:
        return cast(bool, self._value(name))

    def names(self, name: str) -> tuple[str, ...]:
        """A list."""
        return cast("tuple[str, ...]", self._value(name))

    def seconds(self, name: str) -> float:
        """A setting in ms, as seconds."""
        return self.int(name) / 1000

    def _value(self, name: str) -> Value:
        return self._values[name] if name in self._values else TABLE[name].default_value()

    def _bootstrap(self) -> list[BrokerEndpoint]:
        if "bootstrap.servers" not in self._values:
            raise UsageError("bootstrap.servers is missing: give HOST:PORT of one broker or more")
        endpoints = []
        for text in filter(None, self.names("bootstrap.servers")):
            endpoint = address(text)
            if endpoint is None:
                raise UsageError(f"bootstrap.servers: {text!r} is no address; give HOST:PORT")
            endpoints.append(endpoint)
        if not endpoints:
            raise UsageError("bootstrap.servers is empty: give HOST:PORT of one broker or more")
        return endpoints


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _near_miss(name: str) -> str:
    return suggestion(nearest(name, [config.name for config in TABLE] + sorted(others.BY_NAME), STRICT))
