"""The five requests with which a persister reaches share coordinators (KIP-932).

A row has what differs between them: the API with its newest version, and its name in error
messages.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkadouble.messages.generated.delete_share_group_state import DeleteShareGroupStateRequest
from kafkadouble.messages.generated.initialize_share_group_state import InitializeShareGroupStateRequest
from kafkadouble.messages.generated.read_share_group_state import ReadShareGroupStateRequest
from kafkadouble.messages.generated.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from kafkadouble.messages.generated.write_share_group_state import WriteShareGroupStateRequest
from kafkadouble.messages.message import Message


class PersisterRpc(NamedTuple):
    """One kind of request. `topic` is the class of its items, each for the partitions of one
    topic."""

    name: str
    request: Any
    topic: Any
    version: int
    lowest: int = 0

    def body(self, group_id: str, topics: list[Any]) -> Message:
        request: Message = self.request(group_id=group_id, topics=topics)
        return request

    def __repr__(self) -> str:
        return f"{self.name} RPC"


INITIALIZE = PersisterRpc(
    "initialize state", InitializeShareGroupStateRequest, InitializeShareGroupStateRequest.InitializeStateData, 0
)
READ = PersisterRpc("read state", ReadShareGroupStateRequest, ReadShareGroupStateRequest.ReadStateData, 0)
WRITE = PersisterRpc("write state", WriteShareGroupStateRequest, WriteShareGroupStateRequest.WriteStateData, 1)
DELETE = PersisterRpc("delete state", DeleteShareGroupStateRequest, DeleteShareGroupStateRequest.DeleteStateData, 0)
SUMMARY = PersisterRpc(
    "read state summary", ReadShareGroupStateSummaryRequest, ReadShareGroupStateSummaryRequest.ReadStateSummaryData, 1
)

RPCS = (INITIALIZE, READ, WRITE, DELETE, SUMMARY)
