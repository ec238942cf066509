"""The listeners that settings give a node, and what becomes of them when sockets are bound."""

from __future__ import annotations

import pytest

from kafkadouble.server.apis.served import CONTROLLER_SERVED, SERVED
from kafkadouble.server.configs.listener_specs import check_routable, listener_specs
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.requests.listener_spec import AS_BOUND, ListenerSpec
from kafkadouble.wire.errors import UsageError

MAP = "A:PLAINTEXT,B:SSL,C:PLAINTEXT,D:PLAINTEXT"


def specs(**config: object) -> tuple[ListenerSpec, ...]:
    named = {name.replace("_", "."): value for name, value in config.items()}
    return listener_specs(Settings({"listener.security.protocol.map": MAP, **named}))


def test_a_node_has_its_broker_s_listeners_and_its_controller_s() -> None:
    found = specs(
        listeners="c://:3,B://b:2,A://a:1",
        inter_broker_listener_name="a",
        controller_listener_names="D,C",
        advertised_listeners="B://far:7,A://:0",
    )
    assert found == (
        ListenerSpec("B", "SSL", ("b", 2), ("far", 7), SERVED),
        ListenerSpec("A", "PLAINTEXT", ("a", 1), ("", 0), SERVED),
        ListenerSpec("D", "PLAINTEXT", None, None, CONTROLLER_SERVED),
        ListenerSpec("C", "PLAINTEXT", ("", 3), ("", 3), CONTROLLER_SERVED),
    )
    assert [each.is_of_controllers for each in found] == [False, False, True, True]
    assert [each.protocol_id for each in found] == [1, 0, 0, 0]


def test_a_role_that_a_node_has_not_has_no_listeners() -> None:
    arguments = {"listeners": "A://:1,C://:2", "controller_listener_names": "C"}
    of_controller = specs(process_roles="controller", **arguments)
    of_broker = specs(process_roles="broker", inter_broker_listener_name="A", **arguments)
    assert [each.name for each in of_controller] == ["C"]
    assert [each.name for each in of_broker] == ["A"]


def test_a_listener_that_is_left_out_of_the_advertised_ones_is_not_advertised() -> None:
    found = specs(listeners="A://:1,D://:2", inter_broker_listener_name="A", advertised_listeners="A://h:5")
    assert [each.advertised for each in found] == [("h", 5), None, None]


@pytest.mark.parametrize(
    ("listener", "config", "advertised"),
    [
        ("localhost:1", {}, ("localhost", 1)),
        ("0.0.0.0:1", {}, ("", 1)),
        (":1", {}, ("", 1)),
        (":1", {"controller_quorum_voters": "1@c1:7"}, ("c1", 7)),
        ("0.0.0.0:1", {"controller_quorum_voters": "1@[::1]:7,2@c2:8"}, ("::1", 7)),
        ("c:1", {"controller_quorum_voters": "1@c1:7"}, ("c", 1)),
        (":1", {"advertised_listeners": "C://far:2", "controller_quorum_voters": "1@c1:7"}, ("far", 2)),
        ("[::]:1", {}, ("::", 1)),
    ],
)
def test_a_controller_is_reached_as_kafka_says(
    listener: str, config: dict[str, object], advertised: tuple[str, int]
) -> None:
    arguments = {"process_roles": "controller", "controller_listener_names": "C", "node_id": 1, **config}
    (found,) = specs(listeners=f"C://{listener}", **arguments)
    assert found.advertised == advertised


def test_only_the_first_controller_listener_has_the_address_of_the_voters() -> None:
    given = {"process_roles": "controller", "controller_listener_names": "C,D", "controller_quorum_voters": "1@c1:7"}
    assert [spec.advertised for spec in specs(listeners="D://:1,C://:2", **given)] == [("c1", 7), ("", 1)]


@pytest.mark.parametrize(
    ("config", "is_refused"),
    [
        ({"listeners": "A://0.0.0.0:1"}, True),
        ({"listeners": "A://:1"}, False),
        ({"listeners": "A://0.0.0.0:1", "advertised_listeners": "A://h:1"}, False),
        ({"listeners": "A://a:1,B://0.0.0.0:2", "advertised_listeners": "A://h:1"}, False),
        ({"listeners": "A://a:1,C://0.0.0.0:2", "controller_listener_names": "C"}, False),
    ],
)
def test_every_address_is_none_that_clients_can_connect_to(config: dict[str, object], is_refused: bool) -> None:
    given = {"listener.security.protocol.map": MAP, "inter.broker.listener.name": "A"}
    settings = Settings({**given, **{name.replace("_", "."): value for name, value in config.items()}})
    specs = listener_specs(settings)
    if not is_refused:
        check_routable(settings, specs)
        return
    with pytest.raises(UsageError, match=r"no client can connect to A://0\.0\.0\.0:1.*advertised\.listeners"):
        check_routable(settings, specs)


def test_without_settings_there_is_one_for_clients_and_the_controller_has_no_socket() -> None:
    assert listener_specs(Settings()) == (
        ListenerSpec("PLAINTEXT", "PLAINTEXT", ("127.0.0.1", 0), ("127.0.0.1", 0), SERVED),
        ListenerSpec("CONTROLLER", "PLAINTEXT", None, None, CONTROLLER_SERVED),
    )


@pytest.mark.parametrize(
    ("advertised", "bound", "expected"),
    [
        (AS_BOUND, ("127.0.0.1", 9092), ("127.0.0.1", 9092)),
        (AS_BOUND, ("0.0.0.0", 9092), ("127.0.0.1", 9092)),
        (AS_BOUND, ("::", 9092), ("::1", 9092)),
        (("far", 0), ("0.0.0.0", 9092), ("far", 9092)),
        (("", 5), ("10.0.0.1", 9092), ("10.0.0.1", 5)),
        (("far", 5), ("10.0.0.1", 9092), ("far", 5)),
        (None, ("10.0.0.1", 9092), None),
    ],
)
def test_advertised_listeners_follow_listeners(
    advertised: tuple[str, int] | None, bound: tuple[str, int], expected: tuple[str, int] | None
) -> None:
    spec = ListenerSpec("A", "PLAINTEXT", ("", 0), advertised, SERVED).bound_at(bound)
    assert (spec.bind, spec.advertised) == (bound, expected)
    assert spec.bound_at(bound) == spec
