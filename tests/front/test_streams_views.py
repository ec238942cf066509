"""The view of a streams group: its members have the partitions that their active tasks read."""

from __future__ import annotations

from kafkadouble.coordinators.groups import groups
from tests.server.groups.bench import GROUP, Bench
from tests.server.groups.streams.streams_client import StreamsClient, settle


def test_a_member_has_the_partitions_of_its_tasks() -> None:
    bench = Bench()
    bench.create_topic("lines", 2)
    a, b = StreamsClient(bench, "a"), StreamsClient(bench, "b")
    settle(bench, [a, b])
    view = groups(bench.ask, lambda partitions: {})[GROUP]
    assert (view.type, view.state, view.protocol) == ("streams", "Stable", "sticky")
    topics = {"0": "lines", "1": "words"}
    for client, member in zip((a, b), view.members, strict=True):
        assert (member.id, member.client_id, member.host) == (client.member_id, "c", "/127.0.0.1")
        assert set(member.assignment) == {(topics[id], index) for id, index in client.owned()}


def test_a_group_whose_topics_are_missing_has_no_partitions() -> None:
    bench = Bench()
    StreamsClient(bench, "a").beat()
    view = groups(bench.ask, lambda partitions: {})[GROUP]
    assert (view.state, [member.assignment for member in view.members]) == ("NotReady", [()])
