"""Mutations of replication: the in-sync set, the high watermark, epochs of leaders and brokers
(KIP-497, KIP-903, KIP-966, KIP-320)."""

from __future__ import annotations

from .mutation import Mutation

_IN_SYNC, _ISR = "tests/server/replica/replication/test_in_sync.py", "tests/server/controller/test_alter_partition.py"
_REPLICATION, _FALSE = (
    "tests/server/replica/replication/test_replication.py",
    "tests/server/replica/replication/test_false_followers.py",
)
_FOLLOWING = "tests/server/replica/replication/test_following.py"
_CONVERSATIONS = "tests/test_conversations.py"
_COMES = f"{_IN_SYNC}::test_a_follower_comes_in_from_the_start_of_the_epoch_on"

REPLICATION = {
    "isr: a follower comes in below the start of the epoch": Mutation(
        "server/replica/replication/in_sync_replicas.py",
        "return self.remotes[id].end_offset >= max(high_watermark, self.epoch_start)",
        "return self.remotes[id].end_offset >= high_watermark",
        (_COMES,),
        "a replica is in sync that may lack what an earlier leader committed",
    ),
    "isr: a follower comes in below the high watermark": Mutation(
        "server/replica/replication/in_sync_replicas.py",
        "return self.remotes[id].end_offset >= max(high_watermark, self.epoch_start)",
        "return self.remotes[id].end_offset >= self.epoch_start",
        (_COMES,),
        "a replica is in sync that lacks what is committed",
    ),
    "isr: a proposed replica is not waited for": Mutation(
        "server/replica/replication/in_sync_replicas.py",
        "for id in self.isr if self.proposed is None else self.isr | self.proposed:",
        "for id in self.isr:",
        (_IN_SYNC,),
        "the controller may have put it into the set already, and elects it without the last records (KIP-497)",
    ),
    "isr: older metadata undo what the controller answered": Mutation(
        "server/replica/replication/in_sync_replicas.py",
        "        elif partition.partition_epoch < self.partition_epoch:\n            return\n",
        "",
        (_IN_SYNC,),
        "replicas that were moved away count again, and those that came in do not",
    ),
    "isr: below min.insync.replicas the high watermark moves": Mutation(
        "server/replica/replication/in_sync_replicas.py",
        "        if len(self.isr) < min_isr:\n            return -1\n",
        "",
        (_IN_SYNC,),
        "an eligible leader replica may lack what is committed (KIP-966)",
    ),
    "isr: a follower that is stuck stays in sync": Mutation(
        "server/replica/replication/in_sync_replicas.py",
        "        elif offset >= self.last_leader_end >= 0:\n",
        "        else:\n",
        (_IN_SYNC,),
        "a follower that lags for ever keeps the high watermark back",
    ),
    "isr: a caught-up follower falls out when nothing is produced": Mutation(
        "server/replica/replication/in_sync_replicas.py",
        "return self.end_offset == leader_end or now - self.last_caught_up <= lag",
        "return now - self.last_caught_up <= lag",
        (_IN_SYNC,),
        "an idle partition loses its in-sync set while fetches wait",
    ),
    "isr: a leader speaks of an older leader epoch": Mutation(
        "server/controller/alter_partition.py",
        "    (error_codes.FENCED_LEADER_EPOCH, lambda p: p.requested.leader_epoch < p.partition.leader_epoch),\n",
        "",
        (_ISR,),
        "a leader that was replaced changes the set of its successor",
    ),
    "isr: a broker that does not lead changes the set": Mutation(
        "server/controller/alter_partition.py",
        "    (error_codes.INVALID_REQUEST, lambda p: p.leader != p.partition.leader),\n",
        "",
        (_ISR,),
        "any broker can put itself in sync",
    ),
    "isr: a leader speaks of an older set": Mutation(
        "server/controller/alter_partition.py",
        "    (error_codes.INVALID_UPDATE_VERSION, lambda p: p.requested.partition_epoch < p.partition.partition_epoch),\n",
        "",
        (_ISR,),
        "a late request undoes a reassignment",
    ),
    "isr: an ineligible replica is granted": Mutation(
        "server/controller/alter_partition.py",
        "    (error_codes.INELIGIBLE_REPLICA, lambda p: not all(_is_eligible(p, replica) for replica in p.isr)),\n",
        "",
        (_ISR,),
        "a replica comes in that is fenced, or that fetched before its broker restarted (KIP-841, KIP-903)",
    ),
    "isr: a fenced replica is granted": Mutation(
        "server/controller/alter_partition.py",
        "return broker is not None and broker.active and replica.epoch in (ANY_EPOCH, broker.epoch)",
        "return broker is not None and replica.epoch in (ANY_EPOCH, broker.epoch)",
        (_ISR,),
        "a broker that is not reached is elected (KIP-841)",
    ),
    "isr: a replica of an earlier life is granted": Mutation(
        "server/controller/alter_partition.py",
        "return broker is not None and broker.active and replica.epoch in (ANY_EPOCH, broker.epoch)",
        "return broker is not None and broker.active",
        (_ISR,),
        "a replica that lost its disk is in sync by what it fetched before (KIP-903)",
    ),
    "isr: a replica of an earlier life is proposed": Mutation(
        "server/replica/replication/alter_partition_manager.py",
        "return broker is not None and broker.active and remote.broker_epoch in (-1, broker.epoch)",
        "return broker is not None and broker.active",
        (_FALSE,),
        "each such proposal is refused by the controller, and made again",
    ),
    "isr: a fenced replica is proposed": Mutation(
        "server/replica/replication/alter_partition_manager.py",
        "return broker is not None and broker.active and remote.broker_epoch in (-1, broker.epoch)",
        "return broker is not None and remote.broker_epoch in (-1, broker.epoch)",
        (_FALSE,),
        "each such proposal is refused by the controller, and made again",
    ),
    "log: a new leader tells the end that it knows": Mutation(
        "server/handlers/list_offsets.py",
        "    if lags and requested.timestamp == LATEST:\n        return _not_available(request, requested)\n",
        "",
        (_CONVERSATIONS,),
        "ListOffsets answers an end below one of the last leader (KIP-207)",
    ),
    "log: a new leader says that no record is so late": Mutation(
        "server/handlers/list_offsets.py",
        "    if lags and not is_found and requested.timestamp not in ABOUT_TIERED:\n        return _not_available(request, requested)\n",
        "",
        (_CONVERSATIONS,),
        "a consumer that seeks by time goes to the end, past records that are there (KIP-207)",
    ),
    "log: the end is not available once the epoch is reached": Mutation(
        "server/replica/replication/partition.py",
        "self.log.high_watermark < self.in_sync.epoch_start",
        "self.log.high_watermark <= self.in_sync.epoch_start",
        (_CONVERSATIONS,),
        "no client learns where an idle partition ends after an election (KIP-207)",
    ),
    "log: older clients get a code that they do not know": Mutation(
        "server/handlers/list_offsets.py",
        "LEADER_EPOCH_FROM, NOT_AVAILABLE_FROM = 4, 5",
        "LEADER_EPOCH_FROM, NOT_AVAILABLE_FROM = 4, 0",
        (_CONVERSATIONS,),
        "clients before version 5 fail, where they would retry LEADER_NOT_AVAILABLE (KIP-207)",
    ),
    "log: the high watermark goes back": Mutation(
        "server/replica/replication/partition.py",
        "        if offset > log.high_watermark:\n",
        "        if 0 <= offset != log.high_watermark:\n",
        ("tests/server/replica/test_partition.py",),
        "a consumer gets a log end offset before what it has read (KIP-207)",
    ),
    "fencing: any leader epoch is served": Mutation(
        "server/replica/replication/partition.py",
        "return error_codes.FENCED_LEADER_EPOCH if requested < leader_epoch else error_codes.UNKNOWN_LEADER_EPOCH",
        "return error_codes.NONE",
        ("tests/kips/test_kip_320.py",),
        "a consumer that follows an old leader gets no error (KIP-320)",
    ),
    "epochs: a follower does not say its last epoch": Mutation(
        "server/replica/replication/follower_partition.py",
        "last_fetched_epoch=self.log.epochs.latest if self.log.log_end_offset > 0 else NO_EPOCH,",
        "last_fetched_epoch=NO_EPOCH,",
        ("tests/kips/test_kip_101_replicas.py", _REPLICATION),
        "a divergence is found only where the follower is longer than its leader",
    ),
    "epochs: a follower cuts where its leader's epoch ends, though its own ends before": Mutation(
        "server/replica/replication/follower_partition.py",
        "self.log.truncate_to(min(leaders.offset, ours.offset))",
        "self.log.truncate_to(leaders.offset)",
        (_FOLLOWING,),
        "records of another epoch stay below the place where the leader's ends",
    ),
    "log: a follower's log does not begin where its leader's does": Mutation(
        "server/replica/replication/follower_partition.py",
        "            self._advance_log_start(data.log_start_offset)\n",
        "            pass\n",
        (_FOLLOWING,),
        "records that were deleted come back when a follower is elected",
    ),
}
