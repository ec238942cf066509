"""Mutations of the steps of scenarios, and of the kill of a single broker."""

from __future__ import annotations

from .mutation import Mutation

_OF_RECORDS = "tests/front/scenario/test_record_steps.py"
_REPEATED = "tests/front/scenario/test_repeated_steps.py"
_SINGLE = "tests/front/test_single_broker_handle.py"
_RECORD_STEPS, _STEPS = (f"src/kafkadouble/scenario/{name}.py" for name in ("record_steps", "steps"))

SCENARIOS = {
    "scenarios: a record that was aborted is answered": Mutation(
        _RECORD_STEPS,
        "taken = records.take(partition, True, start)",
        "taken = records.take(partition, False, start)",
        (f"{_OF_RECORDS}::test_only_committed_records_are_answered",),
        "an application that aborts gets a reply to what it never sent",
    ),
    "scenarios: a reply is not seen by waits that looked before": Mutation(
        _RECORD_STEPS,
        "            asyncio.get_running_loop().call_soon(self._broker.watches.due)\n",
        "            asyncio.get_running_loop()\n",
        (f"{_OF_RECORDS}::test_a_wait_that_began_before_the_scenario_sees_the_reply",),
        "a test waits for a reply that is there",
    ),
    "scenarios: a reply topic leads back without an end": Mutation(
        _RECORD_STEPS,
        "if TOPIC in step.taken and waiting.trigger.times is None and topic in self._endless:",
        "if False:",
        (f"{_OF_RECORDS}::test_a_reply_topic_that_leads_back_is_refused_when_a_record_names_it",),
        "one record with the wrong header fills the memory, and the broker answers nothing else",
    ),
    "scenarios: records of the start are answered": Mutation(
        _RECORD_STEPS,
        "(each.id, index): AT_THE_END for each",
        "(each.id, index): 0 for each",
        (f"{_OF_RECORDS}::test_records_of_a_partition_without_a_leader_are_not_answered_later",),
        "a broker that starts later has its old records answered",
    ),
    "scenarios: calls that are late are made up for": Mutation(
        _STEPS,
        "max(number + 1, self._steps[index].number_at(now - self._begun_ms))",
        "number + 1",
        (f"{_REPEATED}::test_late_calls_of_a_repeated_step_are_left_out",),
        "after a fast clock the thread of the scenario calls verbs for days",
    ),
    "brokers: a single one that is killed has shut down cleanly": Mutation(
        "src/kafkadouble/engine/broker.py",
        "            self._data.killed(self.node.logs, self.clock.now())\n",
        "            self.node.close(self.clock.now())\n",
        (f"{_SINGLE}::test_a_kill_leaves_no_file_that_says_the_shutdown_was_clean",),
        "a test of a loss of power tests an orderly stop",
    ),
}
