"""The voters that a quorum begins with, as those who format its directories are told them (KIP-853).

    0@example.com:8082:JEXY6aqzQY-32P5TStzaFg,1@[::1]:8083:MvDxzVmcRsaTz33bUuRU6A

Each is its node's id, where its controller listens, and the id of the directory in which it will keep the metadata. All nodes of the quorum are
told the same.
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
    """The voters of a list, reached at the listener of this name. UsageError when it is none."""
    voters = [_voter(part.strip(), listener) for part in text.split(",") if part.strip()]
    if not voters:
        raise UsageError("no voters are given")
    found = VoterSet(sorted(voters, key=lambda voter: voter.id))
    if len(found) < len(voters):
        raise UsageError(f"{text}: a node id is given more than once")
    return found


def standalone(node_id: int, directory_id: Uuid, listener: str, host: str, port: int) -> VoterSet:
    """A node that is its quorum alone, until others are added."""
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
    """As Kafka writes it down: an address of IPv6 in full, without leading zeros."""
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return text
    groups = (int.from_bytes(address.packed[at : at + 2], "big") for at in range(0, 16, 2))
    return str(address.ipv4_mapped or ":".join(f"{group:x}" for group in groups))
