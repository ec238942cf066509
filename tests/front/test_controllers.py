"""A double whose controller serves other nodes; controllers in processes of their own that form a
quorum; metrics (KIP-595, KIP-630)."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.front.combined import formatted, live, of_combined
from tests.support.client import Address, ask
from tests.support.ports import free_ports
from tests.support.serving import Serving, beginning, serving


def leader_of(address: Address) -> int | None:
    """The leader of the quorum, if it is the node at `address`; otherwise None: only a leader
    answers without an error."""
    of = DescribeQuorumRequest
    topic = of.TopicData(topic_name="__cluster_metadata", partitions=[of.PartitionData(partition_index=0)])
    partition = ask(address, of(topics=[topic]), 1).topics[0].partitions[0]
    return int(partition.leader_id) if partition.error_code == 0 else None


def test_the_controller_of_a_double_is_reached() -> None:
    with KafkaDouble(controller_port=0) as kafka:
        where = kafka.controller_bootstrap_servers
        assert where != kafka.bootstrap_servers
        assert leader_of(where) == 1
        described = ask(where, DescribeClusterRequest(endpoint_type=2), 1)
        assert [(node.broker_id, f"{node.host}:{node.port}") for node in described.brokers] == [(1, where)]
        kafka.stop()
        kafka.start()
        assert kafka.controller_bootstrap_servers == where, "it is kept, as the other port is"


def test_controller_of_a_double_is_not_reachable_by_default() -> None:
    with KafkaDouble() as kafka, pytest.raises(UsageError, match="controller_port"):
        _ = kafka.controller_bootstrap_servers


def of_node(folder: Path, id: int, **lines: object) -> Path:
    """The settings of a node whose directory is formatted; an underscore stands for a dot."""
    lines |= {"node_id": id, "controller_listener_names": "CONTROLLER", "log_dirs": folder / str(id)}
    return formatted(folder, id, {name.replace("_", "."): value for name, value in lines.items()})


def of_broker(folder: Path, controller: int, port: int = 0) -> Path:
    """The settings of a broker, whose controller is at this port."""
    voters, listeners = f"1@127.0.0.1:{controller}", f"PLAINTEXT://127.0.0.1:{port}"
    return of_node(folder, 2, process_roles="broker", controller_quorum_voters=voters, listeners=listeners)


def of_controller(folder: Path, id: int, ports: dict[int, int]) -> Path:
    """The settings of one of the controllers at these ports."""
    voters = ",".join(f"{id}@127.0.0.1:{port}" for id, port in ports.items())
    listeners = f"CONTROLLER://127.0.0.1:{ports[id]}"
    return of_node(folder, id, process_roles="controller", controller_quorum_voters=voters, listeners=listeners)


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[dict[int, Serving]]:
    """Three controllers that know one another's addresses."""
    ports = dict(enumerate(free_ports(3), 1))
    with ExitStack() as stack:
        found = {}
        for id in ports:
            found[id] = stack.enter_context(serving("--config", str(of_controller(tmp_path, id, ports))))
        yield found


def leading(processes: dict[int, Serving]) -> int:
    """Waits for an election: the leader of the quorum."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for served in processes.values():
            leader = leader_of(served.address)
            if leader is not None:
                return leader
    raise AssertionError("no node leads")


def test_three_processes_elect_one_and_another_when_it_ends(processes: dict[int, Serving]) -> None:
    assert [next(iter(served.startup)) for served in processes.values()] == ["controller.quorum.bootstrap.servers"] * 3
    first = leading(processes)
    code, message = processes.pop(first).end()
    assert code == 0, message
    second = leading(processes)
    assert second != first
    for served in processes.values():
        assert served.end()[0] == 0


def test_a_broker_says_that_it_serves_when_it_is_part_of_its_cluster_and_its_clients_wait(tmp_path: Path) -> None:
    port, controller = free_ports(2)
    files = of_broker(tmp_path, controller, port), of_controller(tmp_path, 1, {1: controller})
    with beginning("--config", str(files[0])) as broker, ThreadPoolExecutor(2) as beside:
        assert "connection refused" in broker.next_line()
        answered = beside.submit(ask, ("127.0.0.1", port), MetadataRequest(topics=[]), 12)
        printed = beside.submit(lambda: broker.startup)
        assert not printed.done()
        with serving("--config", str(files[1])):
            metadata = answered.result(30)
            assert printed.result(30)["bootstrap.servers"] == f"127.0.0.1:{port}"
    assert [(broker.node_id, (broker.host, broker.port)) for broker in metadata.brokers] == [(2, broker.address)]


@pytest.mark.parametrize("words", [(), ("--topic", "orders"), ("--control-port", "0")], ids=str)
def test_a_broker_that_waits_for_its_controller_ends_on_a_signal_and_prints_nothing(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    port, controller = free_ports(2)
    file = of_broker(tmp_path, controller, port)
    with beginning("--config", str(file), *words) as broker:
        assert "connection refused" in broker.next_line()
        with socket.create_connection(("127.0.0.1", port), 10) as waiting:
            code, errors = broker.end()
            assert (code, "Traceback" in errors) == (0, False), errors
            with suppress(ConnectionResetError):
                assert waiting.recv(1) == b""
        assert broker.process.stdout is not None
        assert broker.process.stdout.read() == ""


def test_topics_to_begin_with_are_made_by_a_controller_that_is_another_process(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    files = of_broker(tmp_path, port), of_controller(tmp_path, 1, {1: port})
    with serving("--config", str(files[1])), serving("--config", str(files[0]), "--topic", "orders:3") as broker:
        (topic,) = broker.ask(MetadataRequest(topics=None), 12).topics
        assert (topic.name, [each.leader_id for each in topic.partitions]) == ("orders", [2, 2, 2])


@pytest.mark.parametrize(
    ("of_its_own", "partitions"), [((), 2), (("-c", "num.partitions=5"), 5)], ids=["open", "given"]
)
def test_a_topic_that_a_broker_creates_has_the_partitions_of_its_own_settings(
    tmp_path: Path, of_its_own: tuple[str, ...], partitions: int
) -> None:
    (port,) = free_ports(1)
    broker_file, controller_file = of_broker(tmp_path, port), of_controller(tmp_path, 1, {1: port})
    with (
        serving("--config", str(controller_file), "-c", "num.partitions=2"),
        serving("--config", str(broker_file), *of_its_own) as broker,
    ):
        requested = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t")])
        end = time.monotonic() + 30
        while not (found := broker.ask(requested, 12).topics[0].partitions):
            assert time.monotonic() < end
    assert len(found) == partitions


def test_three_nodes_that_are_brokers_and_controllers_all_come_back(tmp_path: Path) -> None:
    """After a stop of all nodes, and after a kill of all nodes."""
    ports = dict(enumerate(free_ports(3), 1))
    files = [of_combined(tmp_path, id, ports) for id in ports]
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with ExitStack() as stack:
            served = [stack.enter_context(beginning("--config", str(file))) for file in files]
            end = time.monotonic() + 30
            # A request waits until the node accepts clients.
            while any(live(each) != set(ports) for each in served):
                assert time.monotonic() < end
            for each in served:
                each.process.send_signal(number)
            for each in served:
                assert each.ended()[0] == (0 if number == signal.SIGTERM else -number)
