"""Mutations of the life of brokers: registration, heartbeats, fencing, elections (KIP-631, KIP-841,
KIP-966)."""

from __future__ import annotations

from .mutation import Mutation

_HERE = "tests/server/controller/test_"
_REGISTRATION, _BEATS, _HEARTBEATS = (
    f"{_HERE}{name}.py" for name in ("broker_registration", "broker_heartbeat", "broker_heartbeat_manager")
)
_STATES, _CHANGES, _ELECTIONS = (
    f"{_HERE}{name}.py" for name in ("broker_control_state", "broker_changes", "elections")
)
_CHANGES_OF_VOTERS = ("tests/server/raft/test_reconfiguration.py", "tests/server/raft/test_adding_voters.py")

BROKERS = {
    "fencing: a session that is ended lasts": Mutation(
        "server/controller/broker_heartbeat_manager.py",
        "            known.last_contact_ms = now - self.session_timeout_ms - 1\n",
        "            known.last_contact_ms = now - self.session_timeout_ms\n",
        ("tests/front/verbs/test_brokers.py::test_expire_session_fences_the_broker",),
        "a test that ends the session of a dead broker finds that it still leads",
    ),
    "registration: an id is given to a second process": Mutation(
        "server/controller/broker_registration.py",
        "if last is not None and amended is None and heartbeats.has_valid_session(last, context.now):",
        "if False:",
        (_REGISTRATION,),
        "two processes with one id take turns, and both believe that they lead",
    ),
    "registration: an amendment takes the fencing away": Mutation(
        "server/controller/broker_registration.py",
        "        record.fenced, record.in_controlled_shutdown = amended.fenced, amended.in_controlled_shutdown\n",
        "        record.in_controlled_shutdown = amended.in_controlled_shutdown\n",
        (_REGISTRATION,),
        "a broker that amends its registration is fenced, or unfenced, by that",
    ),
    "registration: an amendment has a new epoch": Mutation(
        "server/controller/broker_registration.py",
        "        record.broker_epoch = amended.epoch\n",
        "        record.broker_epoch = context.end\n",
        (_REGISTRATION,),
        "the next heartbeat of the same process is stale",
    ),
    "registration: a directory is registered twice": Mutation(
        "server/controller/broker_registration.py",
        "        if each in owners:\n",
        "        if False:\n",
        (_REGISTRATION,),
        "two brokers share a disk that was copied (KIP-858)",
    ),
    "registration: a new life may be heard of as the old one": Mutation(
        "server/controller/broker_heartbeat_manager.py",
        "        if before is not None and before.epoch == epoch:\n",
        "        if before is not None:\n",
        (_HEARTBEATS, _REGISTRATION),
        "a broker that registers again keeps the session of its last life",
    ),
    "fencing: a heartbeat of an earlier life counts": Mutation(
        "server/controller/broker_epochs.py",
        "    if broker.epoch != epoch:\n",
        "    if broker.epoch < epoch:\n",
        (_BEATS, f"{_HERE}alter_partition.py"),
        "a process that was replaced keeps its successor alive",
    ),
    "fencing: a broker is unfenced before it has read its registration": Mutation(
        "server/controller/broker_control_state.py",
        "return BrokerControlState.UNFENCED if request.caught_up and not request.fence else BrokerControlState.FENCED",
        "return BrokerControlState.UNFENCED if not request.fence else BrokerControlState.FENCED",
        (_STATES, _BEATS),
        "a broker leads that does not know what it leads",
    ),
    "fencing: a broker is caught up one record too early": Mutation(
        "server/controller/broker_heartbeat.py",
        "caught_up = body.current_metadata_offset >= known.registration_offset",
        "caught_up = body.current_metadata_offset >= known.registration_offset - 1",
        (_BEATS,),
        "a broker is unfenced that has not read its own registration",
    ),
    "fencing: a broker that wants to stop goes while it leads": Mutation(
        "server/controller/broker_control_state.py",
        "if not request.leads() and request.others_have_read()",
        "if request.others_have_read()",
        (_STATES, _BEATS),
        "partitions are without a leader until its session is over",
    ),
    "fencing: a broker goes before the others know": Mutation(
        "server/controller/broker_control_state.py",
        "if not request.leads() and request.others_have_read()",
        "if not request.leads()",
        (_STATES, _BEATS),
        "clients are sent to a broker that has stopped",
    ),
    "fencing: a session is over one millisecond early": Mutation(
        "server/controller/broker_heartbeat_manager.py",
        "now <= known.last_contact_ms + self.session_timeout_ms",
        "now < known.last_contact_ms + self.session_timeout_ms",
        (_HEARTBEATS, _BEATS),
        "a heartbeat that comes at the last moment is too late, and not in Kafka",
    ),
    "fencing: a new leader of the quorum has heard nothing": Mutation(
        "server/controller/broker_heartbeat_manager.py",
        "            if not broker.fenced:\n                known.last_contact_ms = now\n",
        "",
        (_HEARTBEATS, _BEATS),
        "a broker that died with the last leader is never fenced",
    ),
    "fencing: a fenced broker keeps its leaderships": Mutation(
        "server/controller/broker_changes.py",
        "return [*_remove_from_isrs(image, settings, broker_id), _registration_change(broker, fenced=FENCE)]",
        "return [_registration_change(broker, fenced=FENCE)]",
        (_CHANGES, _BEATS),
        "partitions are led by a broker that is not there",
    ),
    "quorum: a change of the voters begins while another is under way": Mutation(
        "server/raft/reconfiguration.py",
        "    if leader.change is not None:\n        raise VoterChangeRefused(_TIMED_OUT",
        "    if False:\n        raise VoterChangeRefused(_TIMED_OUT",
        _CHANGES_OF_VOTERS,
        "two majorities that have no voter in common (KIP-853)",
    ),
    "quorum: a change of the voters begins before a record of the epoch is committed": Mutation(
        "server/raft/reconfiguration.py",
        '    if leader.high_watermark is None:\n        raise VoterChangeRefused(_TIMED_OUT, "the leader',
        '    if False:\n        raise VoterChangeRefused(_TIMED_OUT, "the leader',
        _CHANGES_OF_VOTERS,
        "a change of an earlier leader may be pending that this one does not know of (KIP-853)",
    ),
    "quorum: a change of the voters begins before the last one is committed": Mutation(
        "server/raft/reconfiguration.py",
        "if at < 0 or leader.high_watermark is None or at >= leader.high_watermark:",
        "if at < 0 or leader.high_watermark is None:",
        _CHANGES_OF_VOTERS,
        "two majorities that have no voter in common (KIP-853)",
    ),
    "elections: a replica that is out of sync leads": Mutation(
        "server/controller/leader_election.py",
        "if broker in (of.isr or of.elr) and of.may_lead(broker):",
        "if of.may_lead(broker):",
        (_ELECTIONS, f"{_HERE}partition_change_builder.py"),
        "acknowledged records are lost",
    ),
    "elections: an eligible replica leads beside an in-sync set": Mutation(
        "server/controller/leader_election.py",
        "if broker in (of.isr or of.elr) and of.may_lead(broker):",
        "if broker in (*of.isr, *of.elr) and of.may_lead(broker):",
        (_ELECTIONS, f"{_HERE}partition_change_builder.py"),
        "a replica leads that lacks what was committed since it fell out (KIP-966)",
    ),
    "elections: an election without leave is unclean": Mutation(
        "server/controller/leader_election.py",
        "    if election is Election.UNCLEAN:\n",
        "    if True:\n",
        (_ELECTIONS, f"{_HERE}partition_change_builder.py"),
        "unclean.leader.election.enable=false is not obeyed",
    ),
    "elections: a lost disk is eligible": Mutation(
        "server/controller/broker_changes.py",
        "        *_remove_from_isrs(image, settings, broker_id, unclean_shutdown_replica=broker_id),\n",
        "        *_remove_from_isrs(image, settings, broker_id),\n",
        (_CHANGES, _REGISTRATION),
        "a broker that lost what was not flushed is elected as if it had everything (KIP-966)",
    ),
}
