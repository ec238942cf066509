"""A partition whose files are damaged: it says so, and the others of the request are answered."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.lookup import TimestampAndOffset
from tests.server.harness import Harness


def test_a_damaged_partition_cannot_be_searched_and_the_others_can(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Harness()
    cluster.create("t", partitions=2)

    def search(log: PartitionLog, timestamp: int) -> TimestampAndOffset:
        if log.index:
            return TimestampAndOffset(-1, -1)
        raise BadFile("a batch of 3 bytes", file="t-0/00000000000000000000.log", offset=70)

    monkeypatch.setattr(PartitionLog, "offset_for", search)
    requested = [ListOffsetsRequest.ListOffsetsPartition(partition_index=index, timestamp=5) for index in (0, 1)]
    topic = ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=requested)
    response = cluster.submit(ListOffsetsRequest(replica_id=-1, topics=[topic]), 7)
    found = {answered.partition_index: answered.error_code for answered in response.topics[0].partitions}
    assert found == {0: error_codes.CORRUPT_MESSAGE, 1: error_codes.NONE}
