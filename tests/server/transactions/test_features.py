"""`transaction.version` as UpdateFeatures sets it, with Kafka's effect: the format of records, and
what the coordinator's own aborts do."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.server.metadata.internal_topics import TRANSACTION_STATE
from kafkadouble.server.transactions.transaction_state import COMPLETE_ABORT, COMPLETE_COMMIT
from kafkadouble.wire.batch import decode_all
from tests.server.transactions.broker import ABORT_MS, Broker
from tests.support.transactional_producer import TransactionalProducer, committed_values

UPGRADE, SAFE_DOWNGRADE = 1, 2


def finalize(broker: Broker, level: int) -> None:
    kind = SAFE_DOWNGRADE if level < finalized(broker) else UPGRADE
    update = UpdateFeaturesRequest.FeatureUpdateKey(
        feature="transaction.version", max_version_level=level, upgrade_type=kind
    )
    response = broker.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)
    assert (response.error_code, response.error_message) == (0, None)


def finalized(broker: Broker) -> int:
    """The level that clients read in ApiVersions; a feature at level 0 is not there."""
    response = broker.ask(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4)
    features = [feature for feature in response.finalized_features if feature.name == "transaction.version"]
    return features[0].max_version_level if features else 0


def test_a_new_cluster_has_version_2(broker: Broker) -> None:
    assert finalized(broker) == 2


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_level_selects_the_format_of_records(broker: Broker, level: int, version: int) -> None:
    if level < 2:
        finalize(broker, level)
    assert finalized(broker) == level
    producer = broker.producer(version=version)
    assert [producer.send(b"a"), producer.end(commit=True)] == [0, 0]
    assert {
        int.from_bytes((record.value or b"")[:2], "big")
        for index in range(3)
        for batch in broker.partition(TRANSACTION_STATE, index).log.batches(0)
        for record in decode_all(bytes(batch))
    } == {0 if level == 0 else 1}
    assert broker.state() is COMPLETE_COMMIT


@pytest.mark.parametrize(("level", "epoch"), [(0, 1), (1, 1), (2, 1)])
def test_a_time_out_raises_the_epoch_by_one_at_each_level(broker: Broker, level: int, epoch: int) -> None:
    if level < 2:
        finalize(broker, level)
    producer = broker.producer(version=1, timeout_ms=1)
    assert producer.send(b"a") == 0
    broker.tick(ABORT_MS)
    metadata = broker.metadata()
    assert (metadata.state, metadata.producer_epoch) == (COMPLETE_ABORT, epoch)
    assert metadata.client_transaction_version == (2 if level == 2 else 0)
    assert committed_values(broker.ask) == []


def test_levels_change_in_an_open_transaction(broker: Broker) -> None:
    """A producer keeps its protocol until its client reads the features again."""
    producer = broker.producer(version=2)
    for level in (0, 1, 2, 1, 2):
        assert producer.send(b"%d" % level) == 0
        if level != finalized(broker):
            finalize(broker, level)
        assert producer.end(commit=True) == 0
    assert committed_values(broker.ask) == [b"0", b"1", b"2", b"1", b"2"]


def test_a_producer_changes_its_version_between_transactions(broker: Broker) -> None:
    new = broker.producer(version=2)
    assert [new.send(b"a"), new.end(commit=True)] == [0, 0]
    old = TransactionalProducer(broker.ask, version=1)
    assert old.init() == 0
    assert [old.send(b"b"), old.end(commit=True), old.send(b"c"), old.end(commit=False)] == [0, 0, 0, 0]
    newer = TransactionalProducer(broker.ask, version=2)
    assert newer.init() == 0
    assert [newer.send(b"d"), newer.end(commit=True)] == [0, 0]
    assert committed_values(broker.ask) == [b"a", b"b", b"d"]
