"""Heartbeats, and their absence: what they decide, and that the records say the same."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.broker_control_state import BrokerControlState
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.broker_life import END, SESSION, Office, request
from tests.server.controller.small_clusters import (
    at,
    cluster,
    directory,
    epoch_of,
    non_default_fields,
    partition,
    with_topic,
)

ME = 2


def two_lead(**cluster_of: Any) -> Image:
    """Three brokers; ME leads one partition, alone is in sync in the other."""
    image = cluster(1, ME, 3, **cluster_of)
    return with_topic(image, "t", partition([ME, 1, 3]), partition([ME]))


def reported_changes(office: Office, start: int = 0) -> list[dict[str, Any]]:
    """The fields that changed in the brokers' own records."""
    own = [record for record in office.written[start:] if type(record).__name__ == "BrokerRegistrationChangeRecord"]
    return [non_default_fields(record) for record in own]


class TestUnfencing:
    def test_a_broker_is_unfenced_when_it_has_read_its_registration(self) -> None:
        office = Office(cluster(1))
        office.register(request(5))
        at = END
        for offset, wants_fence, expected in [
            (at - 1, True, (BrokerControlState.FENCED, False)),
            (at - 1, False, (BrokerControlState.FENCED, False)),
            (at, True, (BrokerControlState.FENCED, True)),
            (at, False, (BrokerControlState.UNFENCED, True)),
            (at, False, (BrokerControlState.UNFENCED, True)),
        ]:
            done = office.beat(5, offset=offset, fence=wants_fence)
            assert (done.state, done.caught_up) == expected
        assert reported_changes(office) == [{"fenced": -1}]

    def test_partitions_without_a_leader_get_it(self) -> None:
        office = Office(with_topic(cluster(1, ME, fenced=[ME]), "t", partition([ME], isr=[ME], leader=-1)))
        done = office.beat(ME)
        assert done.state is BrokerControlState.UNFENCED
        assert at(office.image, "t").leader == ME
        assert [type(record).__name__ for record in done.records] == [
            "BrokerRegistrationChangeRecord",
            "PartitionChangeRecord",
        ]

    def test_new_controller_has_full_sessions_for_all_brokers(self) -> None:
        office = Office(cluster(1, fenced=[1]))
        assert office.beat(1, offset=END - 2).state is BrokerControlState.FENCED
        assert office.beat(1, offset=END - 1).state is BrokerControlState.UNFENCED


class TestFencing:
    def test_a_broker_is_fenced_when_it_wants(self) -> None:
        office = Office(two_lead())
        done = office.beat(ME, fence=True)
        assert done.state is BrokerControlState.FENCED
        assert reported_changes(office) == [{"fenced": 1}]
        assert at(office.image, "t").leader == 1

    def test_silent_brokers_are_fenced_one_after_the_other(self) -> None:
        office = Office(two_lead())
        assert office.wait(SESSION) == []
        office.beat(1)
        assert office.wait(1) == [ME, 3]
        assert at(office.image, "t").leader == 1
        assert at(office.image, "t").isr == (1,)
        assert at(office.image, "t", 1).leader == -1
        assert office.wait(SESSION) == [1]
        assert office.wait(100 * SESSION) == []

    def test_last_broker_keeps_the_partitions_of_the_others(self) -> None:
        office = Office(two_lead())
        assert office.wait(SESSION + 1) == [1, ME, 3]
        assert at(office.image, "t").leader == -1
        assert not any(broker.active for broker in office.image.brokers.values())

    def test_a_fenced_broker_that_falls_silent_is_fenced_again(self) -> None:
        office = Office(cluster(1))
        office.register(request(5))
        office.beat(5, fence=True)
        office.beat(1)
        assert office.wait(SESSION + 1) == [1, 5]
        assert reported_changes(office) == [{"fenced": 1}, {"fenced": 1}]

    def test_returning_broker_is_unfenced_in_the_same_registration(self) -> None:
        office = Office(two_lead())
        office.wait(SESSION + 1)
        assert office.beat(ME).state is BrokerControlState.UNFENCED
        assert at(office.image, "t", 1).leader == ME
        assert office.broker(ME).epoch == epoch_of(ME)

    def test_a_broker_that_sends_no_heartbeats_is_never_fenced(self) -> None:
        office = Office(cluster(1, 2))
        office.heartbeats.never_expires(2)
        assert office.wait(10 * SESSION) == [1]


class TestShutdown:
    def test_leaders_move_first_and_every_broker_has_the_change_before_it_stops(self) -> None:
        office = Office(two_lead())
        for other in (1, 3):
            office.beat(other)
        done = office.beat(ME, stop=True)
        assert done.state is BrokerControlState.CONTROLLED_SHUTDOWN
        assert reported_changes(office) == [{"in_controlled_shutdown": 1}]
        assert (at(office.image, "t").leader, at(office.image, "t").isr) == (1, (1, 3))
        controlled_shutdown_offset = office.image.end.offset - 1
        assert office.beat(ME, stop=True).state is BrokerControlState.CONTROLLED_SHUTDOWN
        office.beat(1, offset=controlled_shutdown_offset)
        office.beat(3, offset=controlled_shutdown_offset - 1)
        assert office.beat(ME, stop=True).state is BrokerControlState.CONTROLLED_SHUTDOWN
        office.beat(3, offset=controlled_shutdown_offset)
        done = office.beat(ME, stop=True)
        assert done.state is BrokerControlState.SHUTDOWN_NOW
        assert reported_changes(office) == [{"in_controlled_shutdown": 1}, {"fenced": 1}]
        assert not office.broker(ME).active

    def test_a_broker_that_leads_nothing_goes_at_once(self) -> None:
        office = Office(two_lead())
        assert office.beat(3, stop=True).state is BrokerControlState.SHUTDOWN_NOW
        assert reported_changes(office) == [{"fenced": 1}]
        assert at(office.image, "t").isr == (ME, 1)

    def test_fenced_broker_shuts_down_at_once(self) -> None:
        office = Office(cluster(1, 2, fenced=[2]))
        assert office.beat(2, stop=True, offset=0).state is BrokerControlState.SHUTDOWN_NOW
        assert reported_changes(office) == [{"fenced": 1}]

    def test_broker_that_still_leads_may_not_shut_down(self) -> None:
        office = Office(two_lead())
        office.beat(ME, stop=True)
        again = with_topic(office.image, "u", partition([ME]))
        office.image = again
        for other in (1, 3):
            office.beat(other)
        assert office.beat(ME, stop=True).state is BrokerControlState.CONTROLLED_SHUTDOWN

    def test_a_new_leader_begins_the_shutdown_again_without_a_second_record(self) -> None:
        office = Office(two_lead())
        office.beat(ME, stop=True)
        office.image = with_topic(office.image, "u", partition([ME, 1]))
        office.new_leader()
        for other in (1, 3):
            office.beat(other)
        assert office.beat(ME, stop=True).state is BrokerControlState.CONTROLLED_SHUTDOWN
        assert reported_changes(office) == [{"in_controlled_shutdown": 1}]
        assert at(office.image, "u").leader == 1
        for other in (1, 3):
            office.beat(other)
        assert office.beat(ME, stop=True).state is BrokerControlState.SHUTDOWN_NOW

    def test_broker_that_died_in_shutdown_is_fenced_and_may_return(self) -> None:
        office = Office(two_lead())
        office.beat(ME, stop=True)
        office.wait(SESSION + 1)
        assert office.beat(ME, stop=False).state is BrokerControlState.UNFENCED
        assert office.beat(ME).state is BrokerControlState.UNFENCED
        assert office.broker(ME).in_controlled_shutdown

    def test_brokers_in_controlled_shutdown_do_not_wait_for_one_another(self) -> None:
        image = with_topic(cluster(1, 2, 3), "t", partition([1, 3]), partition([2, 3]))
        office = Office(image)
        for leaving in (1, 2):
            assert office.beat(leaving, stop=True).state is BrokerControlState.CONTROLLED_SHUTDOWN
        office.beat(3)
        for leaving in (1, 2):
            assert office.beat(leaving, stop=True).state is BrokerControlState.SHUTDOWN_NOW


class TestDirectories:
    A, B = directory(ME, 0), directory(ME, 1)

    def image(self, **cluster_of: Any) -> Image:
        image = cluster(1, ME, directories=2, **cluster_of)
        return with_topic(image, "t", partition([ME, 1], directories=[self.A, directory(1)]))

    def test_replicas_in_a_directory_that_failed_lead_no_more(self) -> None:
        office = Office(self.image())
        assert office.beat(ME, offline=[self.A]).state is BrokerControlState.UNFENCED
        assert office.broker(ME).log_dirs == (self.B,)
        assert (at(office.image, "t").leader, at(office.image, "t").isr) == (1, (1,))
        assert office.beat(ME, offline=[self.A]).records == []

    def test_heartbeat_with_unknown_offline_directory_changes_nothing(self) -> None:
        office = Office(self.image())
        assert office.beat(ME, offline=[Uuid(b"x" * 16)]).records == []

    def test_broker_may_be_fenced_and_lose_a_directory_at_once(self) -> None:
        office = Office(self.image())
        done = office.beat(ME, fence=True, offline=[self.A])
        assert reported_changes(office) == [{"fenced": 1}, {"log_dirs": [self.B]}]
        assert done.state is BrokerControlState.FENCED
        epochs = [record for record in done.records if type(record).__name__ == "PartitionChangeRecord"]
        assert len(epochs) == 1, "the second change saw the first"

    def test_the_first_report_of_cordoned_directories_is_recorded(self) -> None:
        office = Office(self.image())
        office.register(request(5))
        start = len(office.written)
        steps: list[tuple[list[Uuid] | None, list[dict[str, Any]]]] = [
            (None, []),
            ([], [{"cordoned_log_dirs": []}]),
            ([], []),
            ([directory(5)], [{"cordoned_log_dirs": [directory(5)]}]),
            ([directory(5)], []),
            (None, []),
            ([], [{"cordoned_log_dirs": []}]),
        ]
        for cordoned, expected in steps:
            office.beat(5, fence=True, cordoned=cordoned)
            assert reported_changes(office, start) == expected
            start = len(office.written)

    def test_a_new_leader_does_not_record_the_same_report_again(self) -> None:
        office = Office(self.image())
        assert office.beat(ME, cordoned=[]).records == []
        assert reported_changes(office) == []
        office.beat(ME, cordoned=[self.B, self.A])
        assert office.beat(ME, cordoned=[self.A, self.B]).records == []
        assert office.broker(ME).cordoned_log_dirs == (self.B, self.A)

    def test_before_metadata_4_3_it_is_not_recorded(self) -> None:
        office = Office(self.image(level=29))
        assert office.beat(ME, cordoned=[self.A]).records == []


class TestStaleEpochs:
    @pytest.mark.parametrize(
        ("broker", "epoch", "message"),
        [
            (9, 5, "No broker registration found for broker id 9"),
            (-1, -1, "No broker registration found for broker id -1"),
            (1, epoch_of(2), f"Expected broker epoch {epoch_of(1)}, but got broker epoch {epoch_of(2)}"),
            (1, -1, f"Expected broker epoch {epoch_of(1)}, but got broker epoch -1"),
        ],
    )
    def test_a_broker_that_is_not_registered_so_has_no_say(self, broker: int, epoch: int, message: str) -> None:
        office = Office(cluster(1, 2))
        with pytest.raises(Refusal) as refused:
            office.beat(broker, epoch=epoch)
        assert (refused.value.code, refused.value.message) == (error_codes.STALE_BROKER_EPOCH, message)
        assert office.wait(SESSION + 1) == [1, 2], "it did not count as heard"
