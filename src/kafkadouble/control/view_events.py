"""Views of a double as server-sent events: topics, groups and others, again whenever they change.

    event: topics
    data: {"orders": {"name": "orders", "partitions": {...}, ...}}

A view is what the verb with its name returns. Each one is sent once at the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.errors import KafkaError
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.verbs.registry import VERBS

from .problems import ControlProblem
from .streams import EventStream, event

if TYPE_CHECKING:
    from kafkadouble.double import KafkaDouble

VIEWS = ("describe_cluster", "topics", "groups", "transactions", "rules", "snapshots")
"""The verbs that are views."""

WITHOUT = {"describe_cluster": "now_ms"}
"""View -> a field that changes although nothing happens."""


class ViewEvents(EventStream):
    """The views with these names."""

    pause_s = 0.25

    def __init__(self, kafka: KafkaDouble, names: Sequence[str]) -> None:
        super().__init__(kafka)
        self._sent: dict[str, str | None] = dict.fromkeys(names)

    def new(self) -> str:
        """The views that have changed."""
        return "".join(self._changed(name) for name in self._sent)

    def _changed(self, name: str) -> str:
        made = event(name, _view(self.kafka, name))
        if made == self._sent[name]:
            return ""
        self._sent[name] = made
        return made


def _view(kafka: KafkaDouble, name: str) -> Any:
    """The view; empty while no broker runs that could be asked."""
    try:
        found = VERBS[name].call_json(kafka, {})
    except KafkaError:
        return {}
    if isinstance(found, dict):
        found.pop(WITHOUT.get(name), None)
    return found


def names_of(text: str | None) -> tuple[str, ...]:
    """The views of a query, `topics,groups`; all of them without one. Raises ControlProblem."""
    names = VIEWS if text is None else tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in VIEWS:
            raise ControlProblem(
                400, "usage", f"there is no view {name!r}{near(name, VIEWS)}; there are {', '.join(VIEWS)}"
            )
    return names
