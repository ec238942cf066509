"""The latest requests of clients, and those between nodes, for assertions in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from kafkadouble.messages import registry
from kafkadouble.server.tracing.history import History, SeenRequest
from kafkadouble.wire.errors import UnknownMessage, UsageError

Look = Callable[[Callable[[History], list[SeenRequest]]], list[SeenRequest]]
"""Applies a function to the history on the thread that owns it."""


class Requests(Sequence[SeenRequest]):
    """The latest requests, oldest first, as a sequence of `SeenRequest`. The last 10,000 are kept,
    fewer if they are large; record batches are left out."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def _all(self) -> list[SeenRequest]:
        return self._look(list)

    def of(self, *apis: str, client_id: str | None = None) -> list[SeenRequest]:
        """The requests to these APIs (all, if none is given) from this client (any, if none is
        given)."""
        for name in apis:
            check_api(name)
        return [seen for seen in self._all() if (not apis or seen.api in apis) and client_id in (None, seen.client_id)]

    def clear(self) -> None:
        """Removes the requests so far."""
        self._look(_clear)

    @overload
    def __getitem__(self, index: int) -> SeenRequest: ...

    @overload
    def __getitem__(self, index: slice) -> list[SeenRequest]: ...

    def __getitem__(self, index: int | slice) -> SeenRequest | list[SeenRequest]:
        return self._all()[index]

    def __iter__(self) -> Iterator[SeenRequest]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        seen = self._all()
        return f"{len(seen)} requests" + (f", the last {seen[-1]!r}" if seen else "")


class PeerRequests(Requests):
    """The latest requests between nodes, oldest first. The request inside an Envelope is included;
    its `forwarded_from` is the request of the client."""

    def _all(self) -> list[SeenRequest]:
        return self._look(History.of_peers)

    def clear(self) -> None:
        """Removes the requests so far."""
        self._look(_clear_peers)


def check_api(name: str) -> None:
    """Raises UsageError for a name that is not an API."""
    try:
        registry.api_named(name)
    except UnknownMessage as unknown:
        from kafkadouble.server.configs.did_you_mean import near

        raise UsageError(f"{unknown}{near(name, [api.name for api in registry.apis()])}") from None


def _clear(history: History) -> list[SeenRequest]:
    history.clear()
    return []


def _clear_peers(history: History) -> list[SeenRequest]:
    history.clear_peers()
    return []
