"""What a double with a scenario starts with, and when it is applied."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, KafkaError, UsageError

YAML = """
topics:
  - name: orders
    partitions: 3
    config: {retention.ms: 60000, cleanup.policy: [delete]}
    records:
      - two pears
      - {key: pears, value: "2", partition: 1, headers: {trace: "7"}, timestamp: 7}
      - {base64: /wA=}
      - {key: {base64: /w==}, partition: 2}
  - name: empty
groups:
  - group: shop
    offsets: {orders: {0: 1, 1: 0}, empty: {0: 0}}
rules:
  - match: {api: Produce, topic: orders}
    action: {type: fail, error: NOT_LEADER_OR_FOLLOWER}
    trigger: {times: 2}
"""

TOML = """
[[topics]]
name = "orders"
partitions = 3
config = { "retention.ms" = 60000, "cleanup.policy" = ["delete"] }
records = [
  "two pears",
  { key = "pears", value = "2", partition = 1, headers = { trace = "7" }, timestamp = 7 },
  { base64 = "/wA=" },
  { key = { base64 = "/w==" }, partition = 2 },
]

[[topics]]
name = "empty"

[[groups]]
group = "shop"
[groups.offsets]
orders = { 0 = 1, 1 = 0 }
empty.0 = 0

[[rules]]
match = { api = "Produce", topic = "orders" }
action = { type = "fail", error = "NOT_LEADER_OR_FOLLOWER" }
trigger.times = 2
"""


Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a scenario, and returns its path."""

    def written(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


def contents(kafka: KafkaDouble) -> dict[str, Any]:
    """Everything that the scenario describes."""
    return {
        "partitions": {name: len(topic.partitions) for name, topic in kafka.topics().items()},
        "configs": kafka.topics()["orders"].configs,
        "records": [(record.partition, record.key, record.value, record.headers) for record in kafka.records("orders")],
        "offsets": {at: offset.offset for at, offset in kafka.groups()["shop"].offsets.items()},
        "rules": [handle.rule.to_dict() for handle in kafka.rules],
    }


EXPECTED = {
    "partitions": {"empty": 1, "orders": 3},
    "configs": {"cleanup.policy": "delete", "retention.ms": "60000"},
    "records": [
        (0, None, b"two pears", ()),
        (1, b"pears", b"2", (("trace", b"7"),)),
        (1, None, b"\xff\x00", ()),
        (2, b"\xff", None, ()),
    ],
    "offsets": {("orders", 0): 1, ("orders", 1): 0, ("empty", 0): 0},
    "rules": [
        {
            "match": {"api": "Produce", "topic": "orders"},
            "trigger": {"times": 2},
            "action": {"type": "fail", "error": "NOT_LEADER_OR_FOLLOWER"},
        }
    ],
}


@pytest.mark.parametrize(("name", "text"), [("x.yaml", YAML), ("x.toml", TOML)])
@pytest.mark.parametrize(("brokers", "stepped"), [(1, False), (1, True), (3, False), (3, True)])
def test_a_double_starts_with_its_scenario(write: Write, name: str, text: str, brokers: int, stepped: bool) -> None:
    with KafkaDouble(scenario=write(name, text), brokers=brokers, stepped=stepped) as kafka:
        assert contents(kafka) == EXPECTED
        assert kafka.records("orders", 1)[0].timestamp == 7
        assert kafka.scenario_steps == []


def test_the_path_may_be_a_text(write: Write) -> None:
    with KafkaDouble(scenario=str(write("x.yaml", YAML))) as kafka:
        assert contents(kafka) == EXPECTED


@pytest.mark.parametrize("brokers", [1, 3])
def test_reset_applies_the_scenario_again(write: Write, brokers: int) -> None:
    with KafkaDouble(scenario=write("x.yaml", YAML), brokers=brokers) as kafka:
        for _ in range(2):
            kafka.produce("orders", "more")
            kafka.delete_topic("empty")
            kafka.clear_rules()
            kafka.reset()
            assert contents(kafka) == EXPECTED


def test_a_restore_does_not_apply_it_again(write: Write) -> None:
    with KafkaDouble(scenario=write("x.yaml", YAML)) as kafka:
        kafka.delete_topic("empty")
        snapshot = kafka.snapshot()
        kafka.reset()
        kafka.restore(snapshot)
        assert set(kafka.topics()) == {"orders"}
        assert len(kafka.records("orders")) == 4
        assert kafka.rules == []


def test_each_start_in_memory_applies_it_again(write: Write) -> None:
    kafka = KafkaDouble(scenario=write("x.yaml", YAML))
    for _ in range(2):
        with kafka:
            assert contents(kafka) == EXPECTED
            kafka.produce("orders", "more")
            kafka.start()  # it runs already
            assert len(kafka.records("orders")) == 5


def test_scenario_keeps_the_contents_of_a_data_directory(write: Write, tmp_path: Path) -> None:
    kafka = KafkaDouble(scenario=write("x.yaml", YAML), data_dir=tmp_path / "data")
    with kafka:
        kafka.produce("orders", "more")
        kafka.delete_topic("empty")
        kafka.commit_offsets("shop", {("orders", 0): 0})
    with kafka:
        assert len(kafka.records("orders")) == 5  # no record is there twice
        assert set(kafka.topics()) == {"orders", "empty"}
        assert kafka.groups()["shop"].offsets["orders", 0].offset == 0
        assert len(kafka.rules) == 1


def test_a_topic_of_another_number_of_partitions_is_refused(write: Write, tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path / "data") as kafka:
        kafka.create_topic("orders", 2)
    path = write("x.yaml", YAML)
    with pytest.raises(UsageError, match=rf"{path}:3:5: the topic is there already, with 2 partitions"):
        KafkaDouble(scenario=path, data_dir=tmp_path / "data").start()
    path = write("x.yaml", "topics: [{name: orders, partitions: -1}]")
    with KafkaDouble(scenario=path, data_dir=tmp_path / "data") as kafka:
        assert len(kafka.topics()["orders"].partitions) == 2


def test_the_broker_may_decide_the_number_of_partitions(write: Write) -> None:
    text = "topics: [{name: a, partitions: -1, records: [{value: x, partition: 4}]}]"
    with KafkaDouble(scenario=write("x.yaml", text), config={"num.partitions": 5}) as kafka:
        assert kafka.end_offsets("a") == {0: 0, 1: 0, 2: 0, 3: 0, 4: 1}


REFUSED = {
    "a name that Kafka refuses": ("topics: [{name: ok}, {name: a/b}]", "1:22: Topic name is invalid"),
    "no partition": ("topics: [{name: ok}, {name: a, partitions: 0}]", "1:22: "),
    "too many replicas": ("topics: [{name: ok}, {name: a, replication_factor: 3}]", "1:22: "),
    "an unknown config": ("topics: [{name: ok}, {name: a, config: {retention: 1}}]", "1:22: "),
    "a config that is no text": ("topics: [{name: a, config: {x: {}}}]", "1:10: a setting is a text, a number,"),
    "a broker that is not there": (
        "topics: [{name: ok}]\nrules: [{match: {api: Fetch, broker: 7}, action: {type: ignore}}]",
        "2:9: there is no broker 7",
    ),
    "a disk that is not there": ("topics: [{name: ok}]\nrules: [{action: {type: disk_full}}]", "2:9: the logs are in memory"),
    "offsets of a topic that is not there": (
        "topics: [{name: ok}]\ngroups: [{group: g, offsets: {a: {0: 1}}}]",
        "2:10: there is no partition a-0",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=list(REFUSED))
def test_scenario_that_the_cluster_refuses_changes_nothing(
    write: Write, tmp_path: Path, text: str, problem: str
) -> None:
    path = write("x.yaml", text)
    kafka, before = KafkaDouble(scenario=path), threading.active_count()
    with pytest.raises((UsageError, KafkaError), match=f"{path}:{problem}"):
        kafka.start()
    assert threading.active_count() == before
    with KafkaDouble() as kafka:
        from kafkadouble.scenario import apply, scenario

        with pytest.raises((UsageError, KafkaError), match=f"{path}:{problem}"):
            apply.begin(kafka, scenario.load(path))
        assert kafka.topics() == {}
        assert kafka.rules == []
        assert kafka.groups() == {}


def test_a_record_that_the_broker_refuses_is_named(write: Write) -> None:
    path = write("x.yaml", "topics:\n- name: a\n  config: {cleanup.policy: compact}\n  records: [{key: k}, no key]\n")
    with pytest.raises(KafkaError, match=rf"INVALID_RECORD: {path}:4:12: record 2: "):
        KafkaDouble(scenario=path).start()


def test_a_double_starts_after_a_scenario_that_failed(write: Write, tmp_path: Path) -> None:
    kafka = KafkaDouble(scenario=write("x.yaml", "topics: [{name: a, replication_factor: 3}]"), port=0)
    for _ in range(2):
        with pytest.raises(KafkaError, match="INVALID_REPLICATION_FACTOR"):
            kafka.start()
    with pytest.raises(UsageError, match="the double was stopped"):
        kafka.topics()


def test_a_scenario_is_silent(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), KafkaDouble(scenario=write("x.yaml", YAML)):
        pass
    assert caplog.records == []
