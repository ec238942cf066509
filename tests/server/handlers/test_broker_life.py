"""The life of brokers at a node that is their controller, over the bytes of the wire: every API,
every version, every error."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.allocate_producer_ids import AllocateProducerIdsRequest
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest
from kafkadouble.messages.generated.controller_registration import ControllerRegistrationRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest
from kafkadouble.messages.generated.unregister_controller import UnregisterControllerRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.replay import MetadataDelta
from tests.server.controller.small_clusters import directory
from tests.server.handlers.controller_listener import Controllers, versions
from tests.server.harness import Harness

OWN, OTHER = 1, 5
SESSION = 9000


def code(response: Any) -> str:
    return error_codes.name(response.error_code)


@pytest.fixture
def node() -> Controllers:
    return Controllers()


class TestABroker:
    def test_a_broker_registers_and_shuts_down(self, node: Controllers) -> None:
        epoch = node.end
        registered = node.register(OTHER)
        assert (code(registered), registered.broker_epoch) == ("NONE", epoch)
        seen = []
        for fields in (
            {"want_fence": True},
            {"current_metadata_offset": epoch - 1},
            {},
            {},
            {"want_shut_down": True},
            {"want_shut_down": True},
        ):
            answer = node.beat(OTHER, **fields)
            seen.append((code(answer), answer.is_caught_up, answer.is_fenced, answer.should_shut_down))
        assert seen == [
            ("NONE", True, True, False),
            ("NONE", False, True, False),
            ("NONE", True, False, False),
            ("NONE", True, False, False),
            ("NONE", True, True, True),
            ("NONE", True, True, True),
        ]

    def test_silent_broker_is_fenced_and_the_nodes_own_is_not(self, node: Controllers) -> None:
        node.register(OTHER)
        assert not node.beat(OTHER).is_fenced
        for _ in range(SESSION // 1000):
            node.tick(1000)
            assert not node.image.brokers[OTHER].fenced
        for _ in range(3):
            node.tick(1000)
        assert node.image.brokers[OTHER].fenced
        assert not node.image.brokers[OWN].fenced
        assert not node.beat(OTHER).is_fenced

    @pytest.mark.parametrize("version", versions("BrokerRegistration"))
    def test_broker_registers_in_every_version(self, node: Controllers, version: int) -> None:
        """Today's metadata requires log directories, and a registration has none before version 2;
        features from level 0 need version 4."""
        answer = node.register(OTHER, version=version, is_migrating_zk_broker=False)
        assert code(answer) == ("INVALID_REGISTRATION" if version < 2 else "NONE")
        assert (answer.broker_epoch == -1) is (version < 2)
        assert (OTHER in node.image.brokers) is (version >= 2)

    @pytest.mark.parametrize("version", versions("BrokerHeartbeat"))
    def test_broker_heartbeat_is_served_in_every_version(self, node: Controllers, version: int) -> None:
        node.register(OTHER, log_dirs=[directory(OTHER), directory(OTHER, 1)])
        lost = {"offline_log_dirs": [directory(OTHER)]} if version >= 1 else {}
        cordoned = {"cordoned_log_dirs": [directory(OTHER, 1)]} if version >= 2 else {}
        assert not node.beat(OTHER, version=version, **lost, **cordoned).is_fenced
        broker = node.image.brokers[OTHER]
        assert (len(broker.log_dirs), len(broker.cordoned_log_dirs)) == (1 if lost else 2, 1 if cordoned else 0)

    def test_no_other_broker_registers_as_the_nodes_own(self, node: Controllers) -> None:
        node.register(OTHER)
        node.tick(10 * SESSION)
        assert code(node.register(OWN)) == "DUPLICATE_BROKER_REGISTRATION"

    def test_a_stale_epoch_is_refused(self, node: Controllers) -> None:
        node.register(OTHER)
        for broker, epoch in ((OTHER, 1), (OTHER, -1), (6, -1)):
            answer = node.beat(broker, broker_epoch=epoch)
            assert (code(answer), answer.is_fenced, answer.should_shut_down) == ("STALE_BROKER_EPOCH", True, False)
            assert code(node.submit(AllocateProducerIdsRequest(broker_id=broker, broker_epoch=epoch), 0)) == (
                "STALE_BROKER_EPOCH"
            )


def test_a_node_with_an_unregistered_broker_serves_what_it_can(node: Controllers) -> None:
    """The unregistered broker can do almost nothing, and still shuts down cleanly."""
    node.create("t")
    assert code(node.submit(UnregisterBrokerRequest(broker_id=OWN), 0)) == "NONE"
    clients = Harness.begin  # on the listener of brokers
    produced = clients(node, InitProducerIdRequest(transactional_id=None, producer_id=-1, producer_epoch=-1), 4)
    assert code(produced.response) == "COORDINATOR_LOAD_IN_PROGRESS"
    metadata = clients(node, MetadataRequest(topics=None), 12).response
    assert (metadata.brokers, [topic.partitions[0].leader_id for topic in metadata.topics]) == ([], [-1])
    node.tick(SESSION)
    node.node.close(node.now)


class TestAController:
    def register(self, node: Controllers, controller: int, **fields: Any) -> Any:
        listener = ControllerRegistrationRequest.Listener(
            **{"name": "CONTROLLER", "host": "h", "port": 9093, "security_protocol": 0, **fields}
        )
        body = ControllerRegistrationRequest(
            controller_id=controller, incarnation_id=Uuid(b"i" * 16), listeners=[listener]
        )
        return node.submit(body, 0)

    def test_controller_with_port_0_is_refused(self, node: Controllers) -> None:
        answer = self.register(node, 3000, port=0)
        assert code(answer) == "UNKNOWN_SERVER_ERROR"
        assert 3000 not in node.image.controllers


@pytest.mark.parametrize("level", range(7, 34))
def test_a_broker_runs_at_every_metadata_version(level: int) -> None:
    """The registration is written as far as the feature level can express it (KIP-584)."""
    logs = MemoryLogs()
    logs.bootstrap = format_records({"metadata.version": level})
    node = Controllers(logs=logs)
    directories = [directory(OTHER), directory(OTHER, 1)]
    assert code(node.register(OTHER, log_dirs=directories)) == "NONE"
    node.beat(OTHER, cordoned_log_dirs=directories[:1])
    node.create("t", partitions=2)
    node.beat(OTHER, offline_log_dirs=directories[1:])
    broker = node.image.brokers[OTHER]
    assert broker.active
    assert list(broker.log_dirs) == (directories[:1] if level >= 17 else [])
    assert list(broker.cordoned_log_dirs) == (directories[:1] if level >= 30 else [])
    node.beat(OTHER, want_shut_down=True)
    assert node.beat(OTHER, want_shut_down=True).should_shut_down
    assert (code(TestAController().register(node, 3000)) == "NONE") is (level >= 15)
    assert (OWN in node.image.controllers) is (level >= 15)


@pytest.mark.parametrize(
    "message",
    [
        BrokerRegistrationRequest(),
        BrokerHeartbeatRequest(),
        UnregisterBrokerRequest(),
        AllocateProducerIdsRequest(),
        ControllerRegistrationRequest(),
        UnregisterControllerRequest(),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_node_that_does_not_lead_refuses(message: Message) -> None:
    follower = Controllers({"controller.quorum.voters": "1@127.0.0.1:9,2@127.0.0.1:10,3@127.0.0.1:11"})
    assert code(follower.submit(message, 0)) == "NOT_CONTROLLER"


def test_broker_changes_follow_from_committed_records(node: Controllers) -> None:
    shown: list[tuple[Any, Any]] = []

    def see(before: Any, after: Any, records: Any) -> None:
        fold = MetadataDelta(before)
        for record in records:
            fold.replay(record)
        shown.append((fold.image.brokers, after.brokers))

    node.node.controller.listeners.append(see)
    node.register(OTHER)
    wishes: list[dict[str, Any]] = [{}, {"cordoned_log_dirs": []}, {"want_shut_down": True}]
    for fields in wishes:
        node.beat(OTHER, **fields)
    node.submit(UnregisterBrokerRequest(broker_id=OTHER), 0)
    assert len(shown) == 5
    assert all(folded == after for folded, after in shown)
