"""Views of a double as server-sent events: topics, groups and others, again whenever they change.

    event: topics
    data: {"orders": {"name": "orders", "partitions": {...}, ...}}

A view is what the verb with its name returns. Each one is sent once at the beginning. A large one
comes less often than a small one: `shared_views.py` has the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.control.http.problems import ControlProblem
from kafkadouble.control.http.streams import EventStream
from kafkadouble.server.configs.did_you_mean import near

from .shared_views import shared_views

if TYPE_CHECKING:
    from kafkadouble.verbs.double_api import DoubleApi

VIEWS = ("describe_cluster", "topics", "groups", "transactions", "rules", "snapshots")
"""The verbs that are views."""


class ViewEvents(EventStream):
    """The views with these names."""

    pause_s = 0.25

    def __init__(self, kafka: DoubleApi, names: Sequence[str]) -> None:
        super().__init__(kafka)
        self._views = shared_views(kafka)
        self._sent: dict[str, str | None] = dict.fromkeys(names)

    def new(self) -> str:
        """The views that have changed."""
        found, waits = [], []
        for name, sent in self._sent.items():
            text, wait_s = self._views.look(name)
            # It is looked at again, since it may have changed meanwhile.
            waits += [wait_s] if wait_s else []
            if text != sent:
                self._sent[name] = text
                found.append(text)
        self.again_s = min(waits, default=None)
        return "".join(found)


def names_of(text: str | None) -> tuple[str, ...]:
    """The views of a query, `topics,groups`; all of them without one. Raises ControlProblem."""
    names = VIEWS if text is None else tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in VIEWS:
            raise ControlProblem(
                400, "usage", f"there is no view {name!r}{near(name, VIEWS)}; there are {', '.join(VIEWS)}"
            )
    return names
