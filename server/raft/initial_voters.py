"""Parses the initial voters of a quorum, as given to the tools that format a directory (KIP-853).

    0@example.com:8082:JEXY6aqzQY-32P5TStzaFg,1@[::1]:8083:MvDxzVmcRsaTz33bUuRU6A

Each has a node id, the address of its controller listener, and the id of its metadata directory.
All nodes of the quorum get the same list.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

from .replica_key import ReplicaKey
from .voters import Voter, VoterEndpoint, VoterSet

VOTER = re.compile(r"([0-9]{1,10})@(?:\[([^]]*)\]|([^:]*)):([0-9]{1,5}):([^:]+)")


def parse(text: str, listener: str) -> VoterSet:
    """The voters of a list, reached at the listener of this name. UsageError if it is invalid."""
    voters = [_voter(part.strip(), listener) for part in text.split(",") if part.strip()]
    if not voters:
        raise UsageError("no voters are given")
    found = VoterSet(sorted(voters, key=lambda voter: voter.id))
    if len(found) < len(voters):
        raise UsageError(f"{text}: a node id is given more than once")
    return found


def standalone(node_id: int, directory_id: Uuid, listener: str, host: str, port: int) -> VoterSet:
    """A node that is the only voter until others are added."""
    return VoterSet([Voter(ReplicaKey(node_id, directory_id), {listener: VoterEndpoint(_host(host), port)})])


def _voter(text: str, listener: str) -> Voter:
    match = VOTER.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is no voter: id@host:port:directory-id is")
    id, bracketed, plain, port, directory = match.groups()
    if int(port) > 65535:
        raise UsageError(f"{text!r} has no port up to 65535")
    if int(id) >= 1 << 31:
        raise UsageError(f"{text!r} has no node id below 2147483648")
    try:
        directory_id = Uuid.parse(directory)
    except UsageError as problem:
        raise UsageError(f"{text!r} has no directory id: {problem}") from None
    endpoint = VoterEndpoint(_host(plain if bracketed is None else bracketed), int(port))
    return Voter(ReplicaKey(int(id), directory_id), {listener: endpoint})


def _host(text: str) -> str:
    """An IPv6 address in full, without leading zeros, as Kafka writes it."""
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return text
    groups = (int.from_bytes(address.packed[at : at + 2], "big") for at in range(0, 16, 2))
    return str(address.ipv4_mapped or ":".join(f"{group:x}" for group in groups))
