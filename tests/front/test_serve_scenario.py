"""`kafkadouble serve --scenario FILE`: the file is checked before a port is bound, and everything
is there when the first line is printed."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkadouble.cli.serve import WRONG_USE
from tests.control.http import post
from tests.support.serving import run, serving

SCENARIO = """
[[topics]]
name = "orders"
partitions = 2
records = ["two pears", { key = "k", value = "three", partition = 1 }]

[[groups]]
group = "shop"
offsets.orders = { 0 = 1 }

[[steps]]
at = 0.05
verb = "produce"
topic = "orders"
value = "late"
partition = 0

[[steps]]
at = 3600
verb = "down"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "orders.toml"
    path.write_text(SCENARIO)
    return path


@pytest.mark.parametrize("brokers", ["1", "3"])
def test_clients_find_the_scenario(scenario: Path, brokers: str) -> None:
    with serving("--scenario", str(scenario), "--brokers", brokers) as served:
        settings: Any = {"bootstrap.servers": served.startup["bootstrap.servers"], "group.id": "shop"}
        consumer = Consumer(settings)
        try:
            (committed,) = consumer.committed([TopicPartition("orders", 0)], timeout=30)
            assert committed.offset == 1
            consumer.assign([TopicPartition("orders", 0, 0)])
            found = [message.value() for message in consumer.consume(2, timeout=30)]
            assert found == [b"two pears", b"late"]
        finally:
            consumer.close()
        code, log = served.end()
        assert code == 0
        assert "ended" in log


def test_the_control_plane_has_the_same_double(scenario: Path) -> None:
    with serving("--scenario", str(scenario), "--control-port", "0", "--topic", "payments") as served:
        url = served.control_url()
        post(url, "wait_for_records", topic="orders", count=3)
        steps = post(url, "scenario_steps")
        assert [(step["verb"], step["state"]) for step in steps] == [("produce", "done"), ("down", "pending")]
        post(url, "delete_topic", name="orders")
        post(url, "reset")
        assert sorted(post(url, "topics")) == ["orders", "payments"]
        assert len(post(url, "records", topic="orders", partition=1)) == 1
        assert served.end()[0] == 0


def test_a_wrong_scenario_ends_it_before_a_port_is_bound(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("topics:\n- name: a\n  partitons: 3\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:  # a bind would be another error
        done = run("serve", "--port", str(taken.getsockname()[1]), "--scenario", str(path))
    assert (done.returncode, done.stdout) == (WRONG_USE, "")
    assert done.stderr.startswith(
        f"kafkadouble: {path}:3:3: a topic has no field 'partitons'; did you mean 'partitions'?"
    )
    done = run("serve", "--port", "0", "--scenario", str(tmp_path / "absent.yaml"))
    assert (done.returncode, done.stdout) == (WRONG_USE, "")
    assert "No such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("topics: [{name: a, replication_factor: 3}]", r"INVALID_REPLICATION_FACTOR: .*x\.yaml:1:10: "),
        ("rules: [{match: {api: Fetch, broker: 7}, action: {type: ignore}}]", r"x\.yaml:1:9: there is no broker 7"),
        (
            "rules: [{match: {link: [1, 2]}, action: {type: latency, seconds: 1}}]",
            r"x\.yaml:1:9: .*: give `kafkadouble serve --brokers 2` or more",
        ),
    ],
)
def test_a_scenario_that_the_brokers_refuse_ends_it(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    done = run("serve", "--port", "0", "--scenario", str(path))
    assert (done.returncode, done.stdout) == (WRONG_USE, "")
    assert re.search(problem, done.stderr)


def test_a_topic_is_given_once(scenario: Path) -> None:
    done = run("serve", "--port", "0", "--scenario", str(scenario), "--topic", "orders")
    assert done.returncode == WRONG_USE
    assert f"{scenario}:2:3: --topic orders is there, too: give the topic once" in done.stderr


def test_a_data_directory_is_served_again(scenario: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with serving("--scenario", str(scenario), "--data-dir", str(tmp_path / "data")) as served:
            assert served.end()[0] == 0
