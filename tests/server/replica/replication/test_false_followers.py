"""Fetches in the name of a replica by a process that is none, or with impossible offsets: they
enter no in-sync set, move no high watermark, and hinder no true replica. Also a controller whose
answers about the in-sync set are impossible."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.server.node import Node
from kafkadouble.server.replica.replication.alter_partition_manager import AlterPartitionManager
from kafkadouble.server.replica.replication.in_sync_replicas import InSyncReplicas
from kafkadouble.server.replica.replication.partition import Partition
from tests.server.machine import produce_request
from tests.server.replica.replication.liars import Liars
from tests.server.replica.replication.lied_to import END, followers, saying, three
from tests.server.replica.replication.replicated_topic import (
    contents,
    fetched,
    leader,
    log_of,
    partition,
    produce,
    reassign,
    settled,
)
from tests.server.topic_requests import purging


@pytest.fixture
def cluster() -> Liars:
    return three()


def ask(cluster: Liars, replica: int, offset: int = 0, *, broker_epoch: int = -1, **fields: Any) -> Any:
    """The leader's answer to a fetch in the name of this replica."""
    node = leader(cluster)
    arguments = {"current_leader_epoch": partition(cluster).leader_epoch, "partition_max_bytes": 1 << 20, **fields}
    requested = FetchRequest.FetchPartition(partition=0, fetch_offset=offset, **arguments)
    request = FetchRequest(
        replica_state=FetchRequest.ReplicaState(replica_id=replica, replica_epoch=broker_epoch),
        max_bytes=1 << 20,
        session_epoch=-1,
        topics=[FetchRequest.FetchTopic(topic_id=node.controller.image.topic_ids["t"], partitions=[requested])],
    )
    [data] = cluster.ask(node, request, 17).responses[0].partitions
    return data


def cut_off(cluster: Liars) -> Node:
    """A follower that receives nothing any more; it lacks one record."""
    follower = followers(cluster)[0]
    cluster.cut.add(follower.id)
    assert produce(cluster, b"news", acks=1) == (0, END)
    cluster.step(1000)
    return follower


@pytest.mark.parametrize("replica", [0, 1, 99, 2**31 - 1])
def test_a_process_that_is_no_replica_gets_nothing_and_moves_nothing(cluster: Liars, replica: int) -> None:
    cut_off(cluster)
    data = ask(cluster, replica, END + 1)
    assert (data.error_code, bytes(data.records)) == (error_codes.UNKNOWN_LEADER_EPOCH, b"")
    assert ask(cluster, replica, END + 1, current_leader_epoch=-1).error_code == error_codes.NOT_LEADER_OR_FOLLOWER
    assert fetched(cluster, leader(cluster))[1] == END


def test_a_process_that_is_no_replica_does_not_get_the_diverging_epoch(cluster: Liars) -> None:
    data = ask(cluster, 99, 100, last_fetched_epoch=0)
    assert data.error_code == error_codes.UNKNOWN_LEADER_EPOCH
    assert data.diverging_epoch is None or data.diverging_epoch.end_offset < 0


def test_a_leader_is_no_follower_of_its_own(cluster: Liars) -> None:
    cut_off(cluster)
    assert ask(cluster, leader(cluster).id, END + 1).error_code == error_codes.UNKNOWN_LEADER_EPOCH
    assert fetched(cluster, leader(cluster))[1] == END


@pytest.mark.parametrize("offset", [END + 2, 10**6, 2**63 - 1, -1, -(2**63)])
def test_an_offset_that_the_leader_does_not_have_is_no_progress(cluster: Liars, offset: int) -> None:
    follower = cut_off(cluster)
    assert ask(cluster, follower.id, offset).error_code == error_codes.OFFSET_OUT_OF_RANGE
    assert fetched(cluster, leader(cluster))[1] == END
    cluster.cut.clear()
    cluster.until(lambda: settled(cluster))


@pytest.mark.parametrize(
    ("epoch", "code"), [(7, error_codes.UNKNOWN_LEADER_EPOCH), (2**31 - 1, error_codes.UNKNOWN_LEADER_EPOCH)]
)
def test_a_leader_epoch_that_is_not_the_leaders_is_refused(cluster: Liars, epoch: int, code: int) -> None:
    follower = cut_off(cluster)
    assert ask(cluster, follower.id, END + 1, current_leader_epoch=epoch).error_code == code
    assert fetched(cluster, leader(cluster))[1] == END


def test_a_follower_that_goes_back_takes_nothing_back(cluster: Liars) -> None:
    assert fetched(cluster, leader(cluster))[1] == END
    for follower in followers(cluster):
        ask(cluster, follower.id, 0, last_fetched_epoch=-1)
    assert fetched(cluster, leader(cluster))[1] == END


def test_a_fetch_from_an_earlier_life_does_not_count(cluster: Liars) -> None:
    """KIP-903: the old fetch would credit the restarted broker with records that only its earlier
    run had."""
    follower = followers(cluster)[0].id
    before = cluster.nodes[follower].broker_epoch
    cluster.kill(follower)
    cluster.until(lambda: follower not in partition(cluster).isr, 60_000)
    cluster.cut.add(follower)
    cluster.add_broker(follower)
    cluster.cut.clear()
    cluster.until(lambda: cluster.nodes[follower].broker_epoch > before)
    cluster.until(lambda: leader(cluster).controller.image.brokers[follower].epoch > before)
    cluster.until(lambda: not leader(cluster).controller.image.brokers[follower].fenced)
    assert ask(cluster, follower, END, broker_epoch=before).error_code == error_codes.NOT_LEADER_OR_FOLLOWER
    assert ask(cluster, follower, END, broker_epoch=cluster.nodes[follower].broker_epoch).error_code == 0


def test_a_follower_comes_into_sync_with_the_broker_epoch_of_its_fetch(cluster: Liars) -> None:
    """The leader sends the controller the broker epoch that the follower named, not the one that
    the leader knows (KIP-903)."""
    follower = followers(cluster)[0].id
    cluster.kill(follower)
    cluster.until(lambda: follower not in partition(cluster).isr, 60_000)
    question: list[AlterPartitionRequest] = []

    def kept(request: Any, answer: Any) -> Any:
        question.append(request)
        return answer

    cluster.lie_of_controller = kept
    cluster.add_broker(follower)
    cluster.until(lambda: follower in partition(cluster).isr, 60_000)
    [state] = [each for each in question[-1].topics[0].partitions[0].new_isr_with_epochs if each.broker_id == follower]
    assert state.broker_epoch == cluster.nodes[follower].broker_epoch


def test_a_follower_with_only_an_earlier_broker_epoch_is_not_proposed(cluster: Liars) -> None:
    follower = followers(cluster)[0]
    changes, led, in_sync = led_by(leader(cluster))
    in_sync.isr -= {follower.id}
    led.fetched(follower.id, END, cluster.now, follower.broker_epoch - 1)
    changes.maybe_change_isr(led)
    assert in_sync.proposed is None
    led.fetched(follower.id, END, cluster.now, follower.broker_epoch)
    changes.maybe_change_isr(led)
    assert in_sync.proposed == in_sync.isr | {follower.id}


def test_a_fenced_or_stopping_follower_is_not_proposed(cluster: Liars) -> None:
    """The controller would refuse it (KIP-841)."""
    follower = followers(cluster)[0]
    changes, led, in_sync = led_by(leader(cluster))
    in_sync.isr -= {follower.id}
    controller = leader(cluster).controller
    image = controller.image
    led.fetched(follower.id, END, cluster.now, follower.broker_epoch)
    registered = image.brokers[follower.id]
    for broker in (registered._replace(fenced=True), registered._replace(in_controlled_shutdown=True)):
        controller.delta.image = image._replace(brokers=image.brokers.set(follower.id, broker))
        changes.maybe_change_isr(led)
        assert in_sync.proposed is None
    controller.delta.image = image
    changes.maybe_change_isr(led)
    assert in_sync.proposed == in_sync.isr | {follower.id}


Change = Callable[[AlterPartitionResponse.PartitionData], None]


CANNOT_BE = {
    "no replica": saying(isr=[]),
    "not the leader": saying(isr=[12]),
    "strangers": saying(isr=[11, 12, 13, 99]),
    "a replica twice": saying(isr=[11, 11]),
    "a later epoch of the leader": saying(leader_epoch=7),
    "an older state": saying(partition_epoch=-3),
    "a state of long after": saying(partition_epoch=2**31 - 1),
    "another partition": saying(partition_index=5),
}


@pytest.mark.parametrize("change", CANNOT_BE.values(), ids=CANNOT_BE)
def test_an_impossible_in_sync_set_of_the_controller_is_not_believed(cluster: Liars, change: Change) -> None:
    """Until the metadata says otherwise, the high watermark waits for each replica that may be in
    the set."""
    assert leader(cluster).id == 11
    cluster.kill(13)
    cluster.until(lambda: 13 not in partition(cluster).isr, 60_000)
    cluster.step(1000)
    changes, led, in_sync = led_by(leader(cluster))
    in_sync.remotes[13].fetched(END, END, cluster.now, -1)
    before, epoch, wished = in_sync.isr, in_sync.partition_epoch, in_sync.isr | {13}

    def lie(request: Any, answer: Any) -> Any:
        [data] = answer.topics[0].partitions
        assert data.error_code == error_codes.INELIGIBLE_REPLICA, "it is away"
        saying(error_code=0, leader_id=11, leader_epoch=led.leader_epoch, isr=[11], partition_epoch=epoch + 1)(data)
        change(data)
        return answer

    cluster.lie_of_controller = lie
    changes._submit(led, in_sync, wished)
    cluster.submit(leader(cluster), produce_request("t", b"unseen", acks=1), 9, lambda answer: None)
    cluster.step(2000)
    assert (in_sync.isr, in_sync.partition_epoch, in_sync.proposed) == (before, epoch, wished)
    assert led.high_watermark == END
    cluster.lie_of_controller = None
    cluster.add_broker(13)
    cluster.until(lambda: len(partition(cluster).isr) == 3 and settled(cluster), 90_000)


def test_a_possible_in_sync_set_of_the_controller_is_believed(cluster: Liars) -> None:
    """Proves that it is not the harness that causes the refusals above."""
    cut_off(cluster)
    _, led, in_sync = led_by(leader(cluster))
    cluster.until(lambda: len(in_sync.isr) == 2, 60_000)
    assert in_sync.proposed is None
    assert led.high_watermark == END + 1


NOTHING_WAS_DONE = (error_codes.INELIGIBLE_REPLICA, error_codes.OPERATION_NOT_ATTEMPTED)
MAY_HAVE_BEEN_DONE = (error_codes.INVALID_UPDATE_VERSION, error_codes.INVALID_REQUEST, error_codes.NEW_LEADER_ELECTED)


@pytest.mark.parametrize("code", [*NOTHING_WAS_DONE, *MAY_HAVE_BEEN_DONE, error_codes.UNKNOWN_SERVER_ERROR])
def test_a_proposed_follower_is_waited_for_while_the_outcome_is_unknown(cluster: Liars, code: int) -> None:
    """The change may have been made and its answer lost; the next answer says only that the state
    is not what the leader expected (KIP-497)."""
    follower = followers(cluster)[0].id
    cluster.kill(follower)
    cluster.until(lambda: follower not in partition(cluster).isr, 60_000)
    cluster.step(1000)
    changes, led, in_sync = led_by(leader(cluster))
    in_sync.remotes[follower].fetched(END, END, cluster.now, -1)
    answers: list[int] = []

    def lie(request: Any, answer: Any) -> Any:
        [data] = answer.topics[0].partitions
        answers.append(data.error_code)
        data.error_code = code
        return answer

    cluster.lie_of_controller = lie
    changes._submit(led, in_sync, wished := in_sync.isr | {follower})
    cluster.until(lambda: bool(answers))
    cluster.step(100)
    assert answers == [error_codes.INELIGIBLE_REPLICA], "it is away: the controller has really done nothing"
    cluster.submit(leader(cluster), produce_request("t", b"unseen", acks=1), 9, lambda answer: None)
    cluster.step(1000)
    if code in NOTHING_WAS_DONE:
        assert (in_sync.proposed, led.high_watermark, len(answers)) == (None, END + 1, 1)
    else:
        assert (in_sync.proposed, led.high_watermark) == (wished, END)
        assert (len(answers) > 1) == (code not in MAY_HAVE_BEEN_DONE), "asked again at once"
        cluster.step(5000)
        assert len(answers) > 1, "asked again when the metadata tell nothing"


def led_by(node: Node) -> tuple[AlterPartitionManager, Partition, InSyncReplicas]:
    led = node.partitions.get("t", 0)
    assert led is not None
    assert led.in_sync is not None
    assert node.alter_partition_manager is not None
    return node.alter_partition_manager, led, led.in_sync


def test_a_new_replica_begins_within_a_batch_where_the_leaders_log_does(cluster: Liars) -> None:
    """Records before an offset were deleted; the batch that holds the offset still exists, and is
    sent whole."""
    assert produce(cluster, b"a", b"b", b"c", b"d") == (0, END)
    cluster.step(1000)
    assert cluster.ask(leader(cluster), purging("t", END + 2), 2).topics[0].partitions[0].error_code == 0
    first, second, third = partition(cluster).replicas
    assert reassign(cluster, first, second) == 0
    cluster.until(lambda: tuple(partition(cluster).replicas) == (first, second))
    cluster.step(1000)
    assert reassign(cluster, first, second, third) == 0
    cluster.until(lambda: third in partition(cluster).isr, 60_000)
    new = log_of(cluster.nodes[third])
    assert (new.log_start_offset, new.log_end_offset) == (END + 2, END + 4)
    [kept] = [bytes(batch) for batch in new.batches(END)]
    assert contents(cluster.nodes[first]).endswith(kept)


def test_a_refused_replica_gets_an_error_and_is_not_recorded(cluster: Liars, caplog: pytest.LogCaptureFixture) -> None:
    """Unknown replicas may send any claim any number of times: nothing about them is kept."""
    _, _, in_sync = led_by(leader(cluster))
    for replica in range(100, 200):
        assert ask(cluster, replica, END).error_code == error_codes.UNKNOWN_LEADER_EPOCH
    assert set(in_sync.remotes) == {node.id for node in followers(cluster)}
    assert len(leader(cluster).fetch_sessions) <= 3
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
