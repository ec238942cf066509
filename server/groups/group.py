"""What every group has in common, of whatever protocol: KIP-848 calls it the type of the group.

Offsets, listing and deletion ask a group only what stands here. A check passes silently or raises Refusal with Kafka's code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from ..coordinator.record import CoordinatorRecord
from .committed import Committed

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
"""Types of groups, as ListGroups writes them."""


class Group(ABC):
    """One group. `protocol_type` is None for a group that only ever committed offsets."""

    type: ClassVar[str]
    id: str
    protocol_type: str | None

    @property
    @abstractmethod
    def state_name(self) -> str:
        """The state as Kafka writes it, such as PreparingRebalance."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether it has no members, and waits for none."""

    @abstractmethod
    def check_commit(self, member_id: str, instance_id: str | None, generation: int, *, transactional: bool) -> None:
        """May this member commit offsets now?"""

    @abstractmethod
    def committed_by(self, member_id: str) -> None:
        """A member commits: it is alive."""

    @abstractmethod
    def check_offset_delete(self) -> None:
        """May offsets be deleted while the group is as it is?"""

    @abstractmethod
    def check_delete(self) -> None:
        """May the group be deleted as it is?"""

    @abstractmethod
    def subscribes_to(self, topic: str) -> bool:
        """Whether members read the topic, or might."""

    @abstractmethod
    def retained_since(self, offset: Committed) -> int | None:
        """The time (ms) from which the retention of an offset counts; None while nothing expires."""

    @abstractmethod
    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """The records that remove the group itself; its offsets have their own."""

    @abstractmethod
    def loaded(self) -> None:
        """The group was read from the log: its members have to show themselves again."""

    @abstractmethod
    def unloaded(self) -> None:
        """This node coordinates the group no longer: tell those who wait, stop the timers."""
