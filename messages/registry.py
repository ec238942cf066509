"""The index of messages: by API key and by name, with versions, listeners and header versions.
Classes are imported on first use.

It reads the generated index and imports no message until one is used. Header versions follow
KIP-482: a request header is 2 in flexible versions and 1 before, a response header 1 and 0; the
response of ApiVersions always has header 0, so that a client that used a version that is too high
can still read it (KIP-511).
"""

from __future__ import annotations

from importlib import import_module

from kafkadouble.wire.errors import UnknownMessage

from .generated._api_keys import ApiKeys
from .generated._index import MESSAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .generated._index import Row
    from .message import Message


class MessageType:
    """The facts about one message. `versions` are (lowest, highest), (0, -1) for none; `family` is
    the part of Kafka that it belongs to."""

    __slots__ = (
        "_class", "api_key", "family", "flexible_from", "kind", "latest_version_unstable", "listeners", "module", "name", "versions",
    )  # fmt: skip

    def __init__(self, row: Row) -> None:
        self.name, self.kind, self.api_key, self.versions, self.flexible_from = row[:5]
        self.latest_version_unstable, self.listeners, self.module, self.family = row[5:]
        self._class: type[Message] | None = None

    @property
    def message(self) -> type[Message]:
        """The class, imported on first use; UnknownMessage for a retired API."""
        if self._class is None:
            if not self.module:
                raise UnknownMessage(f"{self.name} is retired: it has no version any more")
            found: type[Message] = getattr(import_module(f"{__package__}.generated.{self.module}"), self.name)
            self._class = found
        return self._class

    @property
    def retired(self) -> bool:
        return not self.module

    def is_flexible(self, version: int) -> bool:
        return self.flexible_from is not None and version >= self.flexible_from

    def __repr__(self) -> str:
        return f"Entry({self.name}: {self.kind}, versions {_text(self.versions)})"


class Api:
    """A request and its response. `stable_versions` exclude an unstable highest version; (0, -1) is
    none."""

    __slots__ = (
        "key",
        "latest_version_unstable",
        "listeners",
        "name",
        "request_entry",
        "response_entry",
        "stable_versions",
        "versions",
    )

    def __init__(self, request: MessageType, response: MessageType) -> None:
        assert request.api_key is not None
        self.key = request.api_key
        self.name = request.name.removesuffix("Request")
        self.request_entry, self.response_entry = request, response
        self.versions, self.listeners = request.versions, request.listeners
        self.latest_version_unstable = request.latest_version_unstable
        low, high = self.versions[0], self.versions[1] - self.latest_version_unstable
        self.stable_versions = (low, high) if low <= high else (0, -1)

    @property
    def request(self) -> type[Message]:
        """The class of the request; UnknownMessage for a retired API."""
        return self.request_entry.message

    @property
    def response(self) -> type[Message]:
        return self.response_entry.message

    @property
    def retired(self) -> bool:
        """Whether Kafka has removed this API: its key stays reserved."""
        return self.request_entry.retired

    def has_version(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def request_header_version(self, version: int) -> int:
        """2 or 1, also for an unsupported version, because Kafka reads such headers."""
        return 2 if self.request_entry.is_flexible(version) else 1

    def response_header_version(self, version: int) -> int:
        return 1 if self.response_entry.is_flexible(version) and self.key != ApiKeys.API_VERSIONS else 0

    def __repr__(self) -> str:
        return f"Api({self.key} {self.name}, {'retired' if self.retired else 'versions ' + _text(self.versions)})"


_BY_NAME = {row[0]: MessageType(row) for row in MESSAGES}
_APIS = {
    entry.api_key: Api(entry, _BY_NAME[entry.name.removesuffix("Request") + "Response"])
    for entry in _BY_NAME.values()
    if entry.kind == "request" and entry.api_key is not None
}
_API_NAMES = {found.name: found for found in _APIS.values()}


def api(key: int) -> Api:
    """The API with this key, retired ones too; UnknownMessage when there is none."""
    found = _APIS.get(key)
    if found is None:
        raise UnknownMessage(f"no API has the key {key}")
    return found


def api_named(name: str) -> Api:
    """The API with this name (`Fetch`); UnknownMessage when there is none."""
    api = _API_NAMES.get(name)
    if api is None:
        raise UnknownMessage(f"no API is named {name!r}")
    return api


def apis() -> tuple[Api, ...]:
    """Every API by rising key, retired ones too."""
    return tuple(_APIS.values())


def entry(name: str) -> MessageType:
    """The facts about the message with this name (`FetchRequest`); UnknownMessage when there is
    none."""
    found = _BY_NAME.get(name)
    if found is None:
        raise UnknownMessage(f"no message is named {name!r}")
    return found


def entries(kind: str = "", family: str = "") -> tuple[MessageType, ...]:
    """Every message, or those of a kind and a family."""
    return tuple(found for found in _BY_NAME.values() if kind in ("", found.kind) and family in ("", found.family))


def message(name: str) -> type[Message]:
    """The class with this name; UnknownMessage when there is none, or when its API is retired."""
    return entry(name).message


def describe() -> list[dict[str, Any]]:
    """Every message as a plain dict: name, kind, apiKey, validVersions, flexibleVersions,
    latestVersionUnstable, listeners."""
    return [
        {
            "name": found.name,
            "kind": found.kind,
            "apiKey": found.api_key,
            "validVersions": _text(found.versions),
            "flexibleVersions": "none" if found.flexible_from is None else f"{found.flexible_from}+",
            "latestVersionUnstable": found.latest_version_unstable,
            "listeners": list(found.listeners),
        }
        for found in _BY_NAME.values()
    ]


def _text(versions: tuple[int, int]) -> str:
    low, high = versions
    if low > high:
        return "none"
    return str(low) if low == high else f"{low}-{high}"
