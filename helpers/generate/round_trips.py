"""What the generated tests of all languages do: they call every verb that returns something, read
each result, and give it to the verbs that take it, while a request waits for its answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.metadata import MetadataRequest

from .steps import ByPartition, Step, call, ref, same, send

ARGUMENTS = (
    *("--brokers", "3", "--topic", "orders:2:3", "--acl", "User:ANONYMOUS allow ALL topic:*", "--telemetry"),
    *("--super-user", "User:ANONYMOUS", "-c", "offsets.topic.num.partitions=1"),
    *("-c", "transaction.state.log.num.partitions=1", "-c", "group.initial.rebalance.delay.ms=0"),
)
"""The words of `serve`, besides those for a data directory and the scenario."""

SCENARIO = "[[steps]]\nat = 3600\nverb = 'roll'\ntopic = 'orders'\npartition = 0\n"

NOT_PLAYED: Mapping[str, str] = {
    "bearer_token": "is a text of a cluster with SASL",
    "delete_records": "has an integer as its result, which is sent as it is",
    "remove_members": "needs a member: a client, which these tests do not have",
    "report": "is a text with times and addresses, for a person",
    "unclean_election": "needs a partition without a leader; its result is that of wait_for_leader",
}
"""A verb with a result that the tests do not call -> why."""


ERROR_AT = 9
"""The offset of the error in an answer: after a correlation id, no tagged fields and the time of
the throttling."""


HELD = (
    call("pause", "held", api="ApiVersions", client_id="waits"),
    send(ApiVersionsRequest(), 0, "waits", answered=False),
    call("wait_for_rule", rule=ref("held")),
)
"""A request waits, until the test ends."""

REQUESTS = (
    send(ApiVersionsRequest(), 0),
    call("requests", "all", apis=["ApiVersions"]),
    same("all[0].outcome", "waiting"),
    same("all[0].took", "null"),
    same("all[0].rules[0]", "pause"),
    same("all[1].client_id", "asks"),
    call("wait_for_request", "first", api="ApiVersions", client_id="waits"),
    call("assert_seen", "later", since=ref("first"), apis=["ApiVersions"], times=1),
    call("requests", since=ref("first")),
    call("wait_for_request", api="ApiVersions", since=ref("first")),
    call("assert_not_seen", apis=["ApiVersions"], since=ref("later[0]")),
    call("respond", "answers", api="ApiVersions", body=ref("later[0].answer"), client_id="asks"),
    send(ApiVersionsRequest(), 0),
    call("wait_for_rule", rule=ref("answers")),
    call("unused_rules", "unused"),
    send(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="typo")]), 4),
    call("lint", "found"),
    same("found[0].rule", "topic-created-by-accident"),
    same("found[0].requests[0].api", "Metadata"),
    call("lint", ignore=[ref("found[0].rule")]),
)

RECORDS = (
    call("produce", "at", topic="orders", value="pears", key="a", headers={"trace": "7"}, partition=1, timestamp=7),
    same("at", 0),
    call("records", "records", topic="orders"),
    same("records[0].value", "pears"),
    same("records[0].headers[0].value", "7"),
    call("produce_all", topic="orders", records=ref("records"), partition=1),
    call(
        "produce",
        topic="orders",
        value=ref("records[0].value"),
        key=ref("records[0].key"),
        headers=ref("records[0].headers"),
        partition=ref("records[0].partition"),
        timestamp=ref("records[0].timestamp"),
    ),
    call("wait_for_records", "copies", topic="orders", count=3),
    same("copies[2].timestamp", 7),
    same("copies[2].headers[0].value", "7"),
    same("copies[2].key", "a"),
    call("end_offsets", "ends", topic="orders"),
    same("ends[1]", 3),
    call("records", "newer", topic="orders", since=ref("records"), key=ref("records[0].key"), header="trace"),
    same("newer[0].offset", 1),
    call("produce", topic="orders", value="plums", partition=1),
    call("wait_for_records", "newest", topic="orders", since=ref("ends"), value="plums"),
    same("newest[0].offset", 3),
    call("epochs", topic="orders", partition=1),
    call("flush", topic="orders", partition=1),
    call("truncate", topic="orders", partition=1, offset=ref("copies[2].offset")),
    call("roll", topic="orders", partition=1),
    call("retain", topic="orders"),
)

PARTITIONS = (
    call("topics", "topics"),
    call("create_topic", name="copy", config=ref("topics{orders}.configs"), replication_factor=3),
    call("partition", "state", topic="orders", partition=0),
    call("wait_for_isr", topic="orders", partition=0, isr=ref("state.isr")),
    call("reassign", topic="orders", partition=0, replicas=ref("state.replicas")),
    call("isr", "isr", topic="orders", partition=0),
    call("wait_for_isr", topic="orders", partition=0, isr=ref("isr")),
    call("bump_epoch", "bumped", topic="orders", partition=0),
    call("wait_for_leader", "led", topic="orders", partition=0, epoch=ref("bumped")),
    call("leader", topic="orders", partition=0),
    call("leader_epoch", topic="orders", partition=0),
    call("move_leader", topic="orders", partition=0, to=ref("state.isr[1]")),
    call("elect_leaders", "elected", topic="orders"),
    same("elected{orders}[0]", 1),
    call("describe_cluster", "cluster"),
    same("cluster.brokers[1].is_fenced", "false"),
    same("cluster.brokers[1].state", "running"),
    call("add_broker", "added"),
    call("wait_for_broker", broker=ref("added")),
    call("bootstrap_on_broker", broker=ref("added"), listener="PLAINTEXT"),
    call("remove_broker", broker=ref("added")),
    call("bootstrap", listener="PLAINTEXT"),
    call("scenario_steps", "steps"),
    same("steps[0].state", "pending"),
    same("steps[0].problem", "null"),
    call("metrics"),
    call("telemetry"),
    call("client_config"),
    call("expire_sasl_sessions"),
    call("acls", "acls"),
    call("delete_acls", "deleted", acls=ref("acls")),
    call("create_acls", acls=ref("deleted")),
)

GROUPS = (
    send(FindCoordinatorRequest(key_type=0, coordinator_keys=["shop"]), 4),
    call("commit_offsets", group="shop", offsets=ByPartition("orders", 1, 2)),
    call("move_coordinator", group="shop", to=1),
    call("groups", "groups"),
    same("groups{shop}.epoch", "null"),
    same("groups{shop}.offsets{orders}[1].offset", 2),
    call("commit_offsets", group="other", offsets=ref("groups{shop}.offsets")),
    call("reset_offsets", "reset", group="other", topic="orders", to="earliest"),
    call("commit_offsets", group="other", offsets=ref("reset")),
    call("wait_for_group", "other", group="other"),
    call("wait_for_group", group="other", state=ref("other.state")),
    call("commit_offsets", group="other", offsets=ByPartition("orders", 1, ref("groups{shop}.offsets{orders}[1]"))),
    send(
        ConsumerGroupHeartbeatRequest(
            group_id="readers",
            member_id="m",
            rebalance_timeout_ms=1000,
            subscribed_topic_names=["orders"],
            topic_partitions=[],
        ),
        1,
        error_at=ERROR_AT,
    ),
    call("wait_for_group", "readers", group="readers", members=1),
    same("readers.type", "consumer"),
    same("readers.assignment_epoch", ref("readers.members[0].epoch")),
    same("readers.members[0].assignment[1].partition", 1),
    call(
        "set_assignment",
        group="readers",
        assignment={ref("readers.members[0].id"): ref("readers.members[0].assignment")},
    ),
    call("expire_member", group="readers", member_id=ref("readers.members[0].id")),
)

TRANSACTIONS = (
    send(FindCoordinatorRequest(key_type=1, coordinator_keys=["pay"]), 4),
    call("move_transaction_coordinator", transactional_id="pay", to=1),
    send(InitProducerIdRequest(transactional_id="pay", transaction_timeout_ms=1000), 4, error_at=ERROR_AT),
    call("transactions", "transactions"),
    same("transactions{pay}.started_ms", "null"),
    call(
        "wait_for_transaction",
        transactional_id=ref("transactions{pay}.id"),
        state=ref("transactions{pay}.state"),
    ),
    call("hang_transaction", topic="orders", partition=0),
)

API = {"api": "Fetch", "client_id": "nobody"}
LINE = {"client_id": "nobody"}

FAULTS: Mapping[str, Mapping[str, Any]] = {
    "fail": {**API, "error": "NOT_LEADER_OR_FOLLOWER"},
    "delay": {**API, "seconds": 0.5},
    "disconnect": API,
    "ignore": API,
    "drop_answer": API,
    "throttle": {**API, "seconds": 1.0},
    "change_field": {**API, "path": "throttleTimeMs", "value": 7},
    "corrupt_records": LINE,
    "stale_metadata": LINE,
    "wrong_correlation_id": API,
    "cut_frame": {**API, "bytes": 8},
    "short_frame": {**API, "bytes": 8},
    "oversized_frame": {**API, "bytes": 8},
    "slow_frame": {**API, "bytes_per_second": 8},
    "refuse_connections": {"broker": 2},
    "latency": {"seconds": 0.5, "link": [1, 2]},
    "bandwidth": {**LINE, "bytes_per_second": 1000},
    "slice_frames": {**LINE, "bytes": 8},
    "reset_after": {**LINE, "bytes": 8},
    "half_open": LINE,
    "slow_close": {**LINE, "seconds": 0.5},
    "disk_full": {"topic": "nowhere"},
    "disk_error": {"topic": "nowhere"},
    "disk_slow": {"topic": "nowhere", "seconds": 0.5},
    "lose_flushes": {"topic": "nowhere"},
}
"""Verb that arms a rule -> a rule that nothing matches."""


def _rules() -> Iterator[Step]:
    """Each rule is armed again from its handle, and from its definition, and removed."""
    for verb, given in FAULTS.items():
        name = verb.replace("_", "")
        yield call(verb, name, **given)
        yield call("arm", f"{name}again", rule=ref(name))
        yield call("arm", rule=ref(f"{name}again.definition"))
        yield call("remove_rule", rule=ref(name))
        yield call("remove_rule", rule=ref(f"{name}again.id"))
    yield call("unused_rules", "unmatched")
    yield call("arm", rule=ref("unmatched[0]"))
    yield call("rules", "rules")
    yield call("remove_rule", rule=ref("rules[1]"))
    yield call("clear_rules")


SNAPSHOTS = (
    call("snapshot", "taken"),
    call("snapshot", name="mine"),
    call("snapshots", "kept"),
    same("kept{mine}.topics", 3),
    call("delete_topic", name="copy"),
    call("restore", snapshot=ref("taken")),
    call("restore", snapshot=ref("kept{mine}")),
    call("drop_snapshot", name=ref("kept{mine}.name")),
    call("topics", "restored"),
    same("restored{copy}.name", "copy"),
)


SECTIONS: Mapping[str, tuple[Step, ...]] = {
    "A request that waits, until the test ends": HELD,
    "Requests": REQUESTS,
    "Records": RECORDS,
    "Partitions, brokers and ACLs": PARTITIONS,
    "Groups": GROUPS,
    "Transactions": TRANSACTIONS,
    "Rules": tuple(_rules()),
    "Snapshots": SNAPSHOTS,
}
"""The steps of the tests, in order, by what they are about."""
