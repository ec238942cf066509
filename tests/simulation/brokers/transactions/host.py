"""What a simulated transactional client needs of its cluster. The simulation of brokers and that of
lives each have one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .ledger import Ledger
from .steps import SteppedHost

if TYPE_CHECKING:
    from .producer import TransactionalProducer


class RecordWatch(Protocol):
    """Is notified of what producers do."""

    def sent(self, values: Sequence[int], index: int) -> None:
        """A producer sends these values to a partition."""
        ...

    def acknowledged(self, producer: Any, index: int, values: Sequence[int], base_offset: int) -> None:
        """The leader has acknowledged them."""
        ...


class TransactionHost(SteppedHost, Protocol):
    """`writes`: producers begin transactions. `is_ending`: no other one is begun, and no producer
    fails. `is_resolved`: none is open any more."""

    writes: bool
    is_ending: bool
    is_resolved: bool

    @property
    def ledger(self) -> Ledger: ...
    @property
    def watch(self) -> RecordWatch: ...
    @property
    def partitions(self) -> Sequence[int]: ...
    @property
    def count(self) -> Counter[str]: ...
    @property
    def transactions_versions(self) -> Sequence[int]:
        """The transactions versions that a new producer may have."""
        ...

    def next_value(self) -> int:
        """A value that no record has had before."""
        ...

    def replace(self, producer: TransactionalProducer) -> None:
        """Another producer begins with the same transactional id."""
        ...
