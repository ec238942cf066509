"""Mutations of streams groups (KIP-1071)."""

from __future__ import annotations

from .mutation import Mutation

_HERE = "tests/server/groups/streams/test_"
_GROUPS, _RANDOM, _CREATION = (
    f"{_HERE}{name}.py" for name in ("streams_groups", "random_schedules", "internal_topic_creation")
)
_TRANSCRIPTS = "tests/test_conversations.py"
_STREAMS = "server/groups/streams"

STREAMS = {
    "streams: an active task may be in two members": Mutation(
        f"{_STREAMS}/current_assignment.py",
        "        runs = self._processes.active(task) is not None\n",
        "        runs = False\n",
        (_RANDOM,),
        "two members process the same records at a time",
    ),
    "streams: a process may have two copies of a task": Mutation(
        f"{_STREAMS}/current_assignment.py",
        "        return is_active_elsewhere or self._is_standby_here(task) or self._is_warmup_elsewhere(task)\n",
        "        return False\n",
        (_RANDOM,),
        "two threads of an application open the same store directory",
    ),
    "streams: a member advances before it has revoked": Mutation(
        f"{_STREAMS}/current_assignment.py",
        "        self._must_revoke = not self._revoked.is_empty and of.has_not_released(self._revoked)\n",
        "        self._must_revoke = False\n",
        (_GROUPS, _TRANSCRIPTS),
        "a task goes to another member while the first one still has it",
    ),
    "streams: the rebalance timeout is not started": Mutation(
        f"{_STREAMS}/timers.py",
        "    if member.state is not StreamsMemberState.UNREVOKED_TASKS:\n",
        "    if True:\n",
        (_GROUPS, _TRANSCRIPTS),
        "a member that never revokes keeps its tasks from all others",
    ),
    "streams: a loaded group has no timers": Mutation(
        f"{_STREAMS}/streams_group.py",
        "        timers.schedule_all(self)\n",
        "        pass\n",
        (_GROUPS,),
        "after a fail-over the tasks of a dead member are never assigned again",
    ),
    "streams: a static member comes back without its target assignment": Mutation(
        f"{_STREAMS}/group_change.py",
        "        moved[self.updated.member_id] = targets[self.replaced_member_id]\n",
        "        pass\n",
        (_GROUPS,),
        "a restart of one instance moves its tasks to the others and back",
    ),
    "streams: an old epoch may commit anything": Mutation(
        f"{_STREAMS}/member_epochs.py",
        "    if received < epoch:\n",
        "    if False:\n",
        (_GROUPS,),
        "a member overwrites the offsets of the next owner of its task",
    ),
    "streams: a heartbeat with an old epoch is always accepted": Mutation(
        f"{_STREAMS}/member_epochs.py",
        "    if epoch != member.previous_member_epoch or not _owns_only_assigned(member, body):\n",
        "    if False:\n",
        (_GROUPS, _TRANSCRIPTS),
        "a member that was replaced goes on with tasks that it no longer has",
    ),
    "streams: changed topics are not looked at": Mutation(
        f"{_STREAMS}/membership.py",
        "            self.metadata_refresh_deadline = DeadlineAndEpoch(0, 0)\n",
        "            pass\n",
        (_GROUPS, _TRANSCRIPTS),
        "a group never learns that its internal topics exist, or that a source was deleted",
    ),
    "streams: other configurations need no other assignment": Mutation(
        f"{_STREAMS}/group_change.py",
        "        if epoch != metadata.validated_topology_epoch or self.configs != metadata.assignment_configs:\n",
        "        if epoch != metadata.validated_topology_epoch:\n",
        (_GROUPS,),
        "more standby replicas have no effect until a member joins",
    ),
    "streams: the assignment interval is ignored": Mutation(
        f"{_STREAMS}/target_assignment.py",
        "    return timestamp == 0 or interval_ms == 0 or now >= timestamp + interval_ms\n",
        "    return True\n",
        (_TRANSCRIPTS,),
        "each of a thousand members that join has all tasks assigned again",
    ),
    "streams: a failed topic is requested with every heartbeat": Mutation(
        f"{_STREAMS}/internal_topic_creation.py",
        "        due = [topic for topic in topics if topic.name not in failed]\n",
        "        due = list(topics)\n",
        (_CREATION,),
        "the controller gets a request that must fail from each member every few seconds",
    ),
}
