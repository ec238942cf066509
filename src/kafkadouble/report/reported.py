"""The interface of a double that a report needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kafkadouble.coordinators.group_values import Group
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.engine.running import Running
    from kafkadouble.seen.requests import Requests


class Reported(NamedTuple):
    """A double that runs, or has run. `serving` raises UsageError if it does not run."""

    requests: Requests
    groups: Callable[[], Mapping[str, Group]]
    transactions: Callable[[], Mapping[str, Transaction]]
    known: Callable[[], Running]
    serving: Callable[[], Running]
