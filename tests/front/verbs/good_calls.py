"""One good call of each verb: the table that the generated test plays."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kafkadouble import KafkaDouble, Rule
from kafkadouble.messages import headers
from kafkadouble.messages.generated.add_partitions_to_txn import AddPartitionsToTxnRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from tests.front.verbs.members import join_consumer_group
from tests.support.client import ask

TOPIC = "t"

Given = Mapping[str, Any] | Callable[[KafkaDouble], Mapping[str, Any]]


def nothing(kafka: KafkaDouble) -> None:
    """No preparation."""


class GoodCall(NamedTuple):
    """`given` are the parameters, `json` the result as JSON, or a check of it. Before the call
    there is a topic `t` with one record. `more` are further arguments of the double."""

    given: Given
    json: Any
    brokers: int = 1
    prepare: Callable[[KafkaDouble], object] = nothing
    stepped: bool = True
    on_disk: bool = False
    telemetry: bool = False
    more: Mapping[str, Any] = {}

    def parameters(self, kafka: KafkaDouble) -> dict[str, Any]:
        return dict(self.given(kafka) if callable(self.given) else self.given)


class Is(NamedTuple):
    """A check of a result in words of Python."""

    check: Callable[[Any], bool]


AT = {"topic": TOPIC, "partition": 0}
RULE = Is(lambda result: result["hits"] == 0 and result["rule"]["match"]["api"] in ("Fetch", "Metadata"))
LASTING = Is(lambda result: result["hits"] == 0 and not result["spent"])
NONE = None
TOKENS = {"security": "SASL_PLAINTEXT", "oauthbearer": "unsecured"}
SECURED = {"security": "SASL_PLAINTEXT", "users": {"alice": "secret"}}
ACL = "User:alice allow READ topic:orders*"
COMPACTED = {"cleanup.policy": "compact"}


def follower(kafka: KafkaDouble) -> int:
    return next(id for id in kafka.isr(TOPIC, 0) if id != kafka.leader(TOPIC, 0))


def _open_transaction(kafka: KafkaDouble) -> None:
    at = "127.0.0.1", kafka.port
    ask(at, FindCoordinatorRequest(key_type=1, coordinator_keys=["id"]), 4)
    made = ask(at, InitProducerIdRequest(transactional_id="id", transaction_timeout_ms=60_000), 4)
    topics = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
    begin = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="id",
        v3_and_below_producer_id=made.producer_id,
        v3_and_below_producer_epoch=made.producer_epoch,
        v3_and_below_topics=[topics],
    )
    ask(at, begin, 3)


def _joined(kafka: KafkaDouble) -> str:
    """A member of the group `g`; its second JoinGroup waits for the initial rebalance delay."""
    at = "127.0.0.1", kafka.port
    ask(at, FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4)
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
    join = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[protocol],
    )
    join.member_id = str(ask(at, join, 5).member_id)
    with socket.create_connection(at) as sock:
        sock.sendall(b"".join(headers.write_request(join, 1, "test", 5)))
        while not kafka.groups()["g"].members:
            pass
    return join.member_id


def _rule_that_was_applied(kafka: KafkaDouble) -> dict[str, Any]:
    rule = kafka.fail("FindCoordinator", "COORDINATOR_NOT_AVAILABLE")
    ask(("127.0.0.1", kafka.port), FindCoordinatorRequest(key_type=1, coordinator_keys=["id"]), 4)
    return {"rule": rule}


def _lose_leader(kafka: KafkaDouble) -> None:
    """Nothing leads the partition, and one live replica is not in sync."""
    kafka.move_leader(TOPIC, 0, to=1)
    kafka.brokers[2].isolate(), kafka.brokers[3].isolate()
    kafka.advance(35)
    kafka.brokers[1].kill()
    kafka.brokers[2].join(), kafka.brokers[3].join()
    kafka.advance(10)


GOOD: dict[str, GoodCall] = {
    # topics
    "create_topic": GoodCall({"name": "new", "partitions": 2, "config": {"cleanup.policy": "compact"}}, NONE),
    "delete_topic": GoodCall({"name": TOPIC}, NONE),
    "produce": GoodCall({"topic": TOPIC, "value": "b", "key": b"k", "headers": {"h": "x"}, "timestamp": 5}, 1),
    "records": GoodCall(
        {"topic": TOPIC, "isolation": "read_committed"}, Is(lambda result: [each["value"] for each in result] == ["a"])
    ),
    "produce_all": GoodCall({"topic": TOPIC, "records": ["b", {"key": "k", "value": "c"}], "partition": 0}, 2),
    "produce_file": GoodCall({"topic": TOPIC, "path": __file__, "format": "text"}, Is(lambda result: result > 100)),
    "topics": GoodCall({"internal": True}, Is(lambda result: result["t"]["partitions"]["0"]["end_offset"] == 1)),
    "end_offsets": GoodCall({"topic": TOPIC}, {"0": 1}),
    "create_partitions": GoodCall({"topic": TOPIC, "partitions": 2}, NONE),
    "set_topic_config": GoodCall({"topic": TOPIC, "config": {"retention.ms": 1000, "cleanup.policy": None}}, NONE),
    "delete_records": GoodCall({"topic": TOPIC, "partition": 0, "before": 1}, 1),
    "report": GoodCall({"count": 3}, Is(lambda result: "topics:\n  t: 0: 0 to 1" in result)),
    # logs
    "roll": GoodCall(AT, 1),
    "retain": GoodCall(AT, {"0": 0}),
    "compact": GoodCall({"topic": "c"}, NONE, prepare=lambda kafka: kafka.create_topic("c", config=COMPACTED)),
    "flush": GoodCall(AT, 1),
    # partitions
    "elect_leaders": GoodCall(
        AT, {TOPIC: {"0": 1}}, brokers=3, prepare=lambda kafka: kafka.move_leader(TOPIC, 0, to=follower(kafka))
    ),
    "leader": GoodCall(AT, 1),
    "isr": GoodCall(AT, [1, 2, 3], brokers=3),
    "leader_epoch": GoodCall(AT, 0),
    "epochs": GoodCall(AT, {"0": 0}),
    "bump_epoch": GoodCall(AT, 1),
    "truncate": GoodCall({**AT, "offset": 0}, 1),
    "move_leader": GoodCall(lambda kafka: {**AT, "to": follower(kafka)}, 1, brokers=3),
    "unclean_election": GoodCall({**AT, "to": 2}, 2, brokers=3, prepare=_lose_leader),
    # groups
    "groups": GoodCall({}, {}),
    "move_coordinator": GoodCall({"group": "g", "to": 2}, Is(lambda result: 0 <= result < 50), brokers=3),
    "commit_offsets": GoodCall({"group": "g", "offsets": {(TOPIC, 0): 1}}, NONE),
    "reset_offsets": GoodCall({"group": "g", "topic": TOPIC, "to": "latest"}, {TOPIC: {"0": 1}}),
    "delete_group": GoodCall({"group": "g"}, NONE, prepare=lambda kafka: kafka.commit_offsets("g", {(TOPIC, 0): 1})),
    "expire_member": GoodCall(lambda kafka: {"group": "g", "member_id": _joined(kafka)}, NONE),
    "remove_members": GoodCall({"group": "g"}, 1, prepare=_joined),
    "rebalance": GoodCall({"group": "g"}, NONE, prepare=_joined),
    "set_assignment": GoodCall(
        {"group": "g", "assignment": {"m": [(TOPIC, 0)]}}, NONE, prepare=lambda k: join_consumer_group(k, "g", TOPIC)
    ),
    # quotas
    "set_quota": GoodCall({"client_id": "slow", "producer_byte_rate": 1000}, NONE),
    "remove_quota": GoodCall({"user": "<default>"}, NONE),
    # security
    "client_config": GoodCall(
        {"user": "alice", "client": "generic"}, Is(lambda result: result["password"] == "secret"), more=SECURED
    ),
    "bearer_token": GoodCall(
        {"user": "alice", "lifetime_ms": 1000}, Is(lambda result: result.count(".") == 2), more=TOKENS
    ),
    "set_user": GoodCall({"user": "bob", "password": "other"}, NONE, brokers=3, more=SECURED),
    "remove_user": GoodCall({"user": "alice"}, NONE, more=SECURED),
    "acls": GoodCall({}, [ACL], more={"acls": [ACL]}),
    "create_acls": GoodCall({"acls": [ACL]}, NONE, brokers=3, more={"acls": []}),
    "delete_acls": GoodCall({"acls": [ACL, "User:bob allow READ cluster"]}, [ACL], more={"acls": [ACL]}),
    "expire_sasl_sessions": GoodCall({"principal": "User:alice"}, 0, more=SECURED),
    "set_certificate": GoodCall({"certificate": "wrong-host"}, NONE, brokers=3, more={"security": "SSL"}),
    # transactions
    "move_transaction_coordinator": GoodCall(
        {"transactional_id": "id", "to": 2}, Is(lambda result: 0 <= result < 50), brokers=3
    ),
    "transactions": GoodCall({}, Is(lambda result: result["id"]["state"] == "Ongoing"), prepare=_open_transaction),
    "expire_transaction": GoodCall({"transactional_id": "id"}, NONE, prepare=_open_transaction),
    "hang_transaction": GoodCall({**AT, "value": "x"}, Is(lambda result: result >= 0)),
    # the clock
    "advance": GoodCall({"seconds": 1.5}, NONE),
    "freeze": GoodCall({}, NONE),
    "unfreeze": GoodCall({}, NONE, stepped=False, prepare=lambda kafka: kafka.freeze()),
    "scale": GoodCall({"factor": 0.5}, NONE, stepped=False),
    # the double
    "reset": GoodCall({}, NONE),
    "set_client_metrics": GoodCall({"name": "all", "config": {"metrics": "*", "interval.ms": "1000"}}, NONE),
    "telemetry": GoodCall({}, [], telemetry=True),
    "metrics": GoodCall({}, Is(lambda result: isinstance(result, dict) and len(result) > 0)),
    "bootstrap": GoodCall({"listener": "PLAINTEXT"}, Is(lambda result: result.startswith("127.0.0.1:"))),
    "snapshot": GoodCall({}, Is(lambda result: (result["topics"], result["records"]) == (1, 1)), brokers=3),
    "restore": GoodCall(lambda kafka: {"snapshot": kafka.snapshot()}, NONE, brokers=3),
    "snapshots": GoodCall({}, Is(lambda result: [*result] == ["clean"]), prepare=lambda kafka: kafka.snapshot("clean")),
    "drop_snapshot": GoodCall({"name": "clean"}, NONE, prepare=lambda kafka: kafka.snapshot("clean")),
    # brokers
    "describe_cluster": GoodCall({}, Is(lambda result: result["brokers"]["3"]["state"] == "running"), brokers=3),
    "down": GoodCall({}, NONE),
    "up": GoodCall({}, NONE, prepare=lambda kafka: kafka.down()),
    "add_broker": GoodCall({}, 5, brokers=3),
    "remove_broker": GoodCall({"broker": 5, "reassign": True}, NONE, brokers=3, prepare=lambda k: k.add_broker()),
    "expire_session": GoodCall({"broker": 1}, NONE, brokers=3),
    "reassign": GoodCall({**AT, "replicas": [1, 2]}, NONE, brokers=3),
    # one broker
    "kill_broker": GoodCall({"broker": 1}, NONE, brokers=3),
    "stop_broker": GoodCall({"broker": 1}, NONE, brokers=3),
    "start_broker": GoodCall({"broker": 1}, NONE, brokers=3, prepare=lambda kafka: kafka.brokers[1].kill()),
    "pause_broker": GoodCall({"broker": 1}, NONE, brokers=3),
    "resume_broker": GoodCall({"broker": 1}, NONE, brokers=3, prepare=lambda kafka: kafka.brokers[1].pause()),
    "isolate_broker": GoodCall({"broker": 1}, NONE, brokers=3),
    "join_broker": GoodCall({"broker": 1}, NONE, brokers=3, prepare=lambda kafka: kafka.brokers[1].isolate()),
    "bootstrap_on_broker": GoodCall(
        {"broker": 1, "listener": "PLAINTEXT"}, Is(lambda result: result.startswith("127.0.0.1:")), brokers=3
    ),
    # waits
    "wait_for_records": GoodCall({"topic": TOPIC, "count": 1}, Is(lambda result: result[0]["value"] == "a")),
    "wait_for_topic": GoodCall({"topic": TOPIC, "partitions": 1}, NONE),
    "wait_for_leader": GoodCall({**AT, "leader": 1, "epoch": 0}, 1),
    "wait_for_isr": GoodCall({**AT, "isr": [3, 2, 1]}, NONE, brokers=3),
    "wait_for_broker": GoodCall({"broker": 1}, NONE),
    "wait_for_group": GoodCall(
        {"group": "g", "state": "Empty", "lag": 1},
        Is(lambda result: result["offsets"][TOPIC]["0"]["offset"] == 0),
        prepare=lambda kafka: kafka.commit_offsets("g", {(TOPIC, 0): 0}),
    ),
    "wait_for_transaction": GoodCall(
        {"transactional_id": "id", "state": "Ongoing"},
        Is(lambda result: result["partitions"] == [[TOPIC, 0]]),
        prepare=_open_transaction,
    ),
    "wait_for_request": GoodCall(
        {"api": "InitProducerId", "transactional_id": "id"},
        Is(lambda result: result["api"] == "InitProducerId"),
        prepare=_open_transaction,
    ),
    "wait_for_rule": GoodCall(_rule_that_was_applied, NONE),
    # what happened
    "requests": GoodCall(
        {"apis": ["InitProducerId"], "error": False},
        Is(lambda result: [each["api"] for each in result] == ["InitProducerId"]),
        prepare=_open_transaction,
    ),
    "assert_seen": GoodCall(
        {"apis": ["InitProducerId"], "times": 1}, Is(lambda result: len(result) == 1), prepare=_open_transaction
    ),
    "assert_not_seen": GoodCall({"apis": ["Fetch"], "topic": TOPIC}, NONE),
    "clear_requests": GoodCall({}, NONE),
    "partition": GoodCall(AT, Is(lambda result: result["leader"] == 1 and result["high_watermark"] == 1)),
    "scenario_steps": GoodCall({}, []),
    "lint": GoodCall({"ignore": ["old-version"]}, []),
    # fault rules
    "unused_rules": GoodCall({}, Is(lambda result: len(result) == 1), prepare=lambda kafka: kafka.ignore("Fetch")),
    "refuse_connections": GoodCall({"listener": "PLAINTEXT"}, LASTING),
    "latency": GoodCall({"seconds": 1, "jitter": 0.5, "link": (1, 2), "both_ways": True}, LASTING, brokers=3),
    "bandwidth": GoodCall({"bytes_per_second": 1000, "broker": 1}, LASTING),
    "slice_frames": GoodCall({"bytes": 5, "gap": 0.1}, LASTING),
    "reset_after": GoodCall({"bytes": 5, "client_id": "c"}, LASTING),
    "half_open": GoodCall({"for_seconds": 1}, LASTING),
    "slow_close": GoodCall({"seconds": 1}, LASTING),
    "disk_full": GoodCall({"topic": TOPIC, "partition": 0}, LASTING, on_disk=True),
    "disk_slow": GoodCall({"seconds": 1, "broker": 1}, LASTING, on_disk=True),
    "disk_error": GoodCall({"on": "flush"}, LASTING, on_disk=True),
    "lose_flushes": GoodCall({"broker": 1}, LASTING, brokers=3, on_disk=True),
    "arm": GoodCall({"rule": Rule.of("ignore", api="Fetch")}, RULE),
    "rules": GoodCall({}, Is(lambda result: len(result) == 1), prepare=lambda kafka: kafka.ignore("Fetch")),
    "remove_rule": GoodCall({"rule": 1}, NONE, prepare=lambda kafka: kafka.ignore("Fetch")),
    "clear_rules": GoodCall({}, NONE, prepare=lambda kafka: kafka.ignore("Fetch")),
    "fail": GoodCall({"api": "Fetch", "error": "NOT_LEADER_OR_FOLLOWER", "topic": TOPIC, "times": None}, RULE),
    "delay": GoodCall({"api": "Fetch", "seconds": 0.5, "on_call": 2}, RULE),
    "pause": GoodCall({"api": "Fetch", "when": "after"}, RULE),
    "disconnect": GoodCall({"api": "Fetch", "after": True, "probability": 0.5, "seed": 1}, RULE),
    "ignore": GoodCall({"api": "Fetch", "broker": 1, "listener": "PLAINTEXT"}, RULE),
    "drop_answer": GoodCall({"api": "Fetch", "client_id": "c", "peers": True}, RULE),
    "throttle": GoodCall({"api": "Fetch", "seconds": 1, "after_seconds": 1, "for_seconds": 2}, RULE),
    "respond": GoodCall({"api": "Fetch", "body": {"errorCode": 6}}, RULE),
    "change_field": GoodCall({"api": "Fetch", "path": "sessionId", "value": 7}, RULE),
    "corrupt_records": GoodCall({"how": "bit"}, RULE),
    "stale_metadata": GoodCall({}, RULE),
    "wrong_correlation_id": GoodCall({"api": "Fetch"}, RULE),
    "cut_frame": GoodCall({"api": "Fetch", "bytes": 5}, RULE),
    "short_frame": GoodCall({"api": "Fetch", "bytes": 5}, RULE),
    "oversized_frame": GoodCall({"api": "Fetch", "bytes": 500}, RULE),
    "slow_frame": GoodCall({"api": "Fetch", "bytes_per_second": 100}, RULE),
    "on": GoodCall({"api": "Fetch", "function": print}, Is(lambda result: "Fetch" in result["rule"])),
}
