"""The steps of a scenario: when they happen, what becomes of them, and that nothing is left."""

from __future__ import annotations

import gc
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, SteppedClock
from kafkadouble.common.step_outcome import StepOutcome
from kafkadouble.scenario import apply, scenario

Write = Callable[[str], Path]

THREAD = "kafkadouble-scenario"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a scenario of one topic `t` with these steps, and returns its path."""

    def written(steps: str) -> Path:
        (tmp_path / "x.yaml").write_text(f"topics: [{{name: t}}]\nsteps:\n{steps}")
        return tmp_path / "x.yaml"

    return written


@pytest.fixture(autouse=True)
def _flat() -> Iterator[None]:
    """Every test leaves as many threads as it found."""
    before = set(threading.enumerate())
    yield
    gc.collect()
    assert set(threading.enumerate()) <= before


def produce(at: float, value: str) -> str:
    return f"- {{at: {at}, verb: produce, topic: t, value: {value}}}\n"


def records(kafka: KafkaDouble) -> list[tuple[bytes | None, int]]:
    """The records, with the time since the first."""
    found = kafka.records("t")
    return [(each.value, each.timestamp - found[0].timestamp) for each in found]


def states(kafka: KafkaDouble) -> list[str]:
    return [step.state for step in kafka.scenario_steps]


def worker() -> threading.Thread | None:
    return next((thread for thread in threading.enumerate() if thread.name == THREAD), None)


STEPS = produce(2.5, "second") + produce(0, "first") + produce(2.5, "third") + produce(7, "fourth")


@pytest.mark.parametrize("brokers", [1, 3])
def test_scenario_steps_of_a_stepped_clock_happen_in_advance(write: Write, brokers: int) -> None:
    with KafkaDouble(scenario=write(STEPS), stepped=True, brokers=brokers) as kafka:
        begun = kafka.records("t")[0].timestamp
        kafka.advance(2.499)
        assert records(kafka) == [(b"first", 0)]
        kafka.advance(0.001)
        assert records(kafka) == [(b"first", 0), (b"second", 2500), (b"third", 2500)]
        assert states(kafka) == ["done", "done", "done", "pending"]
        kafka.advance(100)  # stops at 7 s, and goes on
        assert records(kafka)[3:] == [(b"fourth", 7000)]
        kafka.produce("t", "last")
        assert kafka.records("t")[4].timestamp - begun == 102_500
        assert worker() is None


def test_the_time_is_that_since_the_scenario_was_applied(write: Write) -> None:
    with KafkaDouble(scenario=write(STEPS), stepped=True) as kafka:
        kafka.advance(5)
        kafka.reset()
        assert [step.at for step in kafka.scenario_steps] == [0, 2.5, 2.5, 7]
        assert states(kafka) == ["done", "pending", "pending", "pending"]
        kafka.advance(2.5)
        assert records(kafka) == [(b"first", 0), (b"second", 2500), (b"third", 2500)]


def test_a_clock_of_the_program_may_be_stepped(write: Write) -> None:
    with KafkaDouble(scenario=write(STEPS), clock=SteppedClock(1_800_000_000_000)) as kafka:
        kafka.advance(3)
        assert [record.timestamp for record in kafka.records("t")] == [1_800_000_000_000, *[1_800_000_002_500] * 2]


def test_scenario_steps_of_a_running_clock_happen_by_themselves(write: Write) -> None:
    with KafkaDouble(scenario=write(produce(0.02, "first") + produce(0.04, "second"))) as kafka:
        assert [record.value for record in kafka.wait_for_records("t", 2)] == [b"first", b"second"]
        if (thread := worker()) is not None:
            thread.join(10)
            assert not thread.is_alive()  # after the last step
        assert states(kafka) == ["done", "done"]


def test_frozen_clock_holds_scenario_steps(write: Write) -> None:
    with KafkaDouble(scenario=write(produce(600, "first") + produce(1200, "second") + produce(1201, "third"))) as kafka:
        kafka.freeze()
        kafka.advance(590)
        assert states(kafka) == ["pending"] * 3
        kafka.advance(610.5)
        assert [record.value for record in kafka.records("t")] == [b"first", b"second"]
        kafka.scale(1000)
        assert states(kafka)[2] == "pending"
        kafka.unfreeze()
        assert len(kafka.wait_for_records("t", 3)) == 3


def test_faster_clock_calls_scenario_steps_earlier(write: Write) -> None:
    with KafkaDouble(scenario=write(produce(3600, "first"))) as kafka:
        kafka.scale(1_000_000)
        assert len(kafka.wait_for_records("t", 1)) == 1


def test_a_step_may_change_the_clock(write: Write) -> None:
    steps = (
        "- {at: 0.01, verb: freeze}\n"
        + produce(600, "first")
        + "- {at: 601, verb: unfreeze}\n"
        + produce(601.01, "last")
    )
    with KafkaDouble(scenario=write(steps)) as kafka:
        while states(kafka)[0] == "pending":
            kafka.wait_for_topic("t")
        kafka.advance(600)
        assert [record.value for record in kafka.records("t")] == [b"first"]
        kafka.advance(600)  # the clock goes on by itself meanwhile
        assert len(kafka.wait_for_records("t", 2)) == 2


def test_scenario_steps_follow_any_clock_that_has_now(write: Write) -> None:
    class Machine:
        def now(self) -> int:
            return time.time_ns() // 1_000_000

    with KafkaDouble(scenario=write(produce(0.01, "first")), clock=Machine()) as kafka:
        assert len(kafka.wait_for_records("t", 1)) == 1


def test_a_step_that_fails_is_logged_and_kept(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    steps = "- {at: 1, verb: isolate_broker, broker: 1}\n- {at: 2, verb: delete_topic, name: u}\n" + produce(3, "last")
    path = write(steps)
    with caplog.at_level(logging.WARNING, "kafkadouble"), KafkaDouble(scenario=path, stepped=True) as kafka:
        kafka.advance(10)
        first, second, third = kafka.scenario_steps
        assert first[:3] == (1, "isolate_broker", "failed")
        assert first.problem is not None
        assert first.problem.startswith("UsageError: a single broker cannot be isolated")
        assert second.problem is not None
        assert second.problem.startswith("KafkaError: UNKNOWN_TOPIC_OR_PARTITION")
        assert third == StepOutcome(3, "produce", "done", calls=1)
        assert [record.value for record in kafka.records("t")] == [b"last"]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}:3:3: the step isolate_broker at 1 s failed: {first.problem}",
        f"{path}:4:3: the step delete_topic at 2 s failed: {second.problem}",
    ]
    assert kafka.scenario_steps == [first, second, third]  # after the stop, too


def test_a_defect_in_a_verb_is_no_crash(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a defect")

    path = write("- {at: 0.01, verb: delete_topic, name: t}\n" + produce(0.02, "last"))
    monkeypatch.setattr("kafkadouble.records.seeding.to_delete", fails)
    with KafkaDouble(scenario=path) as kafka:
        assert len(kafka.wait_for_records("t", 1)) == 1
        assert kafka.scenario_steps[0].problem == "ZeroDivisionError: a defect"


def test_brokers_are_killed_and_started(write: Write) -> None:
    steps = "- {at: 1, verb: kill_broker, broker: 2}\n- {at: 5, verb: up, broker: 2}\n"
    with KafkaDouble(scenario=write(steps), brokers=3, stepped=True) as kafka:
        kafka.create_topic("u", replication_factor=3)
        kafka.advance(4)
        assert [id for id, broker in kafka.brokers.items() if broker.running] == [1, 3]
        kafka.advance(20)
        assert [id for id, broker in kafka.brokers.items() if broker.running] == [1, 2, 3]
        assert states(kafka) == ["done", "done"]


def test_rules_are_armed_at_a_time(write: Write) -> None:
    rule = "{match: {api: Fetch}, action: {type: ignore}}"
    steps = f"- {{at: 1, verb: fail, api: Produce, error: 6, times: null}}\n- {{at: 2, verb: arm, rule: {rule}}}\n"
    with KafkaDouble(scenario=write(steps), stepped=True) as kafka:
        kafka.advance(1)
        assert [repr(rule.rule) for rule in kafka.rules] == ["fail Produce with NOT_LEADER_OR_FOLLOWER every time"]
        kafka.advance(1)
        assert len(kafka.rules) == 2


def test_a_file_of_records_is_beside_the_scenario(write: Write, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    with KafkaDouble(scenario=write("- {at: 0, verb: produce_file, topic: t, path: lines.txt}"), stepped=True) as kafka:
        assert [record.value for record in kafka.records("t")] == [b"one", b"two"]
    absolute = tmp_path / "lines.txt"
    with KafkaDouble(scenario=write(f"- {{at: 0, verb: produce_file, topic: t, path: {absolute}}}")) as kafka:
        assert len(kafka.records("t")) == 2


LATER = produce(3600, "late")


@pytest.mark.parametrize("end", ["reset", "restore", "stop"])
def test_scenario_steps_end_with_the_double(write: Write, end: str) -> None:
    with KafkaDouble(scenario=write(LATER)) as kafka:
        snapshot, first = kafka.snapshot(), worker()
        assert first is not None
        if end == "restore":
            kafka.restore(snapshot)
        else:
            getattr(kafka, end)()
        assert not first.is_alive()
        assert (worker() is not None) == (end == "reset")
        assert states(kafka) == ["pending"]


def test_resets_leave_no_threads(write: Write) -> None:
    with KafkaDouble(scenario=write(LATER)) as kafka:
        before = threading.active_count()
        for _ in range(20):
            kafka.reset()
        assert threading.active_count() == before


def test_a_double_that_no_one_holds_is_collected(write: Write) -> None:
    kafka = KafkaDouble(scenario=write(LATER)).start()
    found, thread = weakref.ref(kafka), worker()
    assert thread is not None
    del kafka
    gc.collect()
    assert found() is None
    thread.join(10)
    assert not thread.is_alive()


def test_a_stop_ends_a_step_that_waits(
    write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The follower is in sync and out of reach, so that the leader does not answer."""
    monkeypatch.setattr("kafkadouble.scenario.steps.GRACE_S", 0.01)
    hours = {"replica.lag.time.max.ms": 600_000, "broker.session.timeout.ms": 600_000}
    kafka = KafkaDouble(brokers=2, config=hours).start()
    kafka.create_topic("u", replication_factor=2)
    kafka.brokers[3 - (kafka.leader("u", 0) or 0)].isolate()
    apply.begin(kafka, scenario.load(write("- {at: 0.01, verb: produce, topic: u, value: x}")))
    while kafka.partition("u", 0).end_offset == 0:
        kafka.wait_for_topic("u")
    caplog.clear()
    assert states(kafka) == ["pending"]
    kafka.stop()
    assert worker() is None
    assert kafka.scenario_steps[0].problem == "UsageError: the double was stopped meanwhile"
    assert caplog.records == []


def test_advance_on_the_thread_of_the_broker_calls_no_step(write: Write) -> None:
    with KafkaDouble(scenario=write(produce(1, "x")), stepped=True) as kafka:
        kafka._double_host.serving().thread.call(kafka.advance, 5)
        assert states(kafka) == ["pending"]
        kafka.advance(0)
        assert states(kafka) == ["done"]


def test_a_program_ends_with_steps_left(write: Write) -> None:
    import subprocess
    import sys

    program = f"from kafkadouble import KafkaDouble\nkafka = KafkaDouble(scenario={str(write(LATER))!r}).start()"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
