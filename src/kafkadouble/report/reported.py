"""What a report needs of a double."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kafkadouble.coordinators.group_values import Group
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.engine.running import Running
    from kafkadouble.seen.requests import Requests


class Reported(Protocol):
    """A double that runs, or has run."""

    @property
    def requests(self) -> Requests: ...

    def groups(self) -> Mapping[str, Group]: ...

    def transactions(self) -> Mapping[str, Transaction]: ...

    def _known(self) -> Running: ...

    def _serving(self) -> Running: ...
