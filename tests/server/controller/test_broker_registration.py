"""BrokerRegistration: the order of its errors, its records, and the cleanup of an earlier
incarnation.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.broker_control_state import BrokerControlState
from kafkadouble.server.metadata.image import Endpoint
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.broker_life import END, SESSION, Listener, Office, features, incarnation, request
from tests.server.controller.small_clusters import at, cluster, directory, epoch_of, partition, with_topic

INVALID = error_codes.INVALID_REGISTRATION
SERVER_ERROR = error_codes.UNKNOWN_SERVER_ERROR
UNSUPPORTED = error_codes.UNSUPPORTED_VERSION


def listener(**fields: Any) -> dict[str, Any]:
    return {"listeners": [Listener(**{"name": "A", "host": "h", "port": 1, "security_protocol": 0, **fields})]}


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "another cluster": ({"cluster_id": "x"}, error_codes.INCONSISTENT_CLUSTER_ID, "Expected cluster ID the-cluster"),
    "no cluster": ({"cluster_id": ""}, error_codes.INCONSISTENT_CLUSTER_ID, "but got cluster ID "),
    "no broker": ({"broker_id": -1}, INVALID, "-1 is no broker id"),
    "a broker of ZooKeeper": ({"is_migrating_zk_broker": True}, error_codes.BROKER_ID_NOT_REGISTERED, "ZK brokers"),
    "no directory": ({"log_dirs": []}, INVALID, "No directories specified in request"),
    "no id of a directory": ({"log_dirs": [Uuid.ZERO]}, INVALID, "Reserved directory ID in request"),
    "the id 99": ({"log_dirs": [Uuid(bytes(15) + b"c")]}, INVALID, "Reserved directory ID in request"),
    "a negative id": ({"log_dirs": [Uuid(bytes(8) + b"\xff" * 8)]}, INVALID, "Reserved directory ID in request"),
    "one twice": ({"log_dirs": [directory(5), directory(5)]}, INVALID, "Duplicate directory ID in request"),
    "another's": (
        {"log_dirs": [directory(5), directory(2)]},
        INVALID,
        f"Broker 2 is already registered with directory {directory(2)}",
    ),
    "a protocol of its own": (listener(security_protocol=4), SERVER_ERROR, "Unknown security protocol 4 in listener A"),
    "no protocol": (listener(security_protocol=-1), SERVER_ERROR, "Unknown security protocol -1"),
    "no port": (listener(port=0), SERVER_ERROR, "ephemeral port 0"),
    "no host": (listener(host=" "), SERVER_ERROR, "empty host"),
    "an old broker": (
        {"features": features(metadata_version=(7, 32))},
        UNSUPPORTED,
        "Unable to register because the broker does not support finalized version 33 of metadata.version. "
        "The broker wants a version between 7 and 32, inclusive.",
    ),
    "a broker of the future": ({"features": features(metadata_version=(34, 40))}, UNSUPPORTED, "between 34 and 40"),
    "one that needs a feature": ({"features": features(x=(1, 2))}, UNSUPPORTED, "finalized version 0 of x."),
    "one without a feature": (
        {"features": features(eligible_leader_replicas_version=None)},
        UNSUPPORTED,
        "finalized version 1 of eligible.leader.replicas.version. The broker wants a version between 0 and 0",
    ),
    "one of static voters": ({"features": features(kraft_version=(0, 0))}, UNSUPPORTED, "version 1 of kraft.version"),
    "one without metadata": (
        {"features": features(metadata_version=None)},
        INVALID,
        "Request features do not contain 'metadata.version'",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_invalid_broker_registration_is_refused(what: str) -> None:
    changed, code, message = REFUSED[what]
    office = Office(cluster(1, 2))
    with pytest.raises(Refusal) as refused:
        office.register(request(5, **changed))
    assert (error_codes.name(refused.value.code), message in str(refused.value.message)) == (
        error_codes.name(code),
        True,
    ), refused.value.message
    assert sorted(office.image.brokers) == [1, 2]


ORDER: list[dict[str, Any]] = [
    {"cluster_id": "x"},
    {"is_migrating_zk_broker": True},
    {"log_dirs": []},
    listener(port=0),
    {"features": features(x=(1, 2), metadata_version=None)},
    {"features": features(metadata_version=None, eligible_leader_replicas_version=None)},
]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_broker_registration_with_several_errors_gets_the_first(first: int) -> None:
    changed = {name: value for wrong in reversed(ORDER[first:]) for name, value in wrong.items()}
    codes = []
    for fields in (ORDER[first], changed):
        with pytest.raises(Refusal) as refused:
            Office(cluster(1)).register(request(5, **fields))
        codes.append((refused.value.code, refused.value.message))
    assert codes[0] == codes[1]


def test_a_new_broker_is_fenced_and_its_whole_registration_is_written() -> None:
    office = Office(cluster(1))
    listeners = [
        Listener(name="A", host="a", port=1, security_protocol=0),
        Listener(name="B", host="b", port=65535, security_protocol=3),
        Listener(name="A", host="c", port=2, security_protocol=1),
    ]
    done = office.register(request(5, rack="r", listeners=listeners, log_dirs=[directory(5), directory(5, 1)]))
    broker = office.broker(5)
    assert done.epoch == broker.epoch == END
    assert (broker.fenced, broker.in_controlled_shutdown, broker.rack) == (True, False, "r")
    assert broker.incarnation_id == incarnation(1)
    assert broker.endpoints == (Endpoint("A", "c", 2, 1), Endpoint("B", "b", 65535, 3))
    assert broker.features["metadata.version"] == (7, 33)
    assert broker.log_dirs == (directory(5), directory(5, 1))
    assert broker.cordoned_log_dirs == ()


def test_ids_of_directories_are_reserved_up_to_99() -> None:
    office = Office(cluster(1))
    office.register(request(5, log_dirs=[Uuid(bytes(at) + b"d" + bytes(15 - at)) for at in (15, 8, 7, 0)]))
    assert len(office.broker(5).log_dirs) == 4


def test_features_that_are_off_may_be_unknown_to_the_broker() -> None:
    office = Office(cluster(1, elr=0), kraft_version=0)
    office.register(request(5, features=features(eligible_leader_replicas_version=None, kraft_version=None)))
    assert 5 in office.image.brokers


def test_before_metadata_3_7_directories_are_neither_required_nor_written() -> None:
    office = Office(cluster(1, level=16, elr=0))
    office.register(request(5, log_dirs=[]))
    office.register(request(6, log_dirs=[Uuid.ZERO, Uuid.ZERO]))
    assert (office.broker(5).log_dirs, office.broker(6).log_dirs) == ((), ())


class TestAnotherLife:
    def test_registration_is_refused_while_the_last_incarnation_may_live(self) -> None:
        office = Office(cluster(1, 2))
        office.now += SESSION
        with pytest.raises(Refusal) as refused:
            office.register(request(2, life=9))
        assert refused.value.code == error_codes.DUPLICATE_BROKER_REGISTRATION
        office.now += 1
        office.register(request(2, life=9))
        assert office.broker(2).incarnation_id == incarnation(9)

    def test_a_fenced_broker_with_a_recent_heartbeat_is_alive_too(self) -> None:
        office = Office(cluster(1))
        office.register(request(5, life=1))
        office.register(request(5, life=2))
        office.beat(5, fence=True)
        with pytest.raises(Refusal) as refused:
            office.register(request(5, life=3))
        assert refused.value.code == error_codes.DUPLICATE_BROKER_REGISTRATION
        office.wait(SESSION + 1)
        office.register(request(5, life=3))

    def test_registration_after_shutdown_is_refused_until_session_ends(self) -> None:
        office = Office(cluster(1, 2))
        assert office.beat(2, stop=True).state is BrokerControlState.SHUTDOWN_NOW
        with pytest.raises(Refusal):
            office.register(request(2, life=9))

    def test_a_broker_that_sends_no_heartbeats_is_always_alive(self) -> None:
        office = Office(cluster(1, 2))
        office.heartbeats.never_expires(2)
        office.now += 10 * SESSION
        with pytest.raises(Refusal) as refused:
            office.register(request(2, life=9))
        assert refused.value.code == error_codes.DUPLICATE_BROKER_REGISTRATION

    def test_broker_must_replay_to_its_registration_record(self) -> None:
        office = Office(with_topic(cluster(1, 2), "t", partition([2, 1])))
        office.now += SESSION + 1
        done = office.register(request(2, life=9))
        assert (done.epoch, len(done.records)) == (END, 2)
        assert [type(record).__name__ for record in done.records] == ["PartitionChangeRecord", "RegisterBrokerRecord"]
        assert office.beat(2, offset=END).state is BrokerControlState.FENCED
        assert office.beat(2, offset=END + 1).state is BrokerControlState.UNFENCED

    @pytest.mark.parametrize(
        ("elr", "version", "previous_epoch", "eligible"),
        [
            (1, 4, epoch_of(2), True),
            (1, 3, epoch_of(2), True),
            (1, 4, epoch_of(2) - 1, False),
            (1, 4, -1, False),
            (1, 2, epoch_of(2), False),
            (0, 4, -1, True),
        ],
    )
    def test_replica_stays_eligible_only_after_clean_shutdown(
        self, elr: int, version: int, previous_epoch: int, eligible: bool
    ) -> None:
        """Without the feature the only replica stays in sync; with it an unclean shutdown removes
        it from the ISR.
        """
        office = Office(with_topic(cluster(1, 2, elr=elr), "t", partition([2])))
        office.now += SESSION + 1
        office.register(request(2, life=9, previous_broker_epoch=previous_epoch), version)
        after = at(office.image, "t")
        assert after.leader == -1
        assert (2 in (*after.isr, *after.elr)) is eligible

    def test_an_unknown_broker_did_not_shut_down_cleanly(self) -> None:
        office = Office(with_topic(cluster(1), "t", partition([5], isr=[], leader=-1, eligible_leader_replicas=[5])))
        office.register(request(5, previous_broker_epoch=-1))
        assert at(office.image, "t").elr == ()


class TestTheSameLife:
    def test_amended_registration_keeps_epoch_fencing_and_shutdown(self) -> None:
        office = Office(with_topic(cluster(1, 2), "t", partition([2, 1]), partition([2])))
        office.beat(2, stop=True)
        done = office.register(request(2, life=2, rack="new", log_dirs=[directory(2, 7)]))
        broker = office.broker(2)
        assert done.epoch == broker.epoch == epoch_of(2)
        assert (broker.fenced, broker.in_controlled_shutdown) == (False, True)
        assert (broker.rack, broker.log_dirs) == ("new", (directory(2, 7),))
        assert [type(record).__name__ for record in done.records] == ["RegisterBrokerRecord"]

    def test_broker_is_caught_up_when_it_replayed_the_amendment(self) -> None:
        office = Office(cluster(1, 2, fenced=[2]))
        office.register(request(2, life=2))
        assert office.beat(2, offset=END - 1).caught_up is False
        assert office.beat(2, offset=END).state is BrokerControlState.UNFENCED

    def test_broker_registration_renews_the_session(self) -> None:
        office = Office(cluster(1, 2))
        office.now += SESSION
        office.register(request(2, life=2))
        assert office.wait(1) == [1, 2]

    def test_cordoned_directories_are_reported_again(self) -> None:
        office = Office(cluster(1, 2))
        office.beat(2, cordoned=[directory(2)])
        office.register(request(2, life=2))
        assert office.broker(2).cordoned_log_dirs == ()
        office.beat(2, cordoned=[directory(2)])
        assert office.broker(2).cordoned_log_dirs == (directory(2),)
