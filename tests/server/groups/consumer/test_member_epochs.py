"""Which member epochs the coordinator accepts: in heartbeats, and in requests about offsets
(KIP-848, KIP-1251)."""

from __future__ import annotations

from kafkadouble.messages import error_codes as codes
from tests.server.groups.asking import commit
from tests.server.groups.consumer.bench import Consumer, ConsumerBench, settle


def test_a_lost_response_is_repeated_for_the_previous_epoch(bench: ConsumerBench) -> None:
    t = bench.create_topic("t", 2)
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a, b)
    b.leave()
    lost = a.send()
    assert lost.member_epoch == a.epoch + 1
    again = a.beat()
    assert again.member_epoch == lost.member_epoch
    # The partitions are repeated only in the answer to a full request.
    assert again.assignment is None
    a.repeat()
    assert a.partitions(t) == [0, 1]


def test_the_previous_epoch_is_fenced_with_partitions_of_another(bench: ConsumerBench) -> None:
    t, u = bench.create_topic("t", 2), bench.create_topic("u")
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a, b)
    b.leave()
    a.send()
    for owned in ({u: {0}}, {t: {0, 1, 2}}):
        a.owned = owned
        assert a.code() == codes.FENCED_MEMBER_EPOCH
    assert a.code(topic_partitions=None) == codes.FENCED_MEMBER_EPOCH
    a.owned = {}
    assert a.code() == codes.NONE


def test_a_member_that_rejoins_stays_in_its_epoch(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    a = Consumer(bench, "a", "t")
    settle(a)
    epoch = a.epoch
    a.epoch = 0
    assert a.beat().member_epoch == epoch


def test_a_commit_with_an_older_epoch_counts_for_what_the_member_had_then(bench: ConsumerBench) -> None:
    bench.create_topic("t", 2)
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a)
    before = a.epoch
    settle(a, b)
    (kept,), (given_away,) = a.owned.values(), b.owned.values()
    (kept_partition,), (partition,) = kept, given_away
    assert commit(bench, {"t": {kept_partition: 1}}, member="a", generation=before) == {("t", kept_partition): 0}
    assert set(commit(bench, {"t": {partition: 1}}, member="a", generation=before).values()) == {
        codes.STALE_MEMBER_EPOCH
    }
    assert set(commit(bench, {"t": {partition: 1}}, member="b", generation=b.epoch - 1).values()) == {
        codes.STALE_MEMBER_EPOCH
    }
    # One partition that it does not have fails the whole request.
    assert set(commit(bench, {"t": {0: 1, 1: 1}}, member="a", generation=before).values()) == {codes.STALE_MEMBER_EPOCH}


def test_a_member_may_commit_what_it_must_still_revoke(bench: ConsumerBench) -> None:
    t = bench.create_topic("t", 2)
    a, b = Consumer(bench, "a", "t"), Consumer(bench, "b", "t")
    settle(a)
    b.beat()
    owned = {t: {0, 1}}
    a.beat()
    assert len(a.partitions(t)) == 1, "it is still in its epoch, and revokes one"
    (revoked,) = owned[t] - set(a.partitions(t))
    assert commit(bench, {"t": {revoked: 1}}, member="a", generation=a.epoch) == {("t", revoked): 0}
    settle(a, b)
    assert set(commit(bench, {"t": {revoked: 1}}, member="a", generation=a.epoch - 1).values()) == {
        codes.STALE_MEMBER_EPOCH
    }


def test_in_an_empty_group_anyone_may_commit_without_an_epoch(bench: ConsumerBench) -> None:
    bench.create_topic("t")
    a = Consumer(bench, "a", "t")
    a.beat()
    assert set(commit(bench, {"t": {0: 1}}).values()) == {codes.UNKNOWN_MEMBER_ID}
    a.leave()
    assert set(commit(bench, {"t": {0: 1}}).values()) == {codes.NONE}
