"""The voters that a new quorum is formatted with (KIP-853)."""

from __future__ import annotations

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.initial_voters import parse, standalone
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.voters import VoterEndpoint, VoterSet
from kafkadouble.wire.errors import UsageError

ONE, TWO = Uuid(b"1" * 16), Uuid(b"2" * 16)


def test_a_list() -> None:
    voters = parse(f" 2@[::1]:9094:{TWO},1@example.com:9093:{ONE} ,", "CONTROLLER")
    assert [(voter.key, dict(voter.endpoints), voter.kraft_versions) for voter in voters] == [
        (ReplicaKey(1, ONE), {"CONTROLLER": VoterEndpoint("example.com", 9093)}, (0, 1)),
        (ReplicaKey(2, TWO), {"CONTROLLER": VoterEndpoint("0:0:0:0:0:0:0:1", 9094)}, (0, 1)),
    ]


def test_initial_voters_of_a_single_node() -> None:
    assert standalone(1, ONE, "C", "h", 9093) == parse(f"1@h:9093:{ONE}", "C")
    assert isinstance(parse(f"1@h:9093:{ONE}", "C"), VoterSet)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no voters"),
        (" , ", "no voters"),
        ("nope", "is no voter"),
        ("@h:1:x", "is no voter"),
        (f"x@h:1:{ONE}", "is no voter"),
        (f"-1@h:1:{ONE}", "is no voter"),
        (f"1@:h:1:{ONE}", "is no voter"),
        (f"1@[::1:9093:{ONE}", "is no voter"),
        ("1@h", "is no voter"),
        ("1@h:1", "is no voter"),
        (f"1@h::{ONE}", "is no voter"),
        (f"1@h:65536:{ONE}", "no port"),
        (f"2147483648@h:1:{ONE}", "no node id"),
        ("1@h:1:short", "no directory id"),
        (f"1@h:1:{ONE},1@i:2:{TWO}", "more than once"),
    ],
)
def test_invalid_initial_voters_are_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse(text, "CONTROLLER")
