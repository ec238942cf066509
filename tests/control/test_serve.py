"""`kafkadouble serve --control-port`: the verbs over HTTP, beside a real client."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import Producer

from tests.control.http import call, post
from tests.support.serving import run, serving


def test_a_client_meets_a_rule_that_was_armed_over_http() -> None:
    with serving("--control-port", "0", "--topic", "orders:2") as served:
        url = served.control_url()
        assert call(url, "GET", "/ready").json["bootstrap_servers"] == served.startup["bootstrap.servers"]
        rule = post(url, "fail", api="Produce", error="NOT_LEADER_OR_FOLLOWER")
        producer = Producer({"bootstrap.servers": served.startup["bootstrap.servers"], "log_level": 0})
        producer.produce("orders", "two pears", partition=1)
        assert producer.flush(30) == 0
        post(url, "wait_for_rule", rule=rule["id"])
        (record,) = post(url, "wait_for_records", topic="orders")
        assert (record["partition"], record["value"]) == (1, "two pears")
        assert [each["errors"] for each in post(url, "assert_seen", apis=["Produce"])] == [
            ["NOT_LEADER_OR_FOLLOWER"],
            [],
        ]
        post(url, "reset")
        assert [len(each["partitions"]) for each in post(url, "topics").values()] == [2]
        assert post(url, "records", topic="orders") == []
        assert served.end()[0] == 0


def test_a_cluster_is_driven_over_http() -> None:
    with serving("--control-port", "0", "--brokers", "3") as served:
        url = served.control_url()
        post(url, "create_topic", name="orders", replication_factor=3)
        leader = post(url, "leader", topic="orders", partition=0)
        post(url, "kill_broker", broker=leader)
        assert post(url, "describe_cluster")["brokers"][str(leader)]["state"] == "stopped"
        assert post(url, "wait_for_leader", topic="orders", partition=0, epoch=1, timeout=30) != leader
        post(url, "up", broker=leader)
        assert served.end(signal.SIGINT)[0] == 0


@pytest.mark.parametrize("brokers", [1, 3])
def test_a_stepped_clock_stands_still_until_it_is_advanced(brokers: int) -> None:
    with serving("--control-port", "0", "--stepped", "--brokers", str(brokers), "--topic", "orders") as served:
        url = served.control_url()
        before = post(url, "describe_cluster")["now_ms"]
        assert post(url, "describe_cluster")["now_ms"] == before
        post(url, "produce", topic="orders", value="two pears")
        post(url, "advance", seconds=45)
        assert post(url, "describe_cluster")["now_ms"] == before + 45_000
        assert post(url, "records", topic="orders")[0]["timestamp"] == before
        post(url, "reset")
        assert list(post(url, "topics")) == ["orders"]
        assert served.end()[0] == 0


def test_a_wait_does_not_keep_the_process() -> None:
    with serving("--control-port", "0") as served:
        url = served.control_url()
        with ThreadPoolExecutor() as pool:
            wait = pool.submit(call, url, "POST", "/verbs/wait_for_topic", {"topic": "none", "timeout": 600})
            # Until the wait has begun: its connection is there.
            call(url, "GET", "/health")
            assert served.end()[0] == 0
            assert wait.exception() is not None or wait.result().status in (400, 500)


def test_the_names_that_clients_are_given_are_allowed() -> None:
    words = ("--advertised", "kafka.example.org:0", "--control-allowed-hosts", "ctl.example.org,.ci.example.org")
    with serving("--control-port", "0", *words) as served:
        assert served.startup
        url = served.control_url()
        for host, status in (
            ("kafka.example.org", 200),
            ("ctl.example.org:9099", 200),
            ("job1.ci.example.org", 200),
            ("localhost", 200),
            ("other.example.org", 403),
            ("kafka", 403),
        ):
            assert call(url, "GET", "/health", None, {"Host": host}).status == status
        assert served.end()[0] == 0


def test_a_port_that_is_taken_is_named() -> None:
    with serving("--control-port", "0") as served:
        port = served.control_url().rpartition(":")[2]
        ended = run("serve", "--port", "0", "--control-port", port)
        assert ended.returncode == 1
        assert f"127.0.0.1:{port} is taken" in ended.stderr


def test_the_page_has_a_line() -> None:
    with serving("--page") as served:
        url = served.control_url()
        assert served.process.stdout is not None
        assert served.process.stdout.readline() == f"page.url={url}/\n"
        assert call(url, "GET", "/").status == 200
        assert served.end()[0] == 0
