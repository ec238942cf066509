"""Calls that cannot have been meant for a cluster are refused in one sentence and change nothing;
calls that make sense are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble.brokers.broker_handle import BrokerHandle
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask
from tests.support.ports import free_ports
from tests.support.serving import run, serving
from tests.support.waiting import eventually

SESSION_S, LAG_S = 10, 35


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=3, stepped=True, seed=20261121) as kafka:
        kafka.create_topic("t", replication_factor=3)
        yield kafka


WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "a broker that there is not": (lambda kafka: kafka.brokers[9], "there is no broker 9: ids are 1 to 3"),
    "the broker before the first": (lambda kafka: kafka.brokers[0], "there is no broker 0: ids are 1 to 3"),
    "a broker by a text": (lambda kafka: kafka.brokers["1"], "there is no broker '1': ids are 1 to 3"),
    "a leader by a text": (lambda kafka: kafka.move_leader("t", 0, to="2"), "to is the id of a broker, not '2'"),
    "a leader by its handle": (
        lambda kafka: kafka.move_leader("t", 0, to=kafka.brokers[2]),
        "to is the id of a broker, not <broker 2 at",
    ),
    "no id as leader": (lambda kafka: kafka.move_leader("t", 0, to=None), "to is the id of a broker, not None"),
    "truth as leader": (lambda kafka: kafka.unclean_election("t", 0, to=True), "to is the id of a broker, not True"),
    "a partition by a text": (lambda kafka: kafka.leader("t", "0"), "partition is an index from 0, not '0'"),
    "a topic by bytes": (lambda kafka: kafka.isr(b"t", 0), "topic is a name, not b't'"),
    "a rule of no broker": (lambda kafka: kafka.fail("Fetch", 6, broker=9), "there is no broker 9 that a rule could"),
    "a rule of the controller": (
        lambda kafka: kafka.fail("Fetch", 6, broker=4),
        "there is no broker 4 that a rule could",
    ),
    "no group": (lambda kafka: kafka.move_coordinator(None, to=1), "group is a name, not None"),
}


@pytest.mark.parametrize(("verb", "message"), WRONG.values(), ids=WRONG)
def test_invalid_call_of_a_cluster_verb_is_refused(
    kafka: KafkaDouble, verb: Callable[[Any], object], message: str
) -> None:
    before = kafka.leader("t", 0), kafka.leader_epoch("t", 0)
    with pytest.raises(UsageError, match=message):
        verb(kafka)
    assert (kafka.leader("t", 0), kafka.leader_epoch("t", 0)) == before


def test_broker_handles_are_a_mapping(kafka: KafkaDouble) -> None:
    assert (9 in kafka.brokers, kafka.brokers.get(9), sorted(kafka.brokers)) == (False, None, [1, 2, 3])


def test_a_stopped_broker_is_not_paused_and_leads_nothing(kafka: KafkaDouble) -> None:
    """Neither at once, when the metadata still list the broker as alive, nor later."""
    broker = kafka.brokers[2]
    broker.kill()
    for _ in range(2):
        with pytest.raises(UsageError, match="broker 2 does not run: there is nothing to pause"):
            broker.pause()
        with pytest.raises(KafkaError, match="ELIGIBLE_LEADERS_NOT_AVAILABLE: broker 2 does not run: start it first"):
            kafka.move_leader("t", 0, to=2)
        with pytest.raises(KafkaError, match="ELIGIBLE_LEADERS_NOT_AVAILABLE: broker 2 does not run: start it first"):
            kafka.move_coordinator("g", to=2)
        kafka.advance(SESSION_S)


def test_repeated_cluster_verb_has_no_further_effect(kafka: KafkaDouble) -> None:
    broker = kafka.brokers[2]
    broker.start()  # the broker runs already
    done(broker, "resume", "join")
    assert (broker.running, kafka.isr("t", 0)) == (True, [1, 2, 3])
    done(broker, "pause", "pause", "resume", "isolate", "isolate", "join")
    done(broker, "kill", "kill", "stop", "resume", "join")
    assert (broker.running, kafka.brokers[1].running) == (False, True)
    done(broker, "start", "start")
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 2, 3]


def done(broker: BrokerHandle, *verbs: str) -> None:
    for verb in verbs:
        getattr(broker, verb)()


def test_a_broker_that_is_cut_off_stays_so_over_its_lives(kafka: KafkaDouble) -> None:
    kafka.brokers[2].kill()
    kafka.brokers[2].isolate()
    kafka.brokers[2].start()
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 3]
    kafka.brokers[2].join()
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 2, 3]


def alone(kafka: KafkaDouble) -> None:
    """Broker 1 was the leader and the only in-sync replica, and is dead; the others run and lack
    its last record."""
    kafka.move_leader("t", 0, to=1)
    kafka.produce("t", "kept")
    for id in (2, 3):
        kafka.brokers[id].isolate()
    kafka.advance(LAG_S)
    kafka.produce("t", "lost")
    kafka.brokers[1].kill()
    for id in (2, 3):
        kafka.brokers[id].join()
    kafka.advance(SESSION_S)
    assert kafka.leader("t", 0) is None


@pytest.mark.parametrize("to", [2, 3])
def test_an_unclean_election_is_won_by_the_broker_that_is_named(kafka: KafkaDouble, to: int) -> None:
    alone(kafka)
    assert kafka.unclean_election("t", 0, to=to) == to
    assert kafka.leader("t", 0) == to
    assert [record.value for record in kafka.records("t")] == [b"kept"]
    kafka.brokers[1].start()
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 2, 3]
    with pytest.raises(KafkaError, match="ELECTION_NOT_NEEDED"):
        kafka.unclean_election("t", 0, to=to)
    assert kafka.produce("t", "new") == 1
    kafka.move_leader("t", 0, to=1)
    assert [record.value for record in kafka.records("t")] == [b"kept", b"new"]


def test_an_unclean_election_elects_no_unfit_broker(kafka: KafkaDouble) -> None:
    kafka.create_topic("two", replication_factor=2)
    [stranger] = {1, 2, 3} - {*kafka.isr("two", 0)}
    alone(kafka)
    with pytest.raises(KafkaError, match=f"REPLICA_NOT_AVAILABLE: broker {stranger} has no replica of two-0"):
        kafka.unclean_election("two", 0, to=stranger)
    with pytest.raises(KafkaError, match="ELIGIBLE_LEADERS_NOT_AVAILABLE: broker 1 does not run: start it first"):
        kafka.unclean_election("t", 0, to=1)
    kafka.brokers[3].isolate()
    kafka.advance(SESSION_S)
    with pytest.raises(KafkaError, match="ELIGIBLE_LEADERS_NOT_AVAILABLE"):
        kafka.unclean_election("t", 0, to=3)
    assert kafka.leader("t", 0) is None
    assert kafka.unclean_election("t", 0) == 2


def test_directories_of_another_number_of_brokers_are_refused_and_let_go(tmp_path: Path) -> None:
    with KafkaDouble(brokers=3, stepped=True, data_dir=tmp_path) as kafka:
        kafka.create_topic("t", replication_factor=3)
        kafka.produce("t", "kept")
    for brokers in (1, 2, 4):
        with pytest.raises(UsageError, match=f"of a cluster of 3 brokers, not of {brokers}"):
            KafkaDouble(brokers=brokers, stepped=True, data_dir=tmp_path).start()
    with KafkaDouble(brokers=3, stepped=True, data_dir=tmp_path) as kafka:
        assert [record.value for record in kafka.records("t")] == [b"kept"]
        with pytest.raises(UsageError, match="is in use: another broker has it open"):
            KafkaDouble(brokers=3, stepped=True, data_dir=tmp_path).start()
    ended = run("serve", "--port", "0", "--brokers", "2", "--data-dir", str(tmp_path))
    assert (ended.returncode, "Traceback" in ended.stderr) == (3, False)
    assert "of a cluster of 3 brokers, not of 2" in ended.stderr


def test_a_start_that_fails_leaves_the_directories_to_others(tmp_path: Path) -> None:
    """Also if the start fails only at the second broker."""
    with KafkaDouble(brokers=2, stepped=True, data_dir=tmp_path):
        pass
    meta = tmp_path / "broker-2" / "meta.properties"
    kept = meta.read_text("utf-8")
    meta.write_text(kept.replace("node.id=2", "node.id=7"), "utf-8")
    for _ in range(2):
        with pytest.raises(UsageError, match="broker-2 belongs to node 7"):
            KafkaDouble(brokers=2, stepped=True, data_dir=tmp_path).start()
    meta.write_text(kept, "utf-8")
    with KafkaDouble(brokers=2, stepped=True, data_dir=tmp_path) as kafka:
        kafka.create_topic("t")


def test_nodes_of_other_processes_join_a_cluster_by_its_controller(tmp_path: Path) -> None:
    """`controller_port`: a broker in another process joins the cluster, gets replicas, and follows
    their leaders."""
    with KafkaDouble(brokers=2, controller_port=0) as kafka:
        where = kafka.controller_bootstrap_servers
        assert where not in kafka.bootstrap_servers.split(",")
        described = ask(where, DescribeClusterRequest(endpoint_type=2), 1)
        assert [(node.broker_id, f"{node.host}:{node.port}") for node in described.brokers] == [(3, where)]
        [own] = free_ports(1)
        lines = {
            "process.roles": "broker",
            "node.id": 9,
            "controller.quorum.bootstrap.servers": where,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{own}",
            "log.dirs": tmp_path / "nine",
        }
        file = tmp_path / "nine.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()), "utf-8")
        formatted = run("format", "-t", described.cluster_id, "-c", str(file))
        assert formatted.returncode == 0, formatted.stderr
        with serving("--config", str(file)) as other:
            eventually(lambda: len(other.ask(MetadataRequest(topics=None), 12).brokers) == 3)
            eventually(lambda: created(kafka, 3))
            kafka.produce("wide", "everywhere")
            assert kafka.isr("wide", 0) == [1, 2, 9]
            eventually(lambda: kafka.move_leader("wide", 0, to=9) > 0)
            assert kafka.leader("wide", 0) == 9
            assert other.end()[0] == 0
        eventually(lambda: kafka.leader("wide", 0) in (1, 2))
        assert [record.value for record in kafka.records("wide")] == [b"everywhere"]
        with pytest.raises(UsageError, match="there is no broker 9"):
            kafka.brokers[9]


def created(kafka: KafkaDouble, replicas: int) -> bool:
    """Creates the topic `wide`; False while fewer brokers than `replicas` are registered."""
    try:
        kafka.create_topic("wide", replication_factor=replicas)
    except KafkaError as problem:
        if problem.error != "INVALID_REPLICATION_FACTOR":
            raise
        return False
    return True
