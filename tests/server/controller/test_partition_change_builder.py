"""One partition and one wish: what the record says."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.leader_election import Election
from kafkadouble.server.controller.partition_change_builder import (
    RECOVERED,
    RECOVERING,
    PartitionChangeRules,
    PartitionTarget,
    build_partition_change,
)
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.metadata.log_dir_ids import UNASSIGNED
from tests.server.controller.small_clusters import directory, non_default_fields

TOPIC_ID = Uuid(b"t" * 16)


def of(replicas: str, isr: str, leader: int = -1, **others: Any) -> PartitionImage:
    """Brokers are digits; the first in-sync replica leads, if there is one."""
    numbers = {name: tuple(map(int, value)) for name, value in others.items() if isinstance(value, str)}
    in_sync = tuple(map(int, isr))
    ids = tuple(map(int, replicas))
    leads = leader if leader >= 0 or not in_sync or others.pop("leaderless", False) else in_sync[0]
    others.pop("leaderless", None)
    return PartitionImage(ids, tuple(directory(each) for each in ids), in_sync, leads, 5, 7, **{**others, **numbers})


def rules(alive: Collection[int], *, min_isr: int = 1, elr: bool = True, old: bool = False) -> PartitionChangeRules:
    return PartitionChangeRules(
        lambda _, broker: broker in alive, min_isr, elr, old, None if old else lambda _: UNASSIGNED
    )


def change(before: PartitionImage, wish: PartitionTarget, by: PartitionChangeRules) -> dict[str, Any] | None:
    record = build_partition_change(before, TOPIC_ID, 3, wish, by)
    if record is None:
        return None
    assert (record.topic_id, record.partition_id) == (TOPIC_ID, 3)
    return non_default_fields(record)


ALIVE = rules({1, 2, 3, 4})


def test_unchanged_partition_has_no_record() -> None:
    assert change(of("123", "123"), PartitionTarget(), ALIVE) is None
    assert change(of("123", "123"), PartitionTarget(election=Election.UNCLEAN, recovery=RECOVERED), ALIVE) is None


def test_before_metadata_3_6_the_leader_epoch_goes_up_when_a_replica_falls_out_of_sync() -> None:
    old = rules({1, 2, 3}, elr=False, old=True)
    assert change(of("123", "123"), PartitionTarget(isr=[1, 2]), old) == {"isr": [1, 2], "leader": 1}
    assert change(of("123", "12"), PartitionTarget(isr=[1, 2, 3]), old) == {"isr": [1, 2, 3]}
    assert change(of("123", "12"), PartitionTarget(isr=[2, 1]), old) == {"isr": [2, 1]}


class TestElections:
    def test_the_first_live_in_sync_replica_leads_when_the_leader_is_lost(self) -> None:
        assert change(of("123", "123"), PartitionTarget(isr=[2, 3]), rules({2, 3})) == {"isr": [2, 3], "leader": 2}
        assert change(of("132", "123"), PartitionTarget(isr=[2, 3]), rules({2, 3})) == {"isr": [2, 3], "leader": 3}

    def test_a_leader_that_can_go_on_goes_on(self) -> None:
        assert change(of("123", "23", 2), PartitionTarget(), ALIVE) is None
        assert change(of("123", "123", 3), PartitionTarget(election=Election.UNCLEAN), ALIVE) is None

    def test_the_preferred_one_is_the_first_replica_if_it_is_in_sync_and_alive(self) -> None:
        preferred = PartitionTarget(election=Election.PREFERRED)
        assert change(of("123", "123", 2), preferred, ALIVE) == {"leader": 1}
        assert change(of("123", "23", 2), preferred, ALIVE) is None
        assert change(of("123", "123", 2), preferred, rules({2, 3})) is None
        assert change(of("123", "23", leaderless=True), preferred, rules({3})) == {"leader": 3}

    def test_no_replica_leads_when_no_in_sync_replica_is_alive(self) -> None:
        without_elr = rules({3}, elr=False)
        assert change(of("123", "12"), PartitionTarget(), without_elr) == {"leader": -1}
        assert change(of("123", "12", leaderless=True), PartitionTarget(), without_elr) is None

    def test_an_unclean_election_takes_a_live_replica_alone_in_sync_and_recovering(self) -> None:
        unclean = PartitionTarget(election=Election.UNCLEAN)
        assert change(of("123", "12"), unclean, rules({3}, elr=False)) == {
            "isr": [3], "leader": 3, "leader_recovery_state": RECOVERING,
        }  # fmt: skip
        assert change(of("123", "12", leader_recovery_state=RECOVERING), unclean, rules({3}, elr=False)) == {
            "isr": [3], "leader": 3,
        }  # fmt: skip
        assert change(of("123", "12"), unclean, rules(set(), elr=False)) == {"leader": -1}

    def test_recovery_ends_when_the_leader_reports_it(self) -> None:
        before = of("123", "3", leader_recovery_state=RECOVERING)
        assert change(before, PartitionTarget(recovery=RECOVERED), ALIVE) == {"leader_recovery_state": RECOVERED}
        wish = PartitionTarget(isr=[3, 1], recovery=RECOVERED)
        assert change(before, wish, ALIVE) == {"isr": [3, 1], "leader_recovery_state": RECOVERED}


class TestEligibleLeaderReplicas:
    """KIP-966, with min.insync.replicas 2."""

    ALIVE = rules({1, 2, 3}, min_isr=2)

    def test_with_enough_in_sync_no_other_replica_is_eligible(self) -> None:
        assert change(of("123", "123"), PartitionTarget(isr=[1, 2]), self.ALIVE) == {"isr": [1, 2]}
        assert change(of("123", "1", elr="23"), PartitionTarget(isr=[1, 3]), self.ALIVE) == {
            "isr": [1, 3], "eligible_leader_replicas": [],
        }  # fmt: skip

    def test_replicas_that_leave_an_isr_below_the_minimum_stay_eligible(self) -> None:
        assert change(of("123", "123"), PartitionTarget(isr=[1]), self.ALIVE) == {
            "isr": [1], "eligible_leader_replicas": [2, 3],
        }  # fmt: skip
        assert change(of("123", "12", elr="3"), PartitionTarget(isr=[1]), self.ALIVE) == {
            "isr": [1], "eligible_leader_replicas": [2, 3],
        }  # fmt: skip

    def test_with_no_replica_in_sync_the_last_leader_is_remembered(self) -> None:
        assert change(of("12", "1", elr="2"), PartitionTarget(isr=[]), rules(set(), min_isr=2)) == {
            "isr": [], "leader": -1, "eligible_leader_replicas": [1, 2], "last_known_elr": [1],
        }  # fmt: skip

    def test_the_leader_before_the_last_is_not_remembered(self) -> None:
        gone = of("12", "1", last_known_elr="2")
        assert change(gone, PartitionTarget(isr=[]), rules(set(), min_isr=2)) == {
            "isr": [], "leader": -1, "eligible_leader_replicas": [1],
        }  # fmt: skip
        leaderless = of("123", "", elr="1")
        assert change(leaderless, PartitionTarget(replicas=[1, 2]), rules(set(), min_isr=2)) == {
            "replicas": [1, 2], "leader": -1, "directories": [directory(1), directory(2)],
        }  # fmt: skip

    def test_an_eligible_one_leads_cleanly_and_is_then_alone_in_sync(self) -> None:
        before = of("123", "", elr="12", last_known_elr="1")
        assert change(before, PartitionTarget(), rules({2}, min_isr=2)) == {
            "isr": [2], "leader": 2, "eligible_leader_replicas": [1], "last_known_elr": [],
        }  # fmt: skip
        assert change(before, PartitionTarget(), rules({3}, min_isr=2)) is None

    def test_in_sync_replica_is_elected_before_eligible_leader_replica(self) -> None:
        assert change(of("123", "3", elr="1", leaderless=True), PartitionTarget(), rules({1, 3}, min_isr=2)) == {
            "leader": 3
        }

    def test_an_unclean_shutdown_forgets_what_was_in_sync_or_eligible(self) -> None:
        gone = rules({1, 3}, min_isr=2)
        assert change(of("123", "12"), PartitionTarget(isr=[1], unclean_shutdown_replica=2), gone) == {"isr": [1]}
        assert change(of("123", "1", elr="2"), PartitionTarget(unclean_shutdown_replica=2), gone) == {
            "eligible_leader_replicas": []
        }

    def test_the_last_leader_of_all_leads_again_uncleanly(self) -> None:
        gone = of("12", "", last_known_elr="2")
        assert change(gone, PartitionTarget(), rules({2}, min_isr=2)) == {
            "isr": [2], "leader": 2, "last_known_elr": [], "leader_recovery_state": RECOVERING,
        }  # fmt: skip
        assert change(gone, PartitionTarget(), rules({1}, min_isr=2)) is None
        assert change(gone, PartitionTarget(election=Election.UNCLEAN), rules({1}, min_isr=2)) == {
            "isr": [1], "leader": 1, "last_known_elr": [], "leader_recovery_state": RECOVERING,
        }  # fmt: skip

    def test_the_last_leader_waits_for_those_in_sync_and_those_eligible(self) -> None:
        alive = rules({2}, min_isr=2)
        assert change(of("12", "1", leaderless=True, last_known_elr="2"), PartitionTarget(), alive) is None
        assert change(of("123", "", elr="1", last_known_elr="2"), PartitionTarget(), alive) is None
        assert change(of("12", "", last_known_elr="2"), PartitionTarget(), rules({2}, elr=False)) is None

    def test_the_last_leader_is_passed_over_when_it_has_no_replica_any_more(self) -> None:
        assert change(of("12", "", last_known_elr="3"), PartitionTarget(), rules({1, 3}, min_isr=2)) is None

    def test_several_last_replicas_leave_no_last_known_leader(self) -> None:
        assert change(of("12", "", last_known_elr="12"), PartitionTarget(), rules({1, 2}, min_isr=2)) is None

    def test_an_unclean_election_clears_the_eligible_replicas(self) -> None:
        before = of("123", "", elr="12", last_known_elr="1")
        assert change(before, PartitionTarget(election=Election.UNCLEAN), rules({3}, min_isr=2)) == {
            "isr": [3], "leader": 3, "eligible_leader_replicas": [], "last_known_elr": [],
            "leader_recovery_state": RECOVERING,
        }  # fmt: skip

    def test_without_the_feature_no_replica_is_eligible_and_the_last_in_sync_stays(self) -> None:
        without = rules({2}, min_isr=2, elr=False)
        assert change(of("12", "1"), PartitionTarget(isr=[]), without) == {"leader": -1}
        assert change(of("12", "12"), PartitionTarget(isr=[]), rules({1, 2}, elr=False)) == {"leader": -1}
        assert change(of("12", "12", elr="3"), PartitionTarget(), without) == {
            "leader": 2,
            "eligible_leader_replicas": [],
        }
        assert change(of("12", "12"), PartitionTarget(isr=[2]), without) == {"isr": [2], "leader": 2}


class TestReassignments:
    def test_reassignment_does_not_end_with_empty_isr(self) -> None:
        before = of("213", "3", removing_replicas="3")
        assert change(before, PartitionTarget(), ALIVE) is None

    def test_shrinking_reassignment_waits_for_all_remaining_replicas(self) -> None:
        before = of("4213", "13", adding_replicas="4", removing_replicas="13")
        assert change(before, PartitionTarget(isr=[1, 3, 4]), ALIVE) == {"isr": [1, 3, 4]}
        record = change(before, PartitionTarget(isr=[1, 3, 4, 2]), ALIVE)
        assert record is not None
        assert (record["replicas"], record["isr"], record["leader"]) == ([4, 2], [4, 2], 4)

    def test_another_order_of_the_replicas_is_no_new_leader_epoch(self) -> None:
        assert change(of("12", "12"), PartitionTarget(replicas=[2, 1]), ALIVE) == {
            "replicas": [2, 1], "directories": [directory(2), directory(1)],
        }  # fmt: skip

    def test_replicas_only_come(self) -> None:
        wish = PartitionTarget(replicas=[1, 2, 3], adding=[3])
        record = change(of("12", "12"), wish, rules({1, 2, 3}, elr=False, old=True))
        assert record == {"replicas": [1, 2, 3], "adding_replicas": [3]}


@pytest.mark.parametrize("level_knows", [True, False])
def test_directories_are_written_where_the_level_has_them(level_knows: bool) -> None:
    wish = PartitionTarget(directories={2: directory(2, 1)})
    expected = {"directories": [directory(1), directory(2, 1)]} if level_knows else None
    assert change(of("12", "12"), wish, rules({1, 2}, old=not level_knows)) == expected


def test_a_partition_from_before_directories_has_none_to_write() -> None:
    before = of("12", "12")._replace(directories=())
    assert change(before, PartitionTarget(), ALIVE) is None
    assert change(before, PartitionTarget(directories={1: directory(1)}), ALIVE) == {
        "directories": [directory(1), Uuid.ZERO]
    }
