"""What a verb returns can be given to each verb that takes it, in Python and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.common.errors import UsageError
from kafkadouble.control.calls.verb_calls import described
from kafkadouble.coordinators.group_values import Committed
from kafkadouble.verbs.cluster.snapshots import MOST_SNAPSHOTS
from kafkadouble.verbs.registry import VERBS
from tests.front import hello
from tests.front.verbs.members import join_consumer_group

Call = Callable[..., Any]


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(
        stepped=True, acls=["User:ANONYMOUS allow ALL topic:*", "User:ANONYMOUS allow ALL group:*"]
    ) as double:
        double.create_topic("orders", 2, {"cleanup.policy": "compact"})
        double.produce("orders", "pears", key="a", headers={"trace": b"\xff"}, partition=1, timestamp=7)
        double.commit_offsets("shop", {("orders", 1): Committed(1, "note")})
        yield double


def of_python(kafka: KafkaDouble) -> Call:
    return lambda verb, **given: VERBS[verb].call(kafka, **given)


def of_json(kafka: KafkaDouble) -> Call:
    def call(verb: str, **given: Any) -> Any:
        return json.loads(json.dumps(VERBS[verb].call_json(kafka, json.loads(json.dumps(given)))))

    return call


@pytest.fixture(params=[of_python, of_json], ids=["python", "json"])
def call(request: pytest.FixtureRequest, kafka: KafkaDouble) -> Call:
    made: Call = request.param(kafka)
    return made


def ask_versions(kafka: KafkaDouble) -> None:
    with hello.connect(kafka) as sock:
        hello.says_hello(sock)


def field(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, dict) else getattr(value, name)


def test_records_are_produced_again_with_their_timestamps(call: Call, kafka: KafkaDouble) -> None:
    kafka.create_topic("copies")
    assert call("produce_all", topic="copies", records=call("records", topic="orders")) == 1
    (record,) = kafka.records("copies")
    assert record[1:] == (0, 0, 7, b"a", b"pears", (("trace", b"\xff"),))


def test_the_parts_of_a_record_are_produced_again(call: Call, kafka: KafkaDouble) -> None:
    (record,) = call("records", topic="orders")
    parts = {name: field(record, name) for name in ("key", "value", "headers", "partition", "timestamp")}
    assert call("produce", topic="orders", **parts) == 1
    first, second = kafka.records("orders")
    assert second == first._replace(offset=1)


def test_offsets_of_a_group_are_committed_again(call: Call, kafka: KafkaDouble) -> None:
    call("commit_offsets", group="other", offsets=field(call("groups")["shop"], "offsets"))
    assert kafka.groups()["other"].offsets == {("orders", 1): Committed(1, "note")}


def test_offsets_that_were_reset_are_committed_again(call: Call, kafka: KafkaDouble) -> None:
    call("commit_offsets", group="other", offsets=call("reset_offsets", group="shop", topic="orders", to="latest"))
    assert kafka.groups()["other"].offsets[("orders", 1)].offset == 1


@pytest.mark.parametrize("wrong", [Committed(-1, ""), Committed(1, None)], ids=repr)  # type: ignore[arg-type]
def test_a_wrong_committed_offset_is_refused(kafka: KafkaDouble, wrong: Committed) -> None:
    with pytest.raises(UsageError, match="offsets is a mapping"):
        kafka.commit_offsets("shop", {("orders", 0): wrong})


def test_rule_handle_is_a_parameter_of_verbs(call: Call, kafka: KafkaDouble) -> None:
    handle = call("fail", api="ApiVersions", error="UNKNOWN_SERVER_ERROR")
    again = call("arm", rule=handle)
    call("remove_rule", rule=handle)
    assert [rule.id for rule in kafka.rules] == [2]
    ask_versions(kafka)
    call("wait_for_rule", rule=again)


def test_the_rule_of_a_handle_and_unused_rules_are_armed_again(call: Call, kafka: KafkaDouble) -> None:
    handle = call("delay", api="Fetch", seconds=1.5)
    call("arm", rule=field(handle, "rule"))
    for rule in call("unused_rules"):
        call("arm", rule=rule)
    assert len({repr(rule.rule) for rule in kafka.rules}) == 1
    assert len(kafka.rules) == 4


def test_a_snapshot_is_restored_with_and_without_a_name(call: Call, kafka: KafkaDouble) -> None:
    for name in (None, "one"):
        taken = call("snapshot", name=name)
        kafka.delete_topic("orders")
        call("restore", snapshot=taken)
        assert len(kafka.records("orders")) == 1
    call("restore", snapshot=call("snapshots")["one"])


def test_unnamed_snapshots_of_json_make_room_for_each_other_and_for_no_named_one(kafka: KafkaDouble) -> None:
    call = of_json(kafka)
    call("snapshot", name="mine")
    taken = [call("snapshot") for _ in range(MOST_SNAPSHOTS + 2)]
    assert len(kafka.snapshots) == MOST_SNAPSHOTS
    assert "mine" in kafka.snapshots
    call("restore", snapshot=taken[-1])
    with pytest.raises(UsageError, match=f"there is no snapshot '{taken[0]['name']}'"):
        call("restore", snapshot=taken[0])


def test_a_request_is_where_other_requests_begin(call: Call, kafka: KafkaDouble) -> None:
    for _ in range(3):
        ask_versions(kafka)
    first, *rest = call("requests")
    assert call("assert_seen", since=first, times=2) == rest
    assert field(call("wait_for_request", api="ApiVersions", since=first), "number") == field(rest[0], "number")
    call("assert_not_seen", since=rest[-1])
    assert call("requests", since=field(first, "time"))


def test_response_of_a_seen_request_is_a_body_again(call: Call, kafka: KafkaDouble) -> None:
    ask_versions(kafka)
    (seen,) = call("requests", apis=["ApiVersions"])
    call("respond", api="ApiVersions", body=field(seen, "answer"))
    ask_versions(kafka)
    assert field(call("requests")[-1], "answer") == field(seen, "answer")


def test_partitions_of_a_member_are_assigned_again(call: Call, kafka: KafkaDouble) -> None:
    join_consumer_group(kafka, "members", "orders")
    (member,) = field(call("groups")["members"], "members")
    call("set_assignment", group="members", assignment={field(member, "id"): field(member, "assignment")})
    call("expire_member", group="members", member_id=field(member, "id"))


def test_partitions_as_objects_are_assigned(kafka: KafkaDouble) -> None:
    join_consumer_group(kafka, "members", "orders")
    (member,) = kafka.groups()["members"].members
    partitions = [{"topic": "orders", "partition": 1}, ["orders", 0]]
    of_json(kafka)("set_assignment", group="members", assignment={member.id: partitions})


def test_brokers_configs_and_acls_are_given_back(call: Call, kafka: KafkaDouble) -> None:
    state = call("partition", topic="orders", partition=0)
    call("wait_for_isr", topic="orders", partition=0, isr=field(state, "isr"))
    call("reassign", topic="orders", partition=0, replicas=field(state, "replicas"))
    call("wait_for_leader", topic="orders", partition=0, epoch=call("bump_epoch", topic="orders", partition=0))
    call("create_topic", name="other", config=field(call("topics")["orders"], "configs"))
    assert kafka.topics()["other"].configs == {"cleanup.policy": "compact"}
    removed = call("delete_acls", acls=call("acls"))
    call("create_acls", acls=removed)
    assert kafka.acls == removed
    call("lint", ignore=[field(each, "rule") for each in call("lint")])


def test_no_text_of_the_control_plane_names_what_only_python_has() -> None:
    for each in described():
        own = [one.name for one in VERBS[each["name"]].parameters.values() if one.schema is None]
        words = " ".join([each["summary"], *(one["allowed"] for one in each["parameters"])])
        named = [name for name in own if re.search(rf"`{name}`|\b{name}=", words)]
        assert (named, re.findall(r"SeenRequest|RuleHandle|a function", words)) == ([], []), each["name"]
        assert each["summary"].endswith(".")
