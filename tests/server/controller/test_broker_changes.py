"""What becomes of the partitions when brokers go, come, stop, forget, and lose directories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller.broker_changes import (
    handle_broker_fenced,
    handle_broker_in_controlled_shutdown,
    handle_broker_unfenced,
    handle_broker_unregistered,
    handle_clean_broker_shutdown,
    handle_directories_cordoned,
    handle_directories_offline,
    handle_unclean_broker_shutdown,
    leads_partitions,
)
from kafkadouble.server.controller.partition_change_builder import RECOVERING
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.log_dir_ids import LOST, UNASSIGNED
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import (
    DEFAULTS,
    TWO_IN_SYNC,
    after,
    at,
    cluster,
    directory,
    epoch_of,
    id_of,
    non_default_fields,
    partition,
    with_topic,
)

Changes = list[tuple[str, dict[str, Any]]]


def changes_in(image: Image, records: list[Message]) -> Changes:
    """The records by what they are about: `topic-partition`, or `broker N`."""
    names = {topic.id: topic.name for topic in image.topics.values()}
    changes = []
    for record in records:
        fields: Any = record
        if hasattr(record, "topic_id"):
            changes.append((f"{names[fields.topic_id]}-{fields.partition_id}", non_default_fields(record)))
        else:
            assert fields.broker_epoch == epoch_of(fields.broker_id)
            changes.append((f"broker {fields.broker_id}", non_default_fields(record)))
    return changes


def three(**configs: str) -> Image:
    """Brokers 1, 2 and 3; topic b with two partitions on all of them, led by 1 and 2; topic a on 1
    only.
    """
    image = with_topic(cluster(1, 2, 3), "b", partition([1, 2, 3]), partition([2, 3, 1]), **configs)
    return with_topic(image, "a", partition([1]), **configs)


class TestFenced:
    def test_fenced_broker_leads_no_partition_and_is_in_no_isr(self) -> None:
        image = three()
        assert changes_in(image, handle_broker_fenced(image, 1, DEFAULTS)) == [
            ("a-0", {"leader": -1, "isr": [], "eligible_leader_replicas": [1], "last_known_elr": [1]}),
            ("b-0", {"leader": 2, "isr": [2, 3]}),
            ("b-1", {"isr": [2, 3]}),
            ("broker 1", {"fenced": 1}),
        ]

    def test_without_eligible_leader_replicas_the_last_one_in_sync_stays_so(self) -> None:
        image = with_topic(cluster(1, 2, elr=0), "t", partition([1]), partition([2, 1], isr=[1]))
        assert changes_in(image, handle_broker_fenced(image, 1, DEFAULTS)) == [
            ("t-0", {"leader": -1}),
            ("t-1", {"leader": -1}),
            ("broker 1", {"fenced": 1}),
        ]

    def test_an_unclean_election_where_the_topic_allows_it(self) -> None:
        image = with_topic(cluster(1, 2, elr=0), "t", partition([1, 2], isr=[1]), unclean_leader_election_enable="true")
        assert changes_in(image, handle_broker_fenced(image, 1, DEFAULTS))[0] == (
            "t-0",
            {"leader": 2, "isr": [2], "leader_recovery_state": RECOVERING},
        )

    def test_an_unclean_election_where_the_broker_allows_it(self) -> None:
        image = with_topic(cluster(1, 2, elr=0), "t", partition([1, 2], isr=[1]))
        everywhere = Settings({"unclean.leader.election.enable": True})
        assert changes_in(image, handle_broker_fenced(image, 1, everywhere))[0][1]["leader"] == 2

    def test_a_replica_in_a_failed_directory_does_not_lead(self) -> None:
        where = [directory(1), LOST, directory(3)]
        image = with_topic(cluster(1, 2, 3), "t", partition([1, 2, 3], directories=where))
        assert changes_in(image, handle_broker_fenced(image, 1, DEFAULTS))[0] == ("t-0", {"leader": 3, "isr": [2, 3]})

    def test_a_replica_in_a_directory_that_its_broker_lacks_does_not_lead(self) -> None:
        where = [directory(1), directory(9), UNASSIGNED]
        image = with_topic(cluster(1, 2, 3), "t", partition([1, 2, 3], directories=where))
        assert changes_in(image, handle_broker_fenced(image, 1, DEFAULTS))[0][1]["leader"] == 3

    def test_min_insync_replicas_is_never_more_than_there_are_replicas(self) -> None:
        image = three()
        strict = Settings({"min.insync.replicas": 5})
        assert changes_in(image, handle_broker_fenced(image, 3, strict))[0] == (
            "b-0",
            {"isr": [1, 2], "eligible_leader_replicas": [3]},
        )
        image = with_topic(cluster(1, 2, 3), "t", partition([1, 2]), min_insync_replicas="3")
        left = after(image, handle_broker_fenced(image, 1, DEFAULTS))
        assert (at(left, "t").isr, at(left, "t").elr) == ((2,), (1,))

    def test_unregistered_broker_does_not_lead(self) -> None:
        image = with_topic(cluster(1, 2), "t", partition([1, 9, 2]))
        assert changes_in(image, handle_broker_fenced(image, 1, DEFAULTS))[0] == ("t-0", {"leader": 2, "isr": [9, 2]})

    @pytest.mark.parametrize(("level", "changed"), [(11, {"isr": [1], "leader": 1}), (12, {"isr": [1]})])
    def test_the_leader_epoch_goes_up_with_it_before_metadata_3_6(self, level: int, changed: dict[str, Any]) -> None:
        image = with_topic(cluster(1, 2, level=level, elr=0), "t", partition([1, 2], directories=[]))
        assert changes_in(image, handle_broker_fenced(image, 2, DEFAULTS))[0] == ("t-0", changed)


class TestUnfenced:
    def test_unfenced_broker_leads_leaderless_partitions(self) -> None:
        image = three()
        gone = after(image, handle_broker_fenced(image, 1, DEFAULTS))
        assert changes_in(gone, handle_broker_unfenced(gone, 1, DEFAULTS)) == [
            ("broker 1", {"fenced": -1}),
            ("a-0", {"leader": 1, "isr": [1], "eligible_leader_replicas": [], "last_known_elr": []}),
        ]

    def test_first_eligible_broker_that_returns_is_elected(self) -> None:
        image = with_topic(cluster(1, 2), "t", partition([1, 2]))
        for broker in (1, 2):
            image = after(image, handle_broker_fenced(image, broker, TWO_IN_SYNC))
        assert (at(image, "t").isr, at(image, "t").elr, at(image, "t").last_known_elr) == ((), (1, 2), (2,))
        back = after(image, handle_broker_unfenced(image, 1, TWO_IN_SYNC))
        assert (at(back, "t").leader, at(back, "t").isr, at(back, "t").elr) == (1, (1,), (2,))
        assert at(back, "t").last_known_elr == ()

    def test_an_unclean_election_waits_for_a_live_replica(self) -> None:
        image = with_topic(
            cluster(1, 2, fenced=[1, 2], elr=0), "t", partition([1, 2], isr=[1], leader=-1),
            unclean_leader_election_enable="true",
        )  # fmt: skip
        assert changes_in(image, handle_broker_unfenced(image, 2, DEFAULTS))[1] == (
            "t-0", {"leader": 2, "isr": [2], "leader_recovery_state": RECOVERING},
        )  # fmt: skip


class TestShuttingDown:
    def test_broker_in_controlled_shutdown_hands_over_its_partitions(self) -> None:
        image = three()
        assert changes_in(image, handle_broker_in_controlled_shutdown(image, 1, DEFAULTS))[0] == (
            "broker 1",
            {"in_controlled_shutdown": 1},
        )
        left = after(image, handle_broker_in_controlled_shutdown(image, 1, DEFAULTS))
        assert (at(left, "b").leader, at(left, "b").isr) == (2, (2, 3))
        assert not leads_partitions(left, 1)

    def test_shutdown_is_recorded_once_and_partitions_are_checked_again(self) -> None:
        image = with_topic(cluster(1, 2, stopping=[1]), "t", partition([1, 2]))
        assert leads_partitions(image, 1)
        assert changes_in(image, handle_broker_in_controlled_shutdown(image, 1, DEFAULTS)) == [
            ("t-0", {"leader": 2, "isr": [2]})
        ]


class TestUnregistered:
    def test_unregistered_broker_is_removed(self) -> None:
        image = three()
        records = handle_broker_unregistered(image, 3, DEFAULTS)
        assert changes_in(image, records) == [("b-0", {"isr": [1, 2]}), ("b-1", {"isr": [2, 1]}), ("broker 3", {})]
        assert 3 not in after(image, records).brokers

    def test_an_unknown_broker(self) -> None:
        with pytest.raises(Refusal) as refused:
            handle_broker_unregistered(three(), 4, DEFAULTS)
        assert refused.value.code == error_codes.BROKER_ID_NOT_REGISTERED
        assert refused.value.message == "Broker ID 4 is not currently registered"


class TestRestarted:
    def test_broker_stays_eligible_after_a_clean_shutdown(self) -> None:
        image = three()
        left = after(image, handle_clean_broker_shutdown(image, 1, DEFAULTS))
        assert (at(left, "a").leader, at(left, "a").elr) == (-1, (1,))
        assert (at(left, "b").leader, at(left, "b").isr) == (2, (2, 3))

    def test_broker_is_not_eligible_after_an_unclean_shutdown(self) -> None:
        image = with_topic(three(), "c", partition([2, 1], isr=[2], eligible_leader_replicas=[1]))
        assert changes_in(image, handle_unclean_broker_shutdown(image, 1, TWO_IN_SYNC)) == [
            ("a-0", {"leader": -1, "isr": [], "last_known_elr": [1]}),
            ("b-0", {"leader": 2, "isr": [2, 3]}),
            ("b-1", {"isr": [2, 3]}),
            ("c-0", {"eligible_leader_replicas": []}),
        ]

    def test_the_one_replica_of_a_partition_leads_again_and_recovers(self) -> None:
        image = with_topic(cluster(1), "t", partition([1]))
        image = after(image, handle_unclean_broker_shutdown(image, 1, DEFAULTS))
        back = at(after(image, handle_broker_unfenced(image, 1, DEFAULTS)), "t")
        assert (back.leader, back.isr, back.leader_recovery_state) == (1, (1,), RECOVERING)
        assert (back.leader_epoch, back.partition_epoch) == (7, 9)

    def test_without_the_feature_an_unclean_shutdown_equals_a_clean_one(self) -> None:
        image = with_topic(cluster(1, 2, elr=0), "t", partition([1]), partition([1, 2]))
        assert changes_in(image, handle_unclean_broker_shutdown(image, 1, DEFAULTS)) == changes_in(
            image, handle_clean_broker_shutdown(image, 1, DEFAULTS)
        )
        assert changes_in(image, handle_unclean_broker_shutdown(image, 1, DEFAULTS)) == [
            ("t-0", {"leader": -1}),
            ("t-1", {"leader": 2, "isr": [2]}),
        ]


class TestDirectories:
    def image(self) -> Image:
        image = cluster(1, 2, directories=2)
        first = partition([1, 2], directories=[directory(1, 0), directory(2, 0)])
        second = partition([1, 2], directories=[directory(1, 1), directory(2, 1)])
        return with_topic(image, "t", first, second)

    def test_partitions_of_failed_directory_are_led_by_other_brokers(self) -> None:
        image = self.image()
        assert changes_in(image, handle_directories_offline(image, 1, DEFAULTS, [directory(1, 1)])) == [
            ("t-1", {"leader": 2, "isr": [2]}),
            ("broker 1", {"log_dirs": [directory(1, 0)]}),
        ]

    def test_a_failed_directory_is_reported_once(self) -> None:
        image = self.image()
        gone = after(image, handle_directories_offline(image, 1, DEFAULTS, [directory(1, 1)]))
        assert handle_directories_offline(gone, 1, DEFAULTS, [directory(1, 1), directory(7)]) == []
        left = changes_in(gone, handle_directories_offline(gone, 1, DEFAULTS, [directory(1, 1), directory(1, 0)]))
        assert left == [("t-0", {"leader": 2, "isr": [2]}), ("broker 1", {})]

    def test_cordoned_directories_are_recorded_when_they_change(self) -> None:
        image = self.image()
        assert handle_directories_cordoned(image, 1, None) == []
        assert handle_directories_cordoned(image, 1, []) == []
        records = handle_directories_cordoned(image, 1, [directory(1, 1)])
        assert changes_in(image, records) == [("broker 1", {"cordoned_log_dirs": [directory(1, 1)]})]
        cordoned = after(image, records)
        assert handle_directories_cordoned(cordoned, 1, [directory(1, 1)]) == []
        assert changes_in(image, handle_directories_cordoned(cordoned, 1, [])) == [
            ("broker 1", {"cordoned_log_dirs": []})
        ]


@pytest.mark.parametrize(
    "change",
    [
        handle_broker_fenced,
        handle_broker_unfenced,
        handle_broker_in_controlled_shutdown,
        handle_broker_unregistered,
        handle_clean_broker_shutdown,
        handle_unclean_broker_shutdown,
    ],
)
def test_decisions_leave_the_image_alone(change: Callable[..., list[Message]]) -> None:
    image = three()
    before = image
    change(image, 1, DEFAULTS)
    assert image == before
    assert at(image, "b").leader == 1
    assert id_of("b") in image.topics
