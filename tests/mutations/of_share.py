"""Mutations of share partitions and share sessions (KIP-932, KIP-1206, KIP-1222)."""

from __future__ import annotations

from .mutation import Mutation

_HERE = "tests/server/share/test_"
_STATE, _ACQUIRE, _ACKNOWLEDGE, _PARTITION, _SESSIONS, _READING = (
    f"{_HERE}{name}.py"
    for name in ("in_flight_state", "acquisition", "acknowledgement", "share_partition", "share_sessions", "reading")
)
_FETCH = "tests/server/handlers/test_share_fetch.py"

SHARE = {
    "records: an acknowledged record may become available": Mutation(
        "server/share/record_state.py",
        "    ACKNOWLEDGED: frozenset(),\n",
        "    ACKNOWLEDGED: frozenset((AVAILABLE,)),\n",
        (_STATE,),
        "a record that a member accepted is delivered to another one",
    ),
    "records: the delivery count limit is one higher": Mutation(
        "server/share/in_flight_state.py",
        "if state is AVAILABLE and self.delivery_count >= delivery_limit:",
        "if state is AVAILABLE and self.delivery_count > delivery_limit:",
        (_STATE,),
        "a record that breaks every member is delivered once more than configured",
    ),
    "records: a failed write keeps a lock that has timed out": Mutation(
        "server/share/in_flight_state.py",
        "            elif state.lock_deadline is not None and state.lock_deadline <= now:\n",
        "            elif False:\n",
        (_STATE, _PARTITION),
        "the records of a member that is gone are never delivered again",
    ),
    "acquisition: record_limit may be exceeded": Mutation(
        "server/share/acquisition.py",
        "        if self._limits_records and ranges[0].record_count > most:\n",
        "        if False:\n",
        (_ACQUIRE,),
        "a member gets more records than it can process in time",
    ),
    "acquisition: nothing is throttled": Mutation(
        "server/share/acquisition.py",
        "        return max(counts, default=0) >= self._throttle_from\n",
        "        return False\n",
        (_ACQUIRE,),
        "one bad record takes all others of its batch to the delivery count limit",
    ),
    "acknowledgement: any member may acknowledge": Mutation(
        "server/share/acknowledgement.py",
        'self._member_id, "Member is not the owner of offset")',
        'state.member_id, "Member is not the owner of offset")',
        (_ACKNOWLEDGE,),
        "a member that lost its lock accepts a record that another one is processing",
    ),
    "acknowledgement: what a refused request changed stays": Mutation(
        "server/share/acknowledgement.py",
        "        complete(records, changes, committed=False, now=now)\n        raise\n",
        "        raise\n",
        (_ACKNOWLEDGE,),
        "records are neither delivered again nor stored as accepted",
    ),
    "start offset: it passes records in a gap": Mutation(
        "server/share/start_offset_movement.py",
        "        records.start_offset = min(records.start_offset, gap.start)\n",
        "        pass\n",
        (_ACKNOWLEDGE,),
        "after a fail-over, records that were never delivered are skipped",
    ),
    "share partition: locks never time out": Mutation(
        "server/share/share_partition.py",
        "        self._timer = self._node.waiting.timers.at(deadline, self._time_out)\n",
        "        self._timer = None\n",
        (_PARTITION,),
        "the records of a member that died stay with it",
    ),
    "share partition: an acknowledgement is answered before its write": Mutation(
        "server/share/share_partition.py",
        "        self._write([change.written for change in changes], lambda error: self._written(changes, error, then))\n",
        "        self._write([change.written for change in changes], lambda error: self._written(changes, error, print))\n"
        "        then(None)\n",
        (_PARTITION,),
        "a member believes that a record is accepted, and it is delivered again",
    ),
    "share partition: it outlives the leadership": Mutation(
        "server/share/share_partition_manager.py",
        "        dropped.fence()\n",
        "",
        (_PARTITION,),
        "two brokers deliver the same records",
    ),
    "sessions: the end of a connection releases nothing": Mutation(
        "server/share/share_session_cache.py",
        "            self._listener.on_member_leave(key)\n",
        "",
        (_SESSIONS, _FETCH),
        "after a crash, the records of a member come back only when their locks time out",
    ),
    "isolation: records of aborted transactions are delivered": Mutation(
        "server/share/aborted_records.py",
        "        elif batch.is_transactional and batch.producer_id in producers:\n",
        "        elif False:\n",
        (_READING,),
        "a read_committed group processes an order that was rolled back",
    ),
}
