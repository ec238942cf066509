"""Members of groups without a client library: they join, and send no heartbeat."""

from __future__ import annotations

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from tests.support.client import ask


def join_consumer_group(kafka: KafkaDouble, group: str, topic: str) -> None:
    """Lets the member `m` join a consumer group at the only broker."""
    ask(kafka.bootstrap_servers, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]), 4)
    joining = ConsumerGroupHeartbeatRequest(
        group_id=group, member_id="m", rebalance_timeout_ms=1000, subscribed_topic_names=[topic], topic_partitions=[]
    )
    assert ask(kafka.bootstrap_servers, joining, 1).error_code == 0


def join(kafka: KafkaDouble, group: str, session_ms: int) -> str:
    """The member id; the group is stable. The double has `group.initial.rebalance.delay.ms=0`."""
    found = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
    while (coordinator := ask(("127.0.0.1", kafka.port), found, 4).coordinators[0]).error_code:
        pass
    at = coordinator.host, coordinator.port
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=session_ms,
        protocol_type="consumer",
        protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    while not (joined := ask(at, request, 5)).member_id:  # while the coordinator is loaded
        pass
    request.member_id = joined.member_id
    generation = ask(at, request, 5).generation_id
    assignment = SyncGroupRequest.SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"")
    sync = SyncGroupRequest(
        group_id=group, generation_id=generation, member_id=joined.member_id, assignments=[assignment]
    )
    assert ask(at, sync, 3).error_code == 0
    return str(joined.member_id)
