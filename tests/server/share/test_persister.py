"""The persister of one broker: what it sends together, and when it sends again."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.read_share_group_state import ReadShareGroupStateResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.handlers import read_share_group_state, write_share_group_state
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.share.persister import ReadStateResult, ReadStateSummaryResult, SharePartitionKey
from kafkadouble.server.share.persister_rpcs import RPCS, WRITE
from kafkadouble.server.share.persister_state_manager import (
    REQUEST_BACKOFF_MAX_MS,
    PendingState,
    PersisterStateManager,
    backoff_ms,
)
from kafkadouble.server.share.share_coordinator_shard import ShareCoordinatorShard
from tests.server.harness import Harness
from tests.server.share.broker import ShareBroker, batch


def test_every_kind_of_request() -> None:
    broker = ShareBroker()
    results: list[ReadStateSummaryResult] = []
    summary = broker.node.persister.read_summary
    summary(broker.key, 0, results.append)
    assert broker.initialize(state_epoch=1, start_offset=4) == (0, None)
    assert broker.read(3) == ReadStateResult(0, None, 1, 4, [])
    assert broker.write(batch(4, 5), leader_epoch=3, start_offset=4, count=2) == (0, None)
    assert broker.read(3) == ReadStateResult(0, None, 1, 4, [batch(4, 5)])
    summary(broker.key, 3, results.append)
    assert broker.delete() == (0, None)
    summary(broker.key, 3, results.append)
    broker.tick(0)
    assert results == [
        ReadStateSummaryResult(0, None, 0, 0, -1, -1),
        ReadStateSummaryResult(0, None, 1, 3, 4, 2),
        ReadStateSummaryResult(0, None, 0, 0, -1, -1),
    ]


def test_permanent_error_of_the_share_coordinator_is_returned_at_once() -> None:
    broker = ShareBroker()
    message = "Error in write state RPC. Write operation on uninitialized share partition not allowed."
    assert broker.write() == (codes.INVALID_REQUEST, message)
    read = broker.read()
    assert read.error_code == codes.INVALID_REQUEST
    assert read.error_message == "Error in read state RPC. Read operation on uninitialized share partition not allowed."


def test_the_first_request_creates_the_topic() -> None:
    harness = Harness()
    harness.create("t")
    found: list[Any] = []
    key = SharePartitionKey("a:b", harness.image.topic_ids["t"], 0)
    harness.node.persister.initialize_state(key, 1, 0, lambda *outcome: found.append(outcome))
    harness.tick(0)
    assert found == [(0, None)]


def test_a_topic_that_cannot_be_created() -> None:
    """The coordinator is looked for five times, after pauses that double."""
    harness = Harness({"share.coordinator.state.topic.replication.factor": 3})
    harness.create("t")
    found: list[Any] = []
    key = SharePartitionKey("g", harness.image.topic_ids["t"], 0)
    harness.node.persister.delete_state(key, lambda *outcome: found.append(outcome))
    for _ in range(23):
        harness.tick(1000)
        assert found == []
    for _ in range(14):
        harness.tick(1000)
    message = "Error in find coordinator. Exhausted max retries to find coordinator without success."
    assert found == [(codes.COORDINATOR_NOT_AVAILABLE, message)]


@pytest.mark.parametrize("failures", [1, 4, 5])
@pytest.mark.parametrize("code", [codes.NOT_COORDINATOR, codes.COORDINATOR_LOAD_IN_PROGRESS])
def test_retriable_error_of_the_share_coordinator_is_retried(
    monkeypatch: pytest.MonkeyPatch, code: int, failures: int
) -> None:
    broker, found, left = ShareBroker(), [], [failures]
    broker.initialize()
    write = ShareCoordinatorShard.write_state

    def refusing(*given: Any) -> None:
        if left[0]:
            left[0] -= 1
            raise Refusal(code)
        write(*given)

    monkeypatch.setattr(ShareCoordinatorShard, "write_state", refusing)
    broker.node.persister.write_state(broker.key, 1, 0, 0, 0, [batch(0, 0)], lambda *outcome: found.append(outcome))
    assert found == []
    for _ in range(40):
        broker.tick(1000)
    message = "Error in write state RPC. Exhausted max retries to complete write state RPC without success."
    assert found == [(0, None) if failures < 5 else (code, message)]


def test_a_handler_that_breaks_is_a_lost_response(monkeypatch: pytest.MonkeyPatch) -> None:
    broker, found = ShareBroker(), []
    monkeypatch.setattr(write_share_group_state, "answer", lambda node, request: None)
    broker.node.persister.write_state(broker.key, 1, 0, 0, 0, [], lambda *outcome: found.append(outcome))
    for _ in range(40):
        broker.tick(1000)
    assert found == [
        (
            codes.NETWORK_EXCEPTION,
            "Error in write state RPC. Exhausted max retries to complete write state RPC without success.",
        )
    ]


def test_a_response_without_the_share_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = ShareBroker()
    empty = ReadShareGroupStateResponse()
    monkeypatch.setattr(read_share_group_state, "answer", lambda node, request: empty)
    result = broker.read()
    assert result.error_code == codes.UNKNOWN_SERVER_ERROR
    assert str(result.error_message).startswith("Error in read state RPC. Failed to read state for share partition: ")


def pending(group_id: str, topic: int, partition: int) -> PendingState:
    key = SharePartitionKey(group_id, Uuid(bytes(15) + bytes([topic])), partition)
    data = WRITE.request.PartitionData(partition=partition)
    return PendingState(key, data, lambda result: None, lambda code, message: None)


def test_persister_batches_requests_by_group() -> None:
    manager = PersisterStateManager(ShareBroker().node, WRITE)
    together = [pending("g", 1, 0), pending("g", 2, 0), pending("g", 1, 1), pending("g", 1, 0)]
    manager._by_broker = {7: {"g": list(together), "h": [pending("h", 1, 0)]}}
    sent = []
    while 7 in manager.destinations():
        request = manager.next_request(7)
        body: Any = request.body
        sent.append((body.group_id, [[each.partition for each in topic.partitions] for topic in body.topics]))
    assert sent == [("g", [[0, 1], [0]]), ("h", [[0]]), ("g", [[0]])]


def test_the_pause_doubles() -> None:
    assert [backoff_ms(attempts, 0.5) for attempts in range(1, 6)] == [2000, 4000, 8000, 16_000, 30_000]
    assert [backoff_ms(1, chance) for chance in (0, 1)] == [1600, 2400]
    assert backoff_ms(9, 1) == REQUEST_BACKOFF_MAX_MS


def test_brokers_start_without_the_modules_of_the_persister() -> None:
    """Each kind of request has its channel, whose sender is made at the first request."""
    from kafkadouble.server.broker.cluster_parts import PERSISTER_CHANNELS

    assert len(RPCS) == PERSISTER_CHANNELS
    code = (
        "import sys; from tests.server.transactions.brokers import Brokers; Brokers();"
        "print([name for name in sys.modules if 'persister' in name or 'share_group_state' in name])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
