"""The leader's description of the quorum: voters, observers, the end offset of each one's log, and
the cluster id."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.generated.describe_quorum import DescribeQuorumResponse
from kafkadouble.messages.uuid import Uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class QuorumMember(NamedTuple):
    """A replica of the metadata log. `end` is its log end offset, -1 when it is not known."""

    id: int
    directory_id: Uuid
    end: int
    is_voter: bool


class ObservedQuorum:
    """The state of the quorum. `epoch` is -1 until a leader has described it."""

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.leader_id, self.epoch, self.high_watermark = -1, -1, -1
        self.members: list[QuorumMember] = []

    def describe(self, partition: DescribeQuorumResponse.PartitionData) -> None:
        """Takes the values from a leader's response."""
        self.leader_id, self.epoch, self.high_watermark = (
            partition.leader_id,
            partition.leader_epoch,
            partition.high_watermark,
        )
        self.members = [
            *(_member(voter, is_voter=True) for voter in partition.current_voters),
            *(_member(observer, is_voter=False) for observer in partition.observers),
        ]

    def json(self) -> dict[str, Any]:
        """The state as an object for `--json`."""
        return {
            "clusterId": self.cluster_id,
            "leaderId": self.leader_id,
            "leaderEpoch": self.epoch,
            "highWatermark": self.high_watermark,
            "voters": [_json(member) for member in self.members if member.is_voter],
            "observers": [_json(member) for member in self.members if not member.is_voter],
        }

    def __repr__(self) -> str:
        return f"cluster {self.cluster_id}, led by {self.leader_id} in epoch {self.epoch}"


def _member(state: DescribeQuorumResponse.ReplicaState, *, is_voter: bool) -> QuorumMember:
    return QuorumMember(state.replica_id, state.replica_directory_id, state.log_end_offset, is_voter)


def _json(member: QuorumMember) -> dict[str, Any]:
    return {"id": member.id, "directoryId": str(member.directory_id), "logEndOffset": member.end}
