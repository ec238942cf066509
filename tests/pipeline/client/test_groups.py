"""Offsets that are committed for a group without joining it."""

from __future__ import annotations

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import ApiError, Client, NotAuthorized, OffsetAndEpoch, TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_the_committed_offset_is_returned(double: KafkaDouble, client: Client) -> None:
    assert client.committed("g", [T0]) == {T0: None}
    client.commit("g", {T0: OffsetAndEpoch(7, 0)}, metadata="spark")
    assert client.committed("g", [T0, T1]) == {T0: OffsetAndEpoch(7, 0), T1: None}
    assert [committed.offset for committed in double.groups()["g"].offsets.values()] == [7]


@pytest.mark.parametrize("api", ["FindCoordinator", "OffsetCommit"])
@pytest.mark.parametrize("error", ["COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"])
def test_a_coordinator_is_looked_for_again(double: KafkaDouble, client: Client, api: str, error: str) -> None:
    rule = double.fail(api, error, times=2)
    client.commit("g", {T0: OffsetAndEpoch(7, -1)})
    assert rule.hits == 2
    assert client.committed("g", [T0]) == {T0: OffsetAndEpoch(7, -1)}


def test_a_lost_connection_is_replaced(double: KafkaDouble, client: Client) -> None:
    double.disconnect("OffsetCommit", times=2)
    client.commit("g", {T0: OffsetAndEpoch(7, 0)})
    assert client.committed("g", [T0]) == {T0: OffsetAndEpoch(7, 0)}


def test_a_refusal_names_group_and_partition(double: KafkaDouble, client: Client) -> None:
    double.fail("OffsetCommit", "UNKNOWN_MEMBER_ID")
    with pytest.raises(ApiError, match="committing to group 'g': t-0: UNKNOWN_MEMBER_ID: the group has members"):
        client.commit("g", {T0: OffsetAndEpoch(7, 0)})
    double.fail("OffsetCommit", "GROUP_AUTHORIZATION_FAILED")
    with pytest.raises(NotAuthorized, match="group 'g'"):
        client.commit("g", {T0: OffsetAndEpoch(7, 0)})
