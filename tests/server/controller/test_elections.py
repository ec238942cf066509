"""Elections: asked for, preferred and unclean, and held from time to time."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller import elections
from kafkadouble.server.controller.elections import balance_partition_leaders, elect_leaders, elect_unclean_leaders
from kafkadouble.server.controller.partition_change_builder import RECOVERING
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.requests.slices import in_one_step
from tests.server.controller.small_clusters import DEFAULTS, cluster, non_default_fields, partition, with_topic

PREFERRED, UNCLEAN = 0, 1


def image(**configs: str) -> Image:
    """a-0 is led by its preferred replica, a-1 by another; b-0 is leaderless, though 3 is alive;
    b-1 is leaderless, and no replica is alive.
    """
    brokers = cluster(1, 2, 3, 4, fenced=[2, 4])
    made = with_topic(brokers, "b", partition([2, 3], isr=[2], leader=-1), partition([4], leader=-1), **configs)
    return with_topic(made, "a", partition([1, 3]), partition([1, 3], leader=3), **configs)


def outcome(kind: int, topics: dict[str, list[int]] | None) -> tuple[dict[str, list[tuple[int, int]]], list[Any]]:
    """Codes by topic and partition, and what the records say."""
    of = ElectLeadersRequest.TopicPartitions
    requested = None if topics is None else [of(topic=name, partitions=indexes) for name, indexes in topics.items()]
    decision = in_one_step(
        elect_leaders(image(), DEFAULTS, ElectLeadersRequest(election_type=kind, topic_partitions=requested))
    )
    answered = {
        result.topic: [(each.partition_id, each.error_code) for each in result.partition_result]
        for result in decision.results
    }
    return answered, [non_default_fields(record) for record in decision.records]


def test_preferred_replicas_lead() -> None:
    answered, records = outcome(PREFERRED, {"a": [0, 1], "b": [0]})
    assert answered == {
        "a": [(0, error_codes.ELECTION_NOT_NEEDED), (1, error_codes.NONE)],
        "b": [(0, error_codes.PREFERRED_LEADER_NOT_AVAILABLE)],
    }
    assert records == [{"leader": 1}]


def test_an_unclean_election_gives_leaderless_partitions_to_live_replicas() -> None:
    answered, records = outcome(UNCLEAN, {"a": [1], "b": [0, 1]})
    assert answered == {
        "a": [(1, error_codes.ELECTION_NOT_NEEDED)],
        "b": [(0, error_codes.NONE), (1, error_codes.ELIGIBLE_LEADERS_NOT_AVAILABLE)],
    }
    assert records == [{"leader": 3, "isr": [3], "leader_recovery_state": RECOVERING}]


def test_election_of_unknown_partition_is_refused() -> None:
    request = ElectLeadersRequest(
        topic_partitions=[
            ElectLeadersRequest.TopicPartitions(topic="a", partitions=[2]),
            ElectLeadersRequest.TopicPartitions(topic="c", partitions=[0]),
        ]
    )
    results = in_one_step(elect_leaders(image(), DEFAULTS, request)).results
    errors = [(each.error_code, each.error_message) for result in results for each in result.partition_result]
    code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
    assert errors == [(code, "No such partition as a-2"), (code, "No such topic as c")]


def test_of_all_partitions_those_are_answered_that_need_it() -> None:
    answered, records = outcome(PREFERRED, None)
    unavailable = error_codes.PREFERRED_LEADER_NOT_AVAILABLE
    assert answered == {"a": [(1, 0)], "b": [(0, unavailable), (1, unavailable)]}
    assert len(records) == 1


def test_a_kind_of_election_that_there_is_not() -> None:
    with pytest.raises(Refusal) as refused:
        outcome(7, None)
    assert (refused.value.code, refused.value.message) == (error_codes.INVALID_REQUEST, "Unknown election type 7")


def test_leaders_are_balanced_where_the_setting_asks_for_it() -> None:
    assert [non_default_fields(record) for record in balance_partition_leaders(image(), DEFAULTS)] == [{"leader": 1}]
    assert balance_partition_leaders(image(), Settings({"auto.leader.rebalance.enable": False})) == []


def test_unclean_elections_are_held_where_they_are_allowed() -> None:
    assert elect_unclean_leaders(image(), DEFAULTS) == []
    recovering = {"leader": 3, "isr": [3], "leader_recovery_state": RECOVERING}
    allowed = image(unclean_leader_election_enable="true")
    assert [non_default_fields(record) for record in elect_unclean_leaders(allowed, DEFAULTS)] == [recovering]
    everywhere = Settings({"unclean.leader.election.enable": True})
    assert [non_default_fields(record) for record in elect_unclean_leaders(image(), everywhere)] == [recovering]
    forbidden = image(unclean_leader_election_enable="false")
    assert elect_unclean_leaders(forbidden, everywhere) == []


def test_no_more_than_so_many_elections_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elections, "MAX_ELECTIONS_PER_IMBALANCE", 2)
    many = with_topic(cluster(1, 2), "t", *(partition([1, 2], leader=2) for _ in range(5)))
    assert [record.partition_id for record in balance_partition_leaders(many, DEFAULTS)] == [0, 1]
