"""The interface of a group of any type (KIP-848): what offsets, listing and deletion use.

A `validate_` method returns silently, or raises Refusal with Kafka's error code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import ClassVar

from kafkadouble.messages.uuid import Uuid

from ..coordinator.coordinator_record import CoordinatorRecord
from .assignor.assignment import Assignment
from .offset_and_metadata import OffsetAndMetadata

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
"""The types of groups, as ListGroups writes them."""


CommitPartitionValidator = Callable[[str, Uuid, int], None]
"""Checks that a member may commit an offset of a partition: topic, topic id, partition.

Raises Refusal, which fails the whole request.
"""


def accept_partition(topic: str, topic_id: Uuid, partition: int) -> None:
    """The validator of a commit whose partitions need no check."""


class CoordinatorGroup(ABC):
    """One group. `protocol_type` is None for a group that has only committed offsets."""

    type: ClassVar[str]
    expires: ClassVar[bool] = True
    """Whether the group is deleted when it has neither members nor offsets."""
    group_id: str
    protocol_type: str | None

    @property
    @abstractmethod
    def state_name(self) -> str:
        """Returns the state as Kafka writes it, such as PreparingRebalance."""

    @property
    def state_filter_name(self) -> str:
        """Returns the name of the state in a filter of ListGroups, in lower case."""
        return self.state_name.lower()

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Returns whether it has no members and waits for none."""

    @property
    @abstractmethod
    def member_ids(self) -> Iterable[str]:
        """Returns the ids of its members."""

    @abstractmethod
    def validate_offset_commit(
        self, member_id: str, group_instance_id: str | None, generation_id: int, *, transactional: bool, version: int
    ) -> CommitPartitionValidator:
        """Checks that this member may commit offsets now; returns the check of each partition.

        `generation_id` is the member epoch of a member that has one. `version` is the one of the
        request.
        """

    @abstractmethod
    def on_offset_commit(self, member_id: str) -> None:
        """Restarts the session of a member that commits, in a classic group."""

    @abstractmethod
    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Checks that this member may fetch offsets now."""

    @abstractmethod
    def validate_offset_delete(self) -> None:
        """Checks that offsets of the group may be deleted now."""

    @abstractmethod
    def validate_delete_group(self) -> None:
        """Checks that the group may be deleted now."""

    @abstractmethod
    def is_subscribed_to_topic(self, topic: str) -> bool:
        """Returns whether a member subscribes to the topic; true if that is unknown."""

    @abstractmethod
    def offset_retention_start(self, offset: OffsetAndMetadata) -> int | None:
        """Returns when the retention of an offset starts (ms); None while it cannot expire."""

    @abstractmethod
    def on_topics_changed(self, names: Set[str]) -> None:
        """These topics were created, changed or deleted."""

    @abstractmethod
    def expire_member(self, name: str) -> None:
        """Ends the session of a member now, though its time-out is not over. `name` is its id, or
        the instance id of a static member. Raises Refusal(UNKNOWN_MEMBER_ID)."""

    @abstractmethod
    def rebalance(self) -> None:
        """Rebalance now. Raises Refusal(UNKNOWN_MEMBER_ID) if it has no members."""

    @abstractmethod
    def set_target_assignment(self, assignments: Mapping[str, Assignment]) -> None:
        """Assigns these partitions to members, which are named as in `expire_member`.

        Raises Refusal: UNKNOWN_MEMBER_ID, INVALID_REQUEST if its members or tasks are not assigned
        so.
        """

    @abstractmethod
    def tombstones(self) -> Sequence[CoordinatorRecord]:
        """Returns the records that delete the group, without those of its offsets."""

    @abstractmethod
    def on_loaded(self) -> None:
        """The group was loaded from the log: start the sessions of its members."""

    @abstractmethod
    def on_unloaded(self) -> None:
        """This broker no longer coordinates the group: answer waiting requests, cancel timers."""
