"""What a report needs of a double."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kafkadouble.group_values import Group
    from kafkadouble.requests import Requests
    from kafkadouble.running import Running
    from kafkadouble.transactions import Transaction


class Reported(Protocol):
    """A double that runs, or has run."""

    @property
    def requests(self) -> Requests: ...

    def groups(self) -> Mapping[str, Group]: ...

    def transactions(self) -> Mapping[str, Transaction]: ...

    def _known(self) -> Running: ...

    def _serving(self) -> Running: ...
