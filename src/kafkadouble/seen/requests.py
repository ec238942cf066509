"""The latest requests of clients, and those between nodes, for assertions in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from kafkadouble.common.marking import verb
from kafkadouble.server.tracing.history import History, SeenRequest
from kafkadouble.wire.errors import UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from .request_filter import RequestNarrowing

Look = Callable[[Callable[[History], list[SeenRequest]]], list[SeenRequest]]
"""Applies a function to the history on the thread that owns it."""


class Requests(Sequence[SeenRequest]):
    """The latest requests, oldest first, as a sequence of `SeenRequest`. The last 10,000 are kept,
    fewer if they are large; record batches are left out."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def _all(self) -> list[SeenRequest]:
        return self._look(list)

    @verb
    def of(self, *apis: str, **narrowing: Unpack[RequestNarrowing]) -> list[SeenRequest]:
        """The requests to these APIs (all, if none is given) that match every keyword.

        The keywords are `topic`, `partition`, `group`, `transactional_id`, `client_id`,
        `principal`, `broker`, `error` and `since`; see `RequestNarrowing`. Raises UsageError for a
        filter that no request could match.
        """
        from .request_filter import RequestFilter  # where a filter is given

        return RequestFilter.checked(apis, narrowing).among(self._all())

    @verb
    def assert_seen(
        self, *apis: str, times: int | None = None, **narrowing: Unpack[RequestNarrowing]
    ) -> list[SeenRequest]:
        """Asserts that requests match, as in `of`: at least one, or exactly `times`. Returns them.

        The AssertionError shows the requests that nearly match, with what differs, and the last
        requests.
        """
        __tracebackhide__ = True
        from .near_misses import explanation  # where a filter is given
        from .request_filter import RequestFilter  # where a filter is given

        if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 0):
            raise UsageError(f"times is a number of requests from 0, not {times!r}")
        request_filter, seen = RequestFilter.checked(apis, narrowing), self._all()
        requests = request_filter.among(seen)
        if len(requests) != times if times is not None else not requests:
            raise AssertionError(explanation(request_filter, times, seen))
        return requests

    @verb
    def assert_not_seen(self, *apis: str, **narrowing: Unpack[RequestNarrowing]) -> None:
        """Asserts that no request matches, as in `of`. The AssertionError shows those that do."""
        __tracebackhide__ = True
        self.assert_seen(*apis, times=0, **narrowing)

    def transcript(self) -> str:
        """The requests as text for a person, one line each: time (UTC), request, outcome,
        errors."""
        return "".join(f"{seen!r}\n" for seen in self._all())

    def to_json(self) -> list[dict[str, Any]]:
        """The requests as a list of plain values for `json.dump`. `request` and `answer` are in the
        form of Kafka's own JSON; records and secrets are left out, as in captures."""
        return [seen.to_json() for seen in self._all()]

    @verb
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


def _clear(history: History) -> list[SeenRequest]:
    history.clear()
    return []


def _clear_peers(history: History) -> list[SeenRequest]:
    history.clear_peers()
    return []
