"""Which host a listener advertises: Kafka's rules for settings, loopback for our own options."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.common.listening import canonical_host_name
from kafkadouble.engine import node_listeners
from kafkadouble.engine.node_listeners import Overrides, bound, planned
from kafkadouble.server.configs.settings import Settings
from tests.support.serving import run, serving

MACHINE = "this.machine"
OWN = Overrides()
COMBINED = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "c:1",
}


@pytest.fixture(autouse=True)
def named_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_listeners, "canonical_host_name", lambda: MACHINE)


@pytest.mark.parametrize(
    ("listeners", "advertised", "overrides", "host", "port"),
    [
        ("PLAINTEXT://localhost:0", "", OWN, "localhost", None),
        ("PLAINTEXT://127.0.0.1:0", "", OWN, "127.0.0.1", None),
        ("PLAINTEXT://:0", "", OWN, MACHINE, None),
        ("PLAINTEXT://127.0.0.1:0", "PLAINTEXT://:0", OWN, MACHINE, None),
        ("PLAINTEXT://127.0.0.1:0", "PLAINTEXT://far:7", OWN, "far", 7),
        ("PLAINTEXT://0.0.0.0:0", "PLAINTEXT://far:0", OWN, "far", None),
        ("PLAINTEXT://localhost:9092", "", Overrides(port=0), "localhost", None),
        ("PLAINTEXT://localhost:0", "", Overrides(host="127.0.0.1"), "127.0.0.1", None),
        ("PLAINTEXT://:0", "", Overrides(host="0.0.0.0"), "127.0.0.1", None),
        ("PLAINTEXT://0.0.0.0:0", "", Overrides(advertised=("far", 7)), "far", 7),
        ("PLAINTEXT://:0", "PLAINTEXT://far:0", Overrides(host="127.0.0.1"), "far", None),
    ],
)
def test_host_and_port_of_settings_and_options(
    listeners: str, advertised: str, overrides: Overrides, host: str, port: int | None
) -> None:
    config = {"listeners": listeners} | ({"advertised.listeners": advertised} if advertised else {})
    (specs,) = planned(Settings(config), 1, overrides)
    opened = bound(specs)
    try:
        own = opened.sockets["PLAINTEXT"].getsockname()[1]
        assert opened.specs[0].advertised == (host, own if port is None else port)
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("listener", "options", "expected"),
    [
        ("CONTROLLER://localhost:9093", OWN, ("localhost", 9093)),
        ("CONTROLLER://:9093", OWN, (MACHINE, 9093)),
        ("CONTROLLER://0.0.0.0:9093", OWN, (MACHINE, 9093)),
        ("CONTROLLER://localhost:9093", Overrides(controller_port=9094), ("", 0)),
    ],
)
def test_a_controllers_listener_has_the_name_of_its_settings(
    listener: str, options: Overrides, expected: tuple[str, int]
) -> None:
    settings = Settings({**COMBINED, "listeners": f"PLAINTEXT://127.0.0.1:0,{listener}"})
    ((_, controller),) = planned(settings, 1, options)
    assert controller.advertised == expected


def test_listener_on_every_address_needs_an_advertised_host(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    lines = COMBINED | {"listeners": "PLAINTEXT://0.0.0.0:0,CONTROLLER://127.0.0.1:0", "log.dirs": tmp_path / "logs"}
    file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    refused = f"{file} line 5: no client can connect to PLAINTEXT://0.0.0.0:0"
    for verb, code in (("serve", 2), ("format", 1)):
        ended = run(verb, "--config", str(file), *(("-N",) if verb == "format" else ()))
        assert (ended.returncode, refused in ended.stderr) == (code, True), ended.stderr
    assert not (tmp_path / "logs").exists()


def test_host_without_a_name_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise socket.gaierror("unknown")

    monkeypatch.setattr(node_listeners, "canonical_host_name", unknown)
    with pytest.raises(UsageError, match=f"no address for its name {socket.gethostname()}: give listeners a host"):
        planned(Settings({"listeners": "PLAINTEXT://:0"}), 1, OWN)
    planned(Settings({"listeners": "PLAINTEXT://:0"}), 1, Overrides(host="127.0.0.1"))


def test_listeners_of_a_program_advertise_loopback_and_names_of_its_config() -> None:
    config = {"advertised.listeners": "A://:0,B://localhost:0"}
    with KafkaDouble(host="0.0.0.0", listeners={"A": 0, "B": 0}) as kafka:
        assert kafka.bootstrap("A").startswith("127.0.0.1:")
    with KafkaDouble(listeners={"A": 0, "B": 0}, config=config) as kafka:
        assert [kafka.bootstrap(name).partition(":")[0] for name in "AB"] == [MACHINE, "localhost"]


def test_the_machines_name_leads_to_a_listener_without_a_host() -> None:
    with serving("-c", "listeners=PLAINTEXT://:0") as served:
        host, port = served.address
        assert host == canonical_host_name()
        socket.create_connection((host, port)).close()
