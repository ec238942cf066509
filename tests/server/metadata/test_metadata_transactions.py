"""What a new leader makes of a metadata transaction that was left open, by level (KIP-868)."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.server.metadata.broken_log import BrokenLog
from kafkadouble.server.metadata.image import EMPTY
from kafkadouble.server.metadata.metadata_transactions import abort_records, in_transaction
from kafkadouble.server.metadata.metadata_versions import NAMES
from kafkadouble.server.metadata.replay import MetadataDelta
from tests.server.metadata.cluster_story import made

BEGIN, END = made("BeginTransactionRecord", name="x"), made("EndTransactionRecord")
CONFIG = made("ConfigRecord", resource_type=2, resource_name="t", name="k", value="v")


def level(number: int) -> Any:
    return made("FeatureLevelRecord", name="metadata.version", feature_level=number)


def fold(*records: Any) -> MetadataDelta:
    made = MetadataDelta()
    for record in records:
        made.replay(record)
    return made


@pytest.mark.parametrize("number", sorted(NAMES))
def test_an_open_transaction_is_aborted_where_there_are_any(number: int) -> None:
    found = fold(level(number), BEGIN, CONFIG)
    if number < 13:
        with pytest.raises(BrokenLog, match=f"open at metadata.version {number}, which has none"):
            abort_records(found)
        return
    [abort] = abort_records(found)
    assert abort == made("AbortTransactionRecord", reason="Controller failover")
    found.replay(abort)
    assert not found.in_transaction
    assert found.image == fold(level(number)).image
    assert abort_records(found) == []


@pytest.mark.parametrize("records", [(), (level(33),), (level(7),), (level(33), BEGIN, CONFIG, END)])
def test_no_end_record_without_open_metadata_transaction(records: tuple[Any, ...]) -> None:
    assert abort_records(fold(*records)) == []


def test_a_cluster_with_an_interrupted_start_starts_again() -> None:
    """The first records of a cluster are invisible in the transaction, the level too: the level of
    the new records counts.
    """
    cut = fold(BEGIN, level(30), CONFIG)
    assert cut.image == EMPTY
    again = in_transaction([level(30), CONFIG], "Bootstrap records", None)
    for record in [*abort_records(cut, [level(30)]), *again]:
        cut.replay(record)
    assert cut.image == fold(level(30), CONFIG).image
    with pytest.raises(BrokenLog):
        abort_records(fold(BEGIN, level(30)), [level(12)])


def test_records_are_in_a_transaction_where_the_level_has_them() -> None:
    assert in_transaction([CONFIG], "n", 13) == [made("BeginTransactionRecord", name="n"), CONFIG, END]
    assert in_transaction([CONFIG], "n", 12) == [CONFIG]
    assert in_transaction([level(12), CONFIG], "n", None) == [level(12), CONFIG]
    assert in_transaction([CONFIG], "n", None)[0] == made("BeginTransactionRecord", name="n")
