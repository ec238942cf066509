"""What members agree on: candidates, votes, and which one wins a tie."""

from __future__ import annotations

import pytest

from kafkadouble.server.groups.classic.member import ClassicGroupMember
from kafkadouble.server.groups.classic.protocols import candidate_protocols, select_protocol, topics_of
from tests.server.groups.bench import subscription


def member(*protocols: str) -> ClassicGroupMember:
    return ClassicGroupMember(
        "m",
        None,
        client_id="c",
        client_host="/h",
        session_timeout_ms=1,
        rebalance_timeout_ms=1,
        supported_protocols=dict.fromkeys(protocols, b""),
    )


@pytest.mark.parametrize(
    ("offers", "candidates", "winner"),
    [
        (["range"], {"range"}, "range"),
        (["range sticky", "sticky range", "sticky range"], {"range", "sticky"}, "sticky"),
        (["a range", "range b", "c range"], {"range"}, "range"),
        # a tie: the order is that of java.util.HashMap, as printed by Java 17
        (["range sticky", "sticky range"], {"range", "sticky"}, "sticky"),
        (["cooperative-sticky range", "range cooperative-sticky"], {"range", "cooperative-sticky"}, "range"),
        (["roundrobin uniform", "uniform roundrobin"], {"roundrobin", "uniform"}, "uniform"),
    ],
)
def test_most_votes_win(offers: list[str], candidates: set[str], winner: str) -> None:
    members = [member(*offer.split()) for offer in offers]
    assert candidate_protocols(members) == candidates
    assert select_protocol(members) == winner
    assert select_protocol(members[::-1]) == winner


def test_no_members_have_no_candidate_protocols() -> None:
    assert candidate_protocols([]) == set()


@pytest.mark.parametrize(
    ("metadata", "topics"),
    [
        ([subscription("a", "b"), subscription("b", "c")], {"a", "b", "c"}),
        ([subscription()], set()),
        ([b"\0\3" + subscription("a")[2:] + b"later fields"], {"a"}),
        ([subscription("a"), b""], None),
        ([b"\0"], None),
        ([b"\xff\xff" + subscription("a")[2:]], None),
        ([b"\0\0\0\0\0\1"], None),
        ([b"\0\0\0\0\0\1\0\1\xff\0\0\0\0"], None),
    ],
)
def test_topics_are_read_from_the_metadata_or_not_at_all(metadata: list[bytes], topics: set[str] | None) -> None:
    assert topics_of(metadata) == topics
