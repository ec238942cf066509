"""A group with its members and offsets, as values."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.common.kinds import given_as

TopicPartition = tuple[str, int]


class Member(NamedTuple):
    """A member of a group.

    - `id`: the member id.
    - `instance_id`: `group.instance.id` of a static member, or None.
    - `client_id`: `client.id` of its client.
    - `host`: the address of its client.
    - `assignment`: the partitions that it has now, as pairs of a topic and a partition.
    - `epoch`: its member epoch; None in a classic group.
    """

    id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...]
    epoch: int | None = None


@given_as("committed offset")
class Committed(NamedTuple):
    """A committed offset.

    - `offset`: the offset of the next record to read.
    - `metadata`: the text that the client stored with it.
    """

    offset: int
    metadata: str


class Group(NamedTuple):
    """A group.

    - `id`: the group id.
    - `type`: classic, consumer, share or streams.
    - `state`: Kafka's name, such as Stable or Empty.
    - `protocol`: the name of its assignor; empty if it has none.
    - `members`: its members.
    - `offsets`: the committed offsets by topic and partition; of a share group, the start offsets
      of its share partitions.
    - `lags`: how many offsets there are from the committed offset to the high watermark, or from
      the log start offset without a commit, for each partition that has a leader and a committed
      offset or a member. While no member has a partition, other partitions of topics with a commit
      count, too, if they have records. Of a share group, what is not delivered yet.
    - `epoch`: the group epoch; None for a classic group.
    - `assignment_epoch`: the epoch of the assignment; None for a classic group.
    """

    id: str
    type: str
    state: str
    protocol: str
    members: tuple[Member, ...]
    offsets: dict[TopicPartition, Committed]
    lags: dict[TopicPartition, int]
    epoch: int | None = None
    assignment_epoch: int | None = None

    @property
    def lag(self) -> int:
        """The sum of the lags."""
        return sum(self.lags.values())
