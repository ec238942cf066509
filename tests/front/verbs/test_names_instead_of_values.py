"""What a program in another language has instead of Python's values: ids of rules and names of
snapshots."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.verbs.cluster.snapshots import MOST_SNAPSHOTS
from kafkadouble.verbs.registry import VERBS


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(seed=1) as kafka:
        yield kafka


def test_a_rule_is_found_by_its_id(kafka: KafkaDouble) -> None:
    first, second = kafka.ignore("Fetch"), kafka.ignore("Produce")
    assert (first.id, second.id) == (1, 2)
    kafka.remove_rule(2)
    assert [rule.id for rule in kafka.rules] == [1]
    kafka.remove_rule(2)
    with pytest.raises(TimeoutError, match="applied 1 times: not within 0 s"):
        kafka.wait_for_rule(2, timeout=0)
    kafka.remove_rule(first)
    assert kafka.rules == []


def test_an_unknown_id_is_refused(kafka: KafkaDouble) -> None:
    kafka.ignore("Fetch")
    for wrong in (0, 2, -1):
        with pytest.raises(UsageError, match=f"there is no rule with the id {wrong} since the start or the last reset"):
            kafka.remove_rule(wrong)
    with pytest.raises(UsageError, match="the handle or the id of a rule, not 'one'"):
        kafka.remove_rule("one")  # type: ignore[arg-type]
    kafka.reset()
    with pytest.raises(UsageError, match="there is no rule with the id 1"):
        kafka.wait_for_rule(1)
    assert kafka.ignore("Fetch").id == 1


def test_old_rules_are_forgotten(kafka: KafkaDouble) -> None:
    for _ in range(1001):
        kafka.ignore("Fetch")
        kafka.clear_rules()
    with pytest.raises(UsageError, match="there is no rule with the id 1 "):
        kafka.remove_rule(1)
    kafka.remove_rule(2)


def test_a_snapshot_is_restored_by_its_name(kafka: KafkaDouble) -> None:
    kafka.produce("orders", "one")
    taken = kafka.snapshot("clean")
    kafka.produce("orders", "two")
    kafka.restore("clean")
    assert [record.value for record in kafka.records("orders")] == [b"one"]
    assert kafka.snapshots == {"clean": taken}
    VERBS["snapshot"].call_json(kafka, {"name": "clean"})
    assert kafka.snapshots["clean"] is not taken
    kafka.drop_snapshot("clean")
    with pytest.raises(UsageError, match=r"there is no snapshot 'clean'$"):
        kafka.restore("clean")


def test_names_of_snapshots_are_bounded(kafka: KafkaDouble) -> None:
    for number in range(MOST_SNAPSHOTS):
        kafka.snapshot(f"s{number}")
    with pytest.raises(UsageError, match=r"16 snapshots with names are kept: drop_snapshot\('s0'\) makes room"):
        kafka.snapshot("one more")
    kafka.snapshot("s3")
    with pytest.raises(UsageError, match="there is no snapshot 's33'; did you mean 's3'"):
        kafka.drop_snapshot("s33")
    with pytest.raises(UsageError, match="name is a name of 1 to 249 characters, not ''"):
        kafka.snapshot("")
    kafka.snapshot()
