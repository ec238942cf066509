"""The partitions that count for the lag of a group, and the error of a wait for a lag."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Consumer

from kafkadouble import KafkaDouble
from kafkadouble.coordinators.group_lag import in_words, is_caught_up, lags
from kafkadouble.coordinators.group_values import Committed, Group, Member
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.topics import partition_state

LOGS = {("t", 0): (2, 10), ("t", 1): (0, 5), ("t", 2): (7, 7)}


def group(type: str, committed: dict[int, int], assigned: list[int], *, others: int = 0, **known: int) -> Group:
    """A group with its lags. `known` has lags by the name of the partition, as `t0=3`."""
    members = (Member("m", None, "c", "/127.0.0.1", tuple(("t", each) for each in assigned)),) if assigned else ()
    offsets = {("t", index): Committed(offset, "") for index, offset in committed.items()}
    made = Group("g", type, "Stable", "range", members, offsets, {})
    known_lags = {(name[:1], int(name[1:])): lag for name, lag in known.items()}
    return made._replace(lags=lags(made, [("t", index) for index in range(others)], bounds, known_lags))


def bounds(partitions: list[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
    return {each: LOGS[each] for each in partitions if each in LOGS}


def test_lag_of_assigned_partition_without_commit_is_its_record_count() -> None:
    shown = group("consumer", {0: 9}, [0, 1, 2])
    assert shown.lags == {("t", 0): 1, ("t", 1): 5, ("t", 2): 0}
    assert not is_caught_up(shown, 5)
    assert is_caught_up(shown, 6)


def test_lag_of_share_partitions_with_and_without_start_offset() -> None:
    shown = group("share", {0: 4}, [0, 1], t0=3)
    assert shown.lags == {("t", 0): 3, ("t", 1): 5}
    assert "; without a committed offset: t-1 (a member that begins at latest" in in_words(shown)


def test_lag_without_members_adds_only_partitions_with_records() -> None:
    assert group("classic", {0: 10}, [], others=3).lags == {("t", 0): 0, ("t", 1): 5}


def test_lag_of_commit_below_log_start_or_beyond_log_end() -> None:
    assert group("classic", {0: 1, 1: 9}, []).lags == {("t", 0): 9, ("t", 1): 0}


def test_a_group_is_not_caught_up_while_a_lag_is_unknown() -> None:
    assert not is_caught_up(group("classic", {}, []), 100)
    shown = group("classic", {0: 10, 3: 0}, [])
    assert (shown.lag, is_caught_up(shown, 100)) == (0, False)
    assert in_words(shown).endswith("a lag of 0; without a leader: t-3")


def delete_records(kafka: KafkaDouble, topic: str, index: int, offset: int) -> None:
    of = DeleteRecordsRequest
    partitions = [of.DeleteRecordsPartition(partition_index=index, offset=offset)]
    kafka._double_host.ask(of(topics=[of.DeleteRecordsTopic(name=topic, partitions=partitions)], timeout_ms=1000))


def joined(kafka: KafkaDouble, **more: str) -> Consumer:
    """A member of the group `shop` that has its partitions, and commits nothing by itself."""
    settings = {"group.id": "shop", "enable.auto.commit": False, "auto.offset.reset": "latest", **more}
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, **settings})
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(0.01)
    return consumer


def test_a_partition_without_a_commit_keeps_a_group_behind(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders", 3)
    kafka.produce("orders", "a", partition=0)
    kafka.produce("orders", "b", partition=1)
    kafka.commit_offsets("late", {("orders", 0): 1})
    with pytest.raises(
        TimeoutError, match=r"a lag of 1; without a committed offset: orders-1 \(a member that begins at"
    ):
        kafka.wait_for_group("late", lag=0, timeout=0)
    assert kafka.groups()["late"].lags == {("orders", 0): 0, ("orders", 1): 1}
    delete_records(kafka, "orders", 1, 1)
    assert kafka.wait_for_group("late", lag=0).lags == {("orders", 0): 0}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_lag_of_member_without_commits_is_the_record_count(kafka: KafkaDouble, protocol: str) -> None:
    kafka.create_topic("orders", 2)
    kafka.produce_all("orders", ["a", "b", "c"], partition=0)
    delete_records(kafka, "orders", 0, 1)
    consumer = joined(kafka, **{"group.protocol": protocol})
    assert kafka.wait_for_group("shop", "Stable", lag=2).lags == {("orders", 0): 2, ("orders", 1): 0}
    with pytest.raises(TimeoutError, match="without a committed offset: orders-0, orders-1"):
        kafka.wait_for_group("shop", lag=0, timeout=0)
    consumer.close()


def test_a_group_without_commits_and_members_has_no_lag(kafka: KafkaDouble) -> None:
    kafka.create_topic("orders")
    consumer = joined(kafka)
    assert kafka.wait_for_group("shop", lag=0).lag == 0, "an empty partition has no unread records"
    consumer.close()
    with pytest.raises(TimeoutError, match="no committed offset"):
        kafka.wait_for_group("shop", "Empty", lag=0, timeout=0)


def test_a_partition_without_a_leader_keeps_a_group_behind() -> None:
    with KafkaDouble(brokers=2, stepped=True) as kafka:
        kafka.create_topic("orders", 2)
        kafka.commit_offsets("shop", {("orders", 0): 0, ("orders", 1): 0})
        kafka.wait_for_group("shop", lag=0)
        kafka.brokers[2].kill()
        kafka.advance(20)
        with pytest.raises(TimeoutError, match=r"without a leader: orders-[01]"):
            kafka.wait_for_group("shop", lag=0, timeout=0)


def test_lags_of_many_partitions_are_read_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients are served between two steps of the loop."""
    count = 2 * partition_state.STEP + 1
    steps: list[int] = []
    read = partition_state.log_bounds

    def counted(broker: Any, partitions: list[tuple[str, int]]) -> Any:
        steps.append(len(partitions))
        return read(broker, partitions)

    monkeypatch.setattr(partition_state, "log_bounds", counted)
    with KafkaDouble() as kafka:
        kafka.create_topic("t", count)
        kafka.produce("t", "x", partition=count - 1)
        kafka.commit_offsets("g", {("t", 0): 0})
        lags = kafka.groups()["g"].lags
    assert lags == {("t", 0): 0, ("t", count - 1): 1}
    assert steps == [partition_state.STEP, partition_state.STEP, 1]
