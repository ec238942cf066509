"""Several controllers: the active one decides, what a majority has is answered, and all have the
same image (KIP-500, KIP-595, KIP-630).
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.features import SUPPORTED
from kafkadouble.server.metadata.image import BROKER
from kafkadouble.server.node import Node
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.raft_log import BOOTSTRAP
from tests.server.controller.metadata_changes import SMALL, alter, busy, code, contents
from tests.server.controllers import Controllers


@pytest.fixture(params=[1, 3, 5])
def controllers(request: pytest.FixtureRequest) -> Controllers:
    return Controllers(request.param)


def test_elected_controller_leads_and_all_images_are_equal(controllers: Controllers) -> None:
    leader = controllers.elect()
    assert leader.controller.image.features["metadata.version"] == 33
    controllers.until(lambda: len(leader.controller.image.controllers) == len(controllers.ids))
    controllers.elect()
    assert {
        contents(node.controller.image) == contents(leader.controller.image) for node in controllers.nodes.values()
    } == {True}
    assert not leader.controller.image.brokers, "a controller is no broker"


def test_a_decision_is_answered_when_a_majority_has_it() -> None:
    controllers = Controllers(3)
    leader = controllers.elect()
    others = [id for id in controllers.ids if id != leader.id]
    controllers.cut.update(others)
    answers: list[Any] = []
    controllers.submit(leader, alter("log.retention.ms", "5"), 1, answers.append)
    controllers.step(500)
    assert answers == []
    assert leader.controller.draft.config_overrides(BROKER, "")["log.retention.ms"] == "5"
    assert "log.retention.ms" not in leader.controller.image.config_overrides(BROKER, "")
    controllers.cut.discard(others[0])
    controllers.until(lambda: bool(answers))
    assert code(answers[0]) == 0
    assert leader.controller.image.config_overrides(BROKER, "")["log.retention.ms"] == "5"


def test_a_node_that_does_not_lead_answers_not_controller() -> None:
    controllers = Controllers(3)
    leader = controllers.elect()
    other = next(node for node in controllers.nodes.values() if node is not leader)
    assert code(controllers.ask(other, alter("log.retention.ms", "5"), 1)) == error_codes.NOT_CONTROLLER


def test_a_leader_that_is_deserted_does_not_know_and_then_gives_up() -> None:
    """A decision of a deposed leader that no other node has is not answered as done, and is gone
    afterwards.
    """
    controllers = Controllers(3)
    old = controllers.elect()
    controllers.cut.add(old.id)
    answers: list[Any] = []
    controllers.submit(old, alter("log.retention.ms", "5"), 1, answers.append)
    controllers.until(lambda: bool(answers))
    assert code(answers[0]) == error_codes.NOT_CONTROLLER
    controllers.until(lambda: any(node.controller.leads for node in controllers.nodes.values() if node is not old))
    controllers.cut.clear()
    new = controllers.elect()
    assert new is not old
    assert new.controller.epoch > 1
    for node in controllers.nodes.values():
        assert "log.retention.ms" not in node.controller.image.config_overrides(BROKER, "")


def test_answered_change_survives_the_controller() -> None:
    controllers = Controllers(3)
    for round in range(4):
        leader = controllers.elect()
        assert code(controllers.ask(leader, alter("log.retention.ms", str(1000 + round)), 1)) == 0
        controllers.kill(leader.id)
        controllers.until(lambda: any(node.controller.leads for node in controllers.nodes.values()))
        assert controllers.leader.controller.draft.config_overrides(BROKER, "")["log.retention.ms"] == str(1000 + round)
        controllers.restart(leader.id)
    controllers.elect()
    assert controllers.leader.controller.epoch >= 5


def register(id: int) -> BrokerRegistrationRequest:
    of = BrokerRegistrationRequest
    return of(
        broker_id=id,
        cluster_id="a-cluster",
        incarnation_id=Uuid.random(lambda size: bytes([id] * size)),
        listeners=[of.Listener(name="PLAINTEXT", host="broker", port=9092)],
        features=[
            of.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in SUPPORTED.items()
        ],
        previous_broker_epoch=-1,
        log_dirs=[Uuid.random(lambda size: bytes([100 + id] * size))],
    )


def test_snapshots_are_written_and_a_lagging_node_is_brought_back_by_one() -> None:
    """In pieces of 37 bytes; then it goes on with the log, and has the same image (KIP-630)."""
    controllers = Controllers(3, SMALL)
    leader = controllers.elect()
    lagging = next(id for id in controllers.ids if id != leader.id)
    controllers.kill(lagging)
    busy(controllers, leader, 60)
    controllers.until(lambda: leader.quorum.replica.log.start_offset > 0, 130_000)
    start = leader.quorum.replica.log.start_offset
    back = controllers.restart(lagging)
    assert back.quorum.log.log_end_offset < start
    controllers.elect()
    assert back.quorum.replica.log.start_offset > 0
    assert contents(back.controller.image) == contents(leader.controller.image)
    assert numbers(back)["HandleLoadSnapshotCount"] == numbers(back)["LoadSnapshotLatencyMs"].count == 1
    for node in controllers.nodes.values():
        newest, log = node.quorum.snapshots.ids()[-1], node.quorum.replica.log
        assert numbers(node)["SnapshotSizeBytes"] == node.quorum.snapshots.size(newest) > 0
        assert numbers(node)["SnapshotLag"] == log.high_watermark - newest.offset
        assert numbers(node)["CurrentControllerId"] == leader.id


def numbers(node: Node) -> dict[str, Any]:
    """Its metrics, by the last part of their names."""
    return {name.rpartition("=")[2]: value for name, value in node.snapshot_generator.readings().items()}


def test_a_node_that_lost_everything_gets_it_again() -> None:
    controllers = Controllers(3, SMALL)
    leader = controllers.elect()
    busy(controllers, leader, 30)
    lost = next(id for id in controllers.ids if id != leader.id)
    controllers.wipe(lost)
    controllers.restart(lost)
    controllers.elect()
    assert contents(controllers.nodes[lost].controller.image) == contents(leader.controller.image)
    assert [id for id in controllers.nodes[lost].quorum.snapshots.ids() if id != BOOTSTRAP]


def test_a_restart_begins_with_the_snapshot() -> None:
    controllers = Controllers(1, SMALL)
    leader = controllers.elect()
    busy(controllers, leader, 60)
    controllers.until(lambda: leader.quorum.replica.log.start_offset > 0, 130_000)
    before = contents(leader.controller.image)._replace(controllers=None)
    controllers.kill(1)
    again = controllers.restart(1)
    assert contents(again.controller.image)._replace(controllers=None) == before
    assert numbers(again)["HandleLoadSnapshotCount"] == 1
    assert numbers(again)["SnapshotSizeBytes"] > numbers(again)["LatestSnapshotGeneratedBytes"] == 0
    assert code(controllers.ask(again, alter("log.retention.ms", "7"), 1)) == 0


def test_the_rules_of_the_kip_are_options() -> None:
    """Bytes alone cause no snapshot if little has changed; additional new records do not count
    (KIP-630).
    """
    adopted = {**SMALL, "metadata.snapshot.min.changed_records.ratio": "0.5"}
    controllers = Controllers(1, adopted)
    leader = controllers.elect()
    assert controllers.ask(leader, register(7), 4).error_code == 0
    busy(controllers, leader, 60)
    first = leader.quorum.snapshots.ids()
    assert len(first) == 1, "the first has nothing before it"
    busy(controllers, leader, 60)
    assert leader.quorum.snapshots.ids() == first, "one record of many has changed"


@pytest.mark.parametrize(("given", "size"), [({}, 700), ({"replica.fetch.response.max.bytes": 50}, 50)])
def test_a_piece_of_a_snapshot_has_no_more_bytes_than_the_setting(given: dict[str, object], size: int) -> None:
    """KIP-630 bounds it by `replica.fetch.response.max.bytes`, Apache Kafka does not: it applies if
    it is set.
    """
    controllers = Controllers(1, {**SMALL, **given})
    leader = controllers.elect()
    busy(controllers, leader, 60)
    newest, of = leader.quorum.snapshots.ids()[-1], FetchSnapshotRequest
    assert leader.quorum.snapshots.size(newest) > 700
    partition = of.PartitionSnapshot(
        current_leader_epoch=leader.controller.epoch,
        snapshot_id=of.SnapshotId(end_offset=newest.offset, epoch=newest.epoch),
    )
    topic = of.TopicSnapshot(name="__cluster_metadata", partitions=[partition])
    answer = controllers.ask(leader, of(replica_id=900, max_bytes=700, topics=[topic]), 1)
    assert len(answer.topics[0].partitions[0].unaligned_records) == size


IDLE = {"metadata.max.idle.interval.ms": 0, "controller.quorum.append.linger.ms": 0}


def ends(node: Node) -> list[int]:
    return [id.offset for id in node.quorum.snapshots.ids() if id != BOOTSTRAP]


def test_the_bytes_between_two_snapshots_are_counted_from_the_last_one_on() -> None:
    """From a written one, and from a loaded one: one more small record makes none due."""
    controllers = Controllers(1, {**SMALL, **IDLE, "metadata.max.retention.bytes": -1})
    leader = controllers.elect()
    for _ in range(4):
        before, rounds = len(ends(leader)), 0
        while len(ends(leader)) == before:
            busy(controllers, leader, 1)
            leader.controller.report_committed_bytes()  # as is done every minute
            rounds += 1
        assert rounds > 10 or not before, "some 100 bytes a round, of 2000"
    before = len(ends(leader))
    busy(controllers, leader, 10)
    leader.controller.report_committed_bytes()
    leader.snapshot_generator.loaded(0)
    busy(controllers, leader, 15)
    leader.controller.report_committed_bytes()
    controllers.step()
    assert len(ends(leader)) == before
    busy(controllers, leader, 10)
    leader.controller.report_committed_bytes()
    controllers.step()
    assert len(ends(leader)) == before + 1


def test_adopted_the_log_waits_for_observers_that_are_alive() -> None:
    """For five minutes after their last fetch; then they take a snapshot (KIP-630)."""
    adopted = {**SMALL, "metadata.start.offset.lag.time.max.ms": 10**9}
    controllers = Controllers(1, adopted)
    leader = controllers.elect()
    controllers.add_broker(7)
    led = leader.quorum.replica.state
    assert isinstance(led, LeaderState)
    controllers.until(lambda: bool(led.observers))
    controllers.elect()
    controllers.cut.add(7)
    reached, log = leader.quorum.log.log_end_offset, leader.quorum.replica.log
    while not ends(leader) or ends(leader)[-1] <= reached:
        busy(controllers, leader, 1)
    leader.snapshot_generator.clean(leader.now)
    assert log.start_offset <= reached
    leader.snapshot_generator.clean(leader.now + 299_000)
    assert log.start_offset <= reached
    leader.snapshot_generator.clean(leader.now + 301_000)
    assert log.start_offset == ends(leader)[-1]
