"""Brokers that go down and up, that are added and removed, and whose sessions end."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.front.verbs.members import join
from tests.support.client import ask

OF_CLUSTERS = pytest.mark.parametrize("kafka", [(3, False), (3, True)], ids=["three", "three, in files"], indirect=True)


def refuses(address: str) -> bool:
    """Whether connections to HOST:PORT are refused."""
    try:
        ask(address, MetadataRequest(topics=None), 9)
    except ConnectionRefusedError:
        return True
    return False


def values(kafka: KafkaDouble, topic: str = "t") -> list[bytes | None]:
    return [record.value for record in kafka.records(topic)]


def test_double_that_goes_down_and_up_keeps_data_and_rules(kafka: KafkaDouble) -> None:
    addresses = kafka.bootstrap_servers.split(",")
    kafka.produce("t", "a", partition=0)
    kafka.commit_offsets("g", {("t", 0): 1})
    rule = kafka.fail("Fetch", "NOT_LEADER_OR_FOLLOWER")
    for _ in range(2):
        kafka.down()
        kafka.down()
        assert all(map(refuses, addresses))
        kafka.up()
        kafka.up()
        assert not any(map(refuses, addresses))
        assert kafka.bootstrap_servers.split(",") == addresses
    assert values(kafka) == [b"a"]
    assert kafka.groups()["g"].offsets["t", 0].offset == 1
    assert [rule.rule for rule in kafka.rules] == [rule.rule]
    rule.remove()
    assert kafka.rules == []
    assert kafka.produce("t", "b", partition=0) == 1
    assert kafka.end_offsets("t") == {0: 2, 1: 0}


def test_verbs_of_a_double_that_is_down_say_so(kafka: KafkaDouble) -> None:
    kafka.produce("t", "a", partition=0)
    kafka.down()
    for call in (lambda: kafka.produce("t", "b", partition=0), lambda: kafka.records("t")):
        with pytest.raises(KafkaError, match=r"(BROKER|LEADER)_NOT_AVAILABLE: "):
            call()
    assert "down" in repr(kafka) or "not running" in repr(kafka)
    assert len(kafka.requests) == 0
    kafka.advance(10)
    kafka.up()
    assert values(kafka) == [b"a"]
    kafka.down()
    kafka.reset()
    assert kafka.topics() == {}
    assert not any(map(refuses, kafka.bootstrap_servers.split(",")))
    kafka.down()


def test_a_single_broker_that_is_down() -> None:
    with KafkaDouble() as kafka:
        kafka.down(1)
        for call in (
            lambda: kafka.produce("t", "a"),
            lambda: kafka.create_topic("u"),
            lambda: kafka.records("t"),
            lambda: kafka.topics(),
            lambda: kafka.bump_epoch("t", 0),
            lambda: kafka.leader("t", 0),
            lambda: kafka.commit_offsets("g", {("t", 0): 0}),
        ):
            with pytest.raises(KafkaError, match=r"BROKER_NOT_AVAILABLE: the broker is down: `up` starts it"):
                call()
        assert kafka.groups() == {}
        kafka.up(1)
        for verb in (kafka.down, kafka.up):
            with pytest.raises(UsageError, match="there is no broker 2: the only one is 1"):
                verb(2)
            with pytest.raises(UsageError, match="broker is the id of a broker, not '1'"):
                verb("1")  # type: ignore[arg-type]
        for call in (kafka.add_broker, lambda: kafka.remove_broker(1), lambda: kafka.expire_session(1)):
            with pytest.raises(UsageError, match=r"a single broker cannot .*: give brokers=2 or more"):
                call()


def test_a_double_that_is_down_stops_and_starts(tmp_path: Path) -> None:
    for brokers in (1, 3):
        kafka = KafkaDouble(brokers=brokers, data_dir=tmp_path / str(brokers))
        with kafka:
            port = kafka.port
            kafka.produce("t", "a")
            kafka.down()
        with kafka:
            assert kafka.port == port
            assert values(kafka) == [b"a"]


@pytest.mark.parametrize("brokers", [1, 2])
def test_a_client_gets_over_an_outage(brokers: int) -> None:
    with KafkaDouble(brokers=brokers, config={"default.replication.factor": brokers}) as kafka:
        delivered: list[object] = []
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "reconnect.backoff.max.ms": 100})
        producer.produce("t", b"a", on_delivery=lambda error, _: delivered.append(error))
        assert producer.flush(20) == 0
        kafka.down()
        producer.produce("t", b"b", on_delivery=lambda error, _: delivered.append(error))
        producer.poll(0.1)
        kafka.up()
        assert producer.flush(20) == 0
        assert delivered == [None, None]
        assert values(kafka) == [b"a", b"b"]


@pytest.mark.parametrize(("brokers", "in_files"), [(1, True), (3, False)])
def test_a_transaction_survives_an_outage(brokers: int, in_files: bool, tmp_path: Path) -> None:
    config = {"default.replication.factor": brokers}
    with KafkaDouble(brokers=brokers, config=config, data_dir=tmp_path if in_files else None) as kafka:
        producer = Producer(
            {
                "bootstrap.servers": kafka.bootstrap_servers,
                "transactional.id": "id",
                "reconnect.backoff.max.ms": 100,
                "log_level": 0,
            }
        )
        producer.init_transactions(30)
        for value in (b"a", b"b"):
            producer.begin_transaction()
            producer.produce("t", value)
            assert producer.flush(30) == 0
            kafka.down()
            kafka.up()
            producer.commit_transaction(30)
        records = kafka.records("t", isolation="read_committed")
        assert [record.value for record in records] == [b"a", b"b"]
        assert kafka.transactions()["id"].state == "CompleteCommit"


def test_members_of_a_group_survive_as_by_kafka() -> None:
    """A coordinator that starts loads the group with its members, whose sessions begin again."""
    with KafkaDouble(stepped=True, config={"group.initial.rebalance.delay.ms": 0}) as kafka:
        member = join(kafka, "g", 10_000)
        kafka.down()
        kafka.advance(60)
        kafka.up()
        assert [member.id for member in kafka.groups()["g"].members] == [member]
        kafka.advance(11)
        assert kafka.groups()["g"].members == ()


@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.parametrize("in_files", [False, True])
def test_down_up_add_and_remove_leave_no_descriptor_or_thread(brokers: int, in_files: bool, tmp_path: Path) -> None:
    with KafkaDouble(brokers=brokers, stepped=True, data_dir=tmp_path if in_files else None) as kafka:
        kafka.create_topic("t", replication_factor=brokers)
        kafka.produce("t", "a")

        def resources() -> tuple[int, int]:
            return len(os.listdir("/proc/self/fd")), threading.active_count()

        def round_trip() -> None:
            kafka.down()
            kafka.up()
            if brokers > 1 and not in_files:
                kafka.remove_broker(kafka.add_broker())
                kafka.reset()

        round_trip()
        before = resources()
        for _ in range(6):
            round_trip()
        # A client of an earlier test may still close its sockets.
        assert all(now <= then for now, then in zip(resources(), before, strict=True))


@OF_CLUSTERS
def test_broker_of_a_cluster_goes_down_and_up(kafka: KafkaDouble) -> None:
    leader = kafka.wait_for_leader("t", 0)
    kafka.produce("t", "a", partition=0)
    kafka.down(leader)
    assert kafka.leader("t", 0) not in (leader, None)
    assert not kafka.brokers[leader].running
    kafka.produce("t", "b", partition=0)
    kafka.up(leader)
    assert kafka.brokers[leader].running
    kafka.advance(5)
    kafka.move_leader("t", 0, to=leader)
    assert values(kafka) == [b"a", b"b"]
    for verb in (kafka.down, kafka.up, kafka.remove_broker, kafka.expire_session):
        with pytest.raises(UsageError, match="there is no broker 9: ids are 1 to 3"):
            verb(9)


def test_a_broker_comes_up_from_any_state() -> None:
    with KafkaDouble(brokers=2, stepped=True) as kafka:
        kafka.brokers[1].kill()
        kafka.up(1)
        assert not refuses(kafka.brokers[1].bootstrap)
        kafka.brokers[1].isolate()
        kafka.down(1)
        kafka.up(1)  # an isolated broker cannot register: nothing to wait for
        assert kafka.brokers[1].running
        kafka.brokers[2].pause()
        kafka.down()
        kafka.brokers[1].join()
        kafka.up()
        assert not any(map(refuses, kafka.bootstrap_servers.split(",")))


@OF_CLUSTERS
def test_a_broker_is_added(kafka: KafkaDouble) -> None:
    kafka.produce("t", "a", partition=0)
    id = kafka.add_broker()
    assert (id, [*kafka.brokers]) == (5, [1, 2, 3, 5])
    assert kafka.brokers[id].bootstrap in kafka.bootstrap_servers
    assert not refuses(kafka.brokers[id].bootstrap)
    kafka.reassign("t", 0, [id, 1, 2])
    kafka.advance(5)
    state = kafka.topics()["t"].partitions[0]
    assert (state.replicas, state.isr) == ((id, 1, 2), (1, 2, id))
    kafka.elect_leaders("t", 0)
    assert kafka.leader("t", 0) == id
    assert values(kafka) == [b"a"]
    kafka.create_topic("four", replication_factor=4)
    assert kafka.isr("four", 0) == [1, 2, 3, id]
    kafka.brokers[id].kill()
    kafka.advance(10)
    assert kafka.leader("t", 0) in (1, 2)
    kafka.up(id)
    assert kafka.add_broker() == 6
    kafka.reset()
    assert [*kafka.brokers] == [1, 2, 3]


def test_clients_see_brokers_come_and_go() -> None:
    with KafkaDouble(brokers=2) as kafka:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
        id = kafka.add_broker()
        assert sorted(admin.list_topics(timeout=20).brokers) == [1, 2, id]
        kafka.remove_broker(id)
        assert sorted(admin.list_topics(timeout=20).brokers) == [1, 2]


@OF_CLUSTERS
def test_a_broker_that_has_replicas_is_not_removed(kafka: KafkaDouble) -> None:
    message = r"broker 2 has replicas of t-0, t-1: give reassign=True, or move them first"
    with pytest.raises(UsageError, match=message):
        kafka.remove_broker(2)
    with pytest.raises(UsageError, match=r"t-0 has a replica on each live broker: add_broker\(\) first"):
        kafka.remove_broker(2, reassign=True)
    with pytest.raises(UsageError, match="reassign is True or False, not 'yes'"):
        kafka.remove_broker(2, reassign="yes")  # type: ignore[arg-type]
    assert kafka.brokers[2].running


@OF_CLUSTERS
def test_the_replicas_of_a_broker_that_is_removed_move(kafka: KafkaDouble) -> None:
    kafka.produce("t", "a", partition=0)
    kafka.commit_offsets("g", {("t", 0): 1})
    removed = kafka.brokers[2]
    address, id = removed.bootstrap, kafka.add_broker()
    kafka.remove_broker(2, reassign=True)
    assert refuses(address)
    assert address not in kafka.bootstrap_servers
    assert [*kafka.brokers] == [1, 3, id]
    for topic in kafka.topics(internal=True).values():
        assert all(2 not in each.replicas and len(each.isr) == 3 for each in topic.partitions.values())
    assert values(kafka) == [b"a"]
    assert kafka.groups()["g"].offsets["t", 0].offset == 1
    with pytest.raises(UsageError, match="broker 2 was removed: ids are 1, 3, 5"):
        removed.kill()
    with pytest.raises(UsageError, match="there is no broker 2: ids are 1, 3, 5"):
        kafka.brokers[2]
    kafka.reset()
    assert [*kafka.brokers] == [1, 2, 3]
    assert kafka.brokers[2].bootstrap == address
    assert not refuses(address)


def test_the_last_broker_stays() -> None:
    with KafkaDouble(brokers=2, stepped=True) as kafka:
        kafka.remove_broker(1)
        with pytest.raises(UsageError, match="broker 2 is the last one"):
            kafka.remove_broker(2)


def test_an_added_broker_finds_its_data_again(tmp_path: Path) -> None:
    kafka = KafkaDouble(brokers=2, stepped=True, data_dir=tmp_path)
    with kafka:
        id = kafka.add_broker()
        kafka.create_topic("t")
        kafka.reassign("t", 0, [id])
        kafka.advance(5)
        kafka.produce("t", "a")
    with kafka:
        assert kafka.leader("t", 0) is None
        assert kafka.add_broker() == id
        assert kafka.leader("t", 0) == id
        assert values(kafka) == [b"a"]


@OF_CLUSTERS
def test_expire_session_fences_the_broker(kafka: KafkaDouble) -> None:
    leader = kafka.wait_for_leader("t", 0)
    kafka.brokers[leader].kill()
    kafka.expire_session(leader)
    assert kafka.leader("t", 0) not in (leader, None)
    kafka.expire_session(leader)
    kafka.brokers[leader].start()
    kafka.advance(1)
    assert not refuses(kafka.brokers[leader].bootstrap)
    kafka.advance(5)
    assert leader in kafka.isr("t", 0)
    kafka.expire_session(leader)
    assert leader not in kafka.isr("t", 0)
    kafka.advance(5)
    assert leader in kafka.isr("t", 0), "its next heartbeat ends that"


def test_invalid_reassignment_is_refused(kafka: KafkaDouble) -> None:
    for wrong in ([], "12", [-1], ["1"], 1, None):
        with pytest.raises(UsageError, match="replicas is a list of ids of brokers, not"):
            kafka.reassign("t", 0, wrong)  # type: ignore[arg-type]
    with pytest.raises(KafkaError, match="INVALID_REPLICA_ASSIGNMENT: t-0: "):
        kafka.reassign("t", 0, [9])
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no t-7"):
        kafka.reassign("t", 7, [1])


def test_a_verb_that_takes_time_is_refused_inside_of_the_broker() -> None:
    """A function of a fault rule runs on the broker's thread, which would wait for itself."""
    problems: list[str] = []

    def function(request: object) -> None:
        with pytest.raises(UsageError) as caught:
            kafka.down()
        problems.append(str(caught.value))

    with KafkaDouble() as kafka:
        kafka.on("Metadata", function)
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=None), 9)
    assert problems == ["this takes time: a function that kafkadouble itself calls cannot wait for it"]


def test_a_single_broker_that_is_down_is_described() -> None:
    with KafkaDouble() as kafka:
        running = kafka.describe_cluster()
        assert (running.brokers[1].state, running.brokers[1].is_fenced) == ("running", False)
        kafka.ignore("Fetch")
        kafka.down()
        down = kafka.describe_cluster()
        assert (down.cluster_id, down.bootstrap_servers) == (running.cluster_id, running.bootstrap_servers)
        assert (down.brokers[1].state, down.brokers[1].is_fenced) == ("stopped", True)
        assert len(kafka.rules) == 1


def test_the_states_of_brokers() -> None:
    with KafkaDouble(brokers=3) as kafka:
        kafka.brokers[1].kill()
        kafka.brokers[2].pause()
        kafka.brokers[3].isolate()
        assert [each.state for each in kafka.describe_cluster().brokers.values()] == ["stopped", "paused", "isolated"]
        kafka.brokers[2].resume()
