"""The result of a replay, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .comparison.answer_comparison import FieldDifference
from .recorded.exchange import Exchange
from .recorded.recording import Recording

MOST = 1000
"""The differences that are kept; the others are counted."""


class AnswerDifference(NamedTuple):
    """A field of an answer, or the answer as a whole (`path` is empty), that is not as recorded."""

    exchange: Exchange
    path: str
    recorded: str
    found: str

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        exchange = self.exchange
        return {
            "request": exchange.number,
            "api": exchange.api,
            "version": exchange.version,
            "clientId": exchange.client_id,
            "connection": exchange.connection,
            "broker": exchange.node,
            "path": self.path,
            "recorded": self.recorded,
            "found": self.found,
        }

    @property
    def text(self) -> str:
        """The text without the request, so that the same difference in other answers has the same
        text."""
        at = f"{self.path}: " if self.path else ""
        return f"{self.exchange.api} v{self.exchange.version}, {at}recorded {self.recorded}, found {self.found}"

    def __repr__(self) -> str:
        return f"{self.exchange!r}: {self.text}"


class ReplayReport:
    """`compared` counts the answers that were compared, `retried` the requests that were sent more
    than once, `early` those whose recorded answer asked the client to try again, where the target
    did not. `differences` are the first thousand of `count`."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.differences: list[AnswerDifference] = []
        self.compared = self.count = self.retried = self.early = 0

    @property
    def is_same(self) -> bool:
        """Whether there is no difference."""
        return self.count == 0

    def add(self, exchange: Exchange, differences: Iterable[FieldDifference]) -> None:
        """Notes the differences of one answer."""
        for difference in differences:
            self.count += 1
            if len(self.differences) < MOST:
                self.differences.append(AnswerDifference(exchange, *difference))

    def lines(self) -> Iterator[str]:
        """The lines for a person: each difference once, with the requests whose answers have it."""
        grouped: dict[str, list[int]] = {}
        for each in sorted(self.differences, key=lambda difference: difference.exchange.number):
            grouped.setdefault(each.text, []).append(each.exchange.number)
        for text, numbers in grouped.items():
            yield f"{text}: request{'s' * (len(numbers) > 1)} {_listed(numbers)}"
        if self.count > len(self.differences):
            yield f"and {self.count - len(self.differences)} more"
        yield self._summary()

    def _summary(self) -> str:
        sent = len(self.recording.exchanges)
        verdict = "no differences" if self.is_same else f"{self.count} difference{'s' * (self.count > 1)}"
        notes = [
            f"{count} {text}"
            for count, text in (
                (self.retried, "sent more than once"),
                (self.early, "not compared, because the recorded server was not ready"),
                (self.recording.of_nodes, "of nodes left out"),
                (self.recording.without_frame, "that could not be read left out"),
            )
            if count
        ]
        return f"{verdict}: {self.compared} answers of {sent} requests compared" + "".join(
            f"; {note}" for note in notes
        )

    def to_json(self) -> dict[str, Any]:
        """As plain values for `json.dump`."""
        return {
            "recording": self.recording.path,
            "run": self.recording.run,
            "requests": len(self.recording.exchanges),
            "compared": self.compared,
            "retried": self.retried,
            "early": self.early,
            "leftOut": {"ofNodes": self.recording.of_nodes, "unreadable": self.recording.without_frame},
            "differences": {"count": self.count, "first": [difference.to_json() for difference in self.differences]},
        }

    def __repr__(self) -> str:
        return self._summary()


SHOWN = 10
"""The numbers of requests that are listed for one difference."""


def _listed(numbers: list[int]) -> str:
    more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return ", ".join(map(str, numbers[:SHOWN])) + more
