"""The replay of every kind of metadata record, and of records that contradict earlier ones."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import (
    BROKER,
    EMPTY,
    TOPIC,
    Acl,
    Endpoint,
    Image,
    PartitionImage,
    ScramCredential,
)
from kafkadouble.server.metadata.replay import REPLAYS, TRANSACTIONS, BrokenLog, MetadataDelta, replay
from tests.server.controller.small_clusters import after

A, B, DIR, OTHER_DIR = (Uuid(bytes([n]) * 16) for n in range(1, 5))


def made(kind: str, /, **fields: Any) -> Any:
    """A metadata record by its name."""
    return cls(kind)(**fields)


def cls(kind: str) -> Any:
    """The class of a metadata record by its name."""
    return registry.message(kind)


def folded(*records: Any, image: Image = EMPTY) -> Image:
    return after(image, records)


def broker(**fields: Any) -> Any:
    kind = cls("RegisterBrokerRecord")
    given = {
        "broker_id": 1,
        "broker_epoch": 7,
        "incarnation_id": A,
        "end_points": [kind.BrokerEndpoint(name="PLAINTEXT", host="here", port=9092, security_protocol=0)],
        "features": [kind.BrokerFeature(name="f", min_supported_version=1, max_supported_version=2)],
        "rack": "r",
        "fenced": True,
        "log_dirs": [DIR],
    }
    return kind(**given | fields)


def topic(name: str = "t", topic_id: Uuid = A) -> Any:
    return made("TopicRecord", name=name, topic_id=topic_id)


def partition(index: int = 0, topic_id: Uuid = A, **fields: Any) -> Any:
    given = {
        "replicas": [1, 2],
        "isr": [1],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "directories": [DIR, DIR],
    }
    return made("PartitionRecord", partition_id=index, topic_id=topic_id, **given | fields)


def change(index: int = 0, topic_id: Uuid = A, **fields: Any) -> Any:
    return made("PartitionChangeRecord", partition_id=index, topic_id=topic_id, **fields)


def the_partition(image: Image, index: int = 0) -> PartitionImage:
    return image.topics[A].partitions[index]


def test_every_kind_of_metadata_record_has_a_meaning() -> None:
    kinds = {entry.name for entry in registry.entries("metadata", "metadata")}
    assert kinds == REPLAYS.keys() | TRANSACTIONS.keys()


def test_an_unknown_record_type_is_a_broken_log() -> None:
    with pytest.raises(BrokenLog):
        replay(EMPTY, made("RemoteLogSegmentMetadataRecord"))


def test_feature_levels() -> None:
    image = folded(made("FeatureLevelRecord", name="f", feature_level=3))
    assert dict(image.features) == {"f": 3}
    assert folded(made("FeatureLevelRecord", name="f", feature_level=0), image=image).features == {}


def test_a_broker_registers() -> None:
    image = folded(broker())
    registered = image.brokers[1]
    assert (registered.epoch, registered.incarnation_id, registered.rack, registered.fenced) == (7, A, "r", True)
    assert registered.endpoints == (Endpoint("PLAINTEXT", "here", 9092, 0),)
    assert dict(registered.features) == {"f": (1, 2)}
    assert registered.log_dirs == (DIR,)
    assert registered.endpoint("PLAINTEXT") == registered.endpoints[0]
    assert registered.endpoint("OTHER") is None
    assert image.live_brokers() == []


def test_a_broker_that_registers_again_is_the_new_one() -> None:
    image = folded(broker(), broker(broker_epoch=9, rack=None))
    assert (image.brokers[1].epoch, image.brokers[1].rack) == (9, None)


@pytest.mark.parametrize(
    ("record", "changes"),
    [
        (made("BrokerRegistrationChangeRecord", broker_id=1, broker_epoch=7, fenced=-1), {"fenced": False}),
        (made("BrokerRegistrationChangeRecord", broker_id=1, broker_epoch=7, fenced=1), {"fenced": True}),
        (made("BrokerRegistrationChangeRecord", broker_id=1, broker_epoch=7, fenced=0), {}),
        (
            made("BrokerRegistrationChangeRecord", broker_id=1, broker_epoch=7, in_controlled_shutdown=1),
            {"in_controlled_shutdown": True},
        ),
        (
            made("BrokerRegistrationChangeRecord", broker_id=1, broker_epoch=7, log_dirs=[OTHER_DIR]),
            {"log_dirs": (OTHER_DIR,)},
        ),
        (
            made("BrokerRegistrationChangeRecord", broker_id=1, broker_epoch=7, cordoned_log_dirs=[DIR]),
            {"cordoned_log_dirs": (DIR,)},
        ),
        (made("FenceBrokerRecord", id=1, epoch=7), {"fenced": True}),
        (made("UnfenceBrokerRecord", id=1, epoch=7), {"fenced": False}),
    ],
)
@pytest.mark.parametrize("fenced", [True, False])
def test_a_broker_changes(record: Any, changes: dict[str, Any], fenced: bool) -> None:
    before = folded(broker(fenced=fenced))
    assert folded(record, image=before).brokers[1] == before.brokers[1]._replace(**changes)


@pytest.mark.parametrize(
    "record",
    [
        made("BrokerRegistrationChangeRecord", broker_id=1, broker_epoch=8, fenced=-1),
        made("BrokerRegistrationChangeRecord", broker_id=2, broker_epoch=7, fenced=-1),
        made("FenceBrokerRecord", id=1, epoch=6),
        made("UnfenceBrokerRecord", id=2, epoch=7),
        made("UnregisterBrokerRecord", broker_id=2, broker_epoch=7),
        made("UnregisterBrokerRecord", broker_id=1, broker_epoch=6),
    ],
)
def test_a_broker_of_another_life_does_not_change(record: Any) -> None:
    with pytest.raises(BrokenLog):
        folded(broker(), record)


def test_a_broker_unregisters() -> None:
    assert folded(broker(), made("UnregisterBrokerRecord", broker_id=1, broker_epoch=7)).brokers == {}


def test_a_controller_registers_and_unregisters() -> None:
    kind = cls("RegisterControllerRecord")
    endpoint = kind.ControllerEndpoint(name="CONTROLLER", host="here", port=9093, security_protocol=0)
    feature = kind.ControllerFeature(name="f", min_supported_version=0, max_supported_version=1)
    image = folded(kind(controller_id=3, incarnation_id=B, end_points=[endpoint], features=[feature]))
    assert image.controllers[3].endpoints == (Endpoint("CONTROLLER", "here", 9093, 0),)
    assert dict(image.controllers[3].features) == {"f": (0, 1)}
    assert folded(made("UnregisterControllerRecord", controller_id=3), image=image).controllers == {}


def test_a_topic_and_its_partitions() -> None:
    image = folded(
        topic(), partition(1), partition(0, leader_epoch=4, adding_replicas=[2], eligible_leader_replicas=[2])
    )
    found = image.topic_named("t")
    assert found is image.topic(A)
    assert found is not None
    assert [index for index, _ in found.in_order()] == [0, 1]
    assert found.partitions[0] == PartitionImage((1, 2), (DIR, DIR), (1,), 1, 4, 0, adding_replicas=(2,), elr=(2,))
    assert image.topic_named("other") is None
    assert image.topic(B) is None


@pytest.mark.parametrize("second", [topic("t", B), topic("u", A)])
def test_a_topic_that_is_there_cannot_come(second: Any) -> None:
    with pytest.raises(BrokenLog):
        folded(topic(), second)


@pytest.mark.parametrize(
    "record",
    [
        partition(topic_id=B),
        change(topic_id=B),
        change(1),
        made("RemoveTopicRecord", topic_id=B),
        made("ClearElrRecord", topic_name="u"),
    ],
)
def test_replay_refuses_change_of_an_unknown_entity(record: Any) -> None:
    with pytest.raises(BrokenLog):
        folded(topic(), partition(), record)


@pytest.mark.parametrize(
    ("fields", "changes"),
    [
        ({}, {}),
        ({"isr": [1, 2]}, {"isr": (1, 2)}),
        ({"leader": 2}, {"leader": 2, "leader_epoch": 1}),
        ({"leader": 1}, {"leader": 1, "leader_epoch": 1}),
        ({"leader": -1}, {"leader": -1, "leader_epoch": 1}),
        ({"replicas": [3], "directories": [OTHER_DIR]}, {"replicas": (3,), "directories": (OTHER_DIR,)}),
        ({"adding_replicas": [3], "removing_replicas": []}, {"adding_replicas": (3,), "removing_replicas": ()}),
        ({"leader_recovery_state": 1}, {"leader_recovery_state": 1}),
        ({"eligible_leader_replicas": [2], "last_known_elr": [3]}, {"elr": (2,), "last_known_elr": (3,)}),
    ],
)
def test_a_partition_changes_and_its_epochs_rise(fields: dict[str, Any], changes: dict[str, Any]) -> None:
    before = folded(topic(), partition())
    expected = the_partition(before)._replace(partition_epoch=1, **changes)
    assert the_partition(folded(change(**fields), image=before)) == expected


def test_a_topic_goes_with_its_configurations_and_its_place_among_lookalikes() -> None:
    config = made("ConfigRecord", resource_type=TOPIC, resource_name="t.x", name="retention.ms", value="1")
    others = made("ConfigRecord", resource_type=BROKER, resource_name="t.x", name="retention.ms", value="1")
    image = folded(topic("t.x"), partition(), config, others)
    assert dict(image.topics_with_collision_chars) == {"t_x": frozenset({"t.x"})}
    image = folded(made("RemoveTopicRecord", topic_id=A), image=image)
    assert not (image.topics)
    assert not (image.topic_ids)
    assert not (image.topics_with_collision_chars)
    assert dict(image.configs) == {(BROKER, "t.x"): {"retention.ms": "1"}}


def test_lookalikes_that_come_in_one_request_are_kept_apart() -> None:
    image = folded(topic("t.x"), topic("t_x", B), made("RemoveTopicRecord", topic_id=A))
    assert dict(image.topics_with_collision_chars) == {"t_x": frozenset({"t_x"})}


@pytest.mark.parametrize(("name", "cleared"), [("t", {A}), ("", {A, B})])
def test_eligible_leader_replicas_are_forgotten(name: str, cleared: set[Uuid]) -> None:
    elr: dict[str, Any] = {"eligible_leader_replicas": [2], "last_known_elr": [1]}
    image = folded(topic(), partition(**elr), partition(1, **elr), topic("u", B), partition(topic_id=B, **elr))
    image = folded(made("ClearElrRecord", topic_name=name), image=image)
    for topic_id in (A, B):
        left = {(p.elr, p.last_known_elr) for p in image.topics[topic_id].partitions.values()}
        assert left == ({((), ())} if topic_id in cleared else {((2,), (1,))})


def test_configurations_are_set_and_unset() -> None:
    def config(name: str, value: str | None) -> Any:
        return made("ConfigRecord", resource_type=TOPIC, resource_name="t", name=name, value=value)

    image = folded(config("a", "1"), config("b", "2"), config("a", "3"))
    assert dict(image.config_overrides(TOPIC, "t")) == {"a": "3", "b": "2"}
    assert dict(image.config_overrides(BROKER, "t")) == {}
    image = folded(config("a", None), config("none", None), image=image)
    assert dict(image.config_overrides(TOPIC, "t")) == {"b": "2"}
    assert folded(config("b", None), image=image).configs == {}


def test_producer_ids() -> None:
    record = made("ProducerIdsRecord", broker_id=1, broker_epoch=7, next_producer_id=1000)
    assert folded(record).next_producer_id == 1000


@pytest.mark.parametrize("record", [made("NoOpRecord"), made("ZkMigrationStateRecord")])
def test_records_that_change_nothing(record: Any) -> None:
    assert replay(EMPTY, record) is EMPTY


KEPT = [  # a record, one that replaces it, one that takes it away, and one of another key
    (
        made("AccessControlEntryRecord", id=A, host="x"),
        made("AccessControlEntryRecord", id=A, host="y"),
        made("RemoveAccessControlEntryRecord", id=A),
        made("AccessControlEntryRecord", id=B),
    ),
    (
        made("UserScramCredentialRecord", name="u", mechanism=1, iterations=1),
        made("UserScramCredentialRecord", name="u", mechanism=1, iterations=2),
        made("RemoveUserScramCredentialRecord", name="u", mechanism=1),
        made("UserScramCredentialRecord", name="u", mechanism=2),
    ),
    (
        made("DelegationTokenRecord", token_id="t", expiration_timestamp=1),
        made("DelegationTokenRecord", token_id="t", expiration_timestamp=2),
        made("RemoveDelegationTokenRecord", token_id="t"),
        made("DelegationTokenRecord", token_id="u"),
    ),
]


def quota(names: list[tuple[str, str | None]], **fields: Any) -> Any:
    kind = cls("ClientQuotaRecord")
    entity = [kind.EntityData(entity_type=of, entity_name=name) for of, name in names]
    return kind(entity=entity, key="producer_byte_rate", **fields)


USER, CLIENT = ("user", "u"), ("client-id", "c")
QUOTAS = (
    quota([USER, CLIENT], value=1.0),
    quota([CLIENT, USER], value=2.0),
    quota([USER, CLIENT], remove=True),
    quota([USER], value=3.0),
)


@pytest.mark.parametrize(("first", "second", "removal", "other"), [*KEPT, QUOTAS])
def test_the_latest_of_each_key_is_kept(first: Any, second: Any, removal: Any, other: Any) -> None:
    image = folded(first, other, second)
    assert image == folded(second, other) != folded(first, other)
    assert folded(removal, image=image) == folded(other) != EMPTY
    assert folded(removal) == EMPTY


def test_quotas_are_by_entity_and_key_in_any_order_of_the_entity() -> None:
    image = folded(quota([USER, CLIENT], value=1.0), quota([("user", None)], value=2.0))
    both, default = (CLIENT, USER), (("user", None),)
    assert image.quotas == {both: {"producer_byte_rate": 1.0}, default: {"producer_byte_rate": 2.0}}
    assert folded(quota([("user", None)], remove=True), image=image).quotas == image.quotas.delete(default)


def test_acls_are_by_id() -> None:
    fields = {"resource_type": 2, "resource_name": "r", "pattern_type": 3, "principal": "User:u", "host": "*"}
    image = folded(made("AccessControlEntryRecord", id=A, **fields, operation=4, permission_type=5))
    assert image.acls == {A: Acl(2, "r", 3, "User:u", "*", 4, 5)}


def test_credentials_are_by_user_and_mechanism_and_keep_their_secrets_to_themselves() -> None:
    secret = {"salt": b"salt", "stored_key": b"stored", "server_key": b"server"}
    image = folded(made("UserScramCredentialRecord", name="u", mechanism=2, iterations=4096, **secret))
    assert dict(image.scram) == {("u", 2): ScramCredential(b"salt", b"stored", b"server", 4096)}
    assert not [word for word in (b"salt", b"stored", b"server") if word.decode() in repr(image.scram)]


def test_a_transaction_is_seen_when_it_ends() -> None:
    fold = MetadataDelta()
    fold.replay(made("BeginTransactionRecord", name="x"))
    fold.replay(topic())
    fold.replay(partition())
    assert fold.image is EMPTY
    fold.replay(made("EndTransactionRecord"))
    assert fold.image.topic_named("t") is not None


def test_an_aborted_transaction_never_was() -> None:
    fold = MetadataDelta()
    fold.replay(topic())
    before = fold.image
    for record in (made("BeginTransactionRecord"), topic("u", B), made("AbortTransactionRecord")):
        fold.replay(record)
    assert fold.image is before
    fold.replay(topic("u", B))
    assert fold.image.topic_named("u") is not None


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ((), "EndTransactionRecord"),
        ((), "AbortTransactionRecord"),
        (("BeginTransactionRecord",), "BeginTransactionRecord"),
        (("BeginTransactionRecord", "EndTransactionRecord"), "EndTransactionRecord"),
        (("BeginTransactionRecord", "AbortTransactionRecord"), "EndTransactionRecord"),
    ],
)
def test_transactions_that_do_not_fit_together(good: tuple[str, ...], bad: str) -> None:
    fold = MetadataDelta()
    for name in good:
        fold.replay(made(name))
    with pytest.raises(BrokenLog):
        fold.replay(made(bad))
