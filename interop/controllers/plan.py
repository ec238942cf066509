"""The settings of the nodes of a mixed cluster: those of `interop.quorum`, with a static or a
dynamic quorum.

Rules. This file is pure: it starts nothing and looks for no port. Our nodes and Kafka's get the
same settings, since one may continue with the other's folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from interop import quorum
from interop.local.node import BROKER
from interop.quorum import CLIENTS, CONTROLLER, FIRST_CONTROLLER, Seat
from tests.support.ports import HOST

from .kinds import Kind

CONTROLS = "controller"

NONE: Mapping[str, str] = {}


class Member(NamedTuple):
    """A planned node: its id, its roles, the program that runs it, and settings of its own."""

    id: int
    roles: tuple[str, ...]
    kind: Kind
    own: Mapping[str, str] = NONE


def controller(number: int, kind: Kind, **own: str) -> Member:
    """A node that is only a controller. Settings by their Kafka names with `_` for `.`."""
    return Member(FIRST_CONTROLLER + number, (CONTROLS,), kind, named(own))


def broker(number: int, kind: Kind, **own: str) -> Member:
    """A node that is a broker only."""
    return Member(1 + number, (BROKER,), kind, named(own))


def combined(number: int, kind: Kind, **own: str) -> Member:
    """A node that is both controller and broker."""
    return Member(1 + number, (BROKER, CONTROLS), kind, named(own))


def named(settings: Mapping[str, str]) -> dict[str, str]:
    """`a_b` as Kafka's a.b."""
    return {key.replace("_", "."): value for key, value in settings.items()}


def seats(members: Sequence[Member], ports: Iterator[int]) -> list[Seat]:
    """A seat for each node, with addresses of this machine."""
    found = []
    for member in members:
        names = [name for role, name in ((BROKER, CLIENTS), (CONTROLS, CONTROLLER)) if role in member.roles]
        addresses = {name: (HOST, next(ports)) for name in names}
        found.append(Seat(member.id, member.roles, addresses, addresses))
    return found


def settings(seat: Seat, among: Sequence[Seat], data: str, dynamic: bool) -> dict[str, str]:
    """The server.properties of one node."""
    found = quorum.settings(seat, among, data) | quorum.QUICK_HEARTBEATS
    if dynamic:
        del found["controller.quorum.voters"]
        found["controller.quorum.bootstrap.servers"] = ",".join(map(address, voters(among)))
    return found


def formatting(among: Sequence[Seat], directories: Mapping[int, str]) -> list[str]:
    """The arguments that name the first voters to each controller of a dynamic quorum."""
    first = [f"{seat.id}@{address(seat)}:{directories[seat.id]}" for seat in voters(among)]
    return ["--initial-controllers", ",".join(first)]


def voters(among: Sequence[Seat]) -> list[Seat]:
    return [seat for seat in among if seat.is_a(CONTROLS)]


def address(seat: Seat) -> str:
    """The address at which other nodes reach a controller."""
    host, port = seat.known[CONTROLLER]
    return f"{host}:{port}"
