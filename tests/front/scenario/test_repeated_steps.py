"""Steps with `every`: when they are called, and how their calls are limited."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.common.step_outcome import StepOutcome
from kafkadouble.scenario.scenario import load
from kafkadouble.scenario.steps import MOST_CALLS

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a scenario of one topic `t` with these steps, and returns its path."""

    def written(*steps: dict[str, Any]) -> Path:
        path = tmp_path / "x.yaml"
        path.write_text(json.dumps({"topics": [{"name": "t"}], "steps": steps}))
        return path

    return written


def produce(value: str = "x", **when: float) -> dict[str, Any]:
    return {**when, "verb": "produce", "topic": "t", "value": value}


def times(kafka: KafkaDouble) -> list[tuple[bytes | None, int]]:
    """The records, with the time since the start of the scenario."""
    return [(record.value, record.timestamp - 1_800_000_000_000) for record in kafka.records("t")]


def stepped(path: Path) -> KafkaDouble:
    from kafkadouble import SteppedClock

    return KafkaDouble(scenario=path, clock=SteppedClock(1_800_000_000_000))


def test_a_step_is_called_after_each_interval_up_to_its_end(write: Write) -> None:
    with stepped(write(produce(every=0.1, until=0.3))) as kafka:
        kafka.advance(0.25)
        assert times(kafka) == [(b"x", 100), (b"x", 200)]
        assert kafka.scenario_steps == [StepOutcome(0.1, "produce", "pending", calls=2)]
        kafka.advance(10)
        assert times(kafka)[2:] == [(b"x", 300)]
        assert kafka.scenario_steps == [StepOutcome(0.1, "produce", "done", calls=3)]


def test_a_step_with_a_time_is_called_first_then(write: Write) -> None:
    with stepped(write(produce("now", at=0, every=2), produce("later", at=3, every=1))) as kafka:
        kafka.advance(5)
        found = [(b"now", 0), (b"now", 2000), (b"later", 3000), (b"now", 4000), (b"later", 4000), (b"later", 5000)]
        assert times(kafka) == found


def test_intervals_that_are_no_binary_fractions_add_up(write: Write) -> None:
    with stepped(write(produce(every=0.007, until=1.001))) as kafka:
        kafka.advance(2)
        assert [time for _, time in times(kafka)] == [7 * number for number in range(1, 144)]


def test_a_reset_begins_again_and_a_restore_ends(write: Write) -> None:
    with stepped(write(produce(every=1))) as kafka:
        kafka.advance(2.5)
        kafka.reset()
        kafka.advance(2)
        assert [time for _, time in times(kafka)] == [3500, 4500]
        kafka.restore(kafka.snapshot())
        kafka.advance(10)
        assert len(times(kafka)) == 2


def test_repeated_step_goes_on_after_an_error_that_is_logged_once(
    write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    with stepped(write({"every": 1, "verb": "delete_topic", "name": "u"})) as kafka:
        kafka.advance(3)
        kafka.create_topic("u")
        kafka.advance(1)
        assert "u" not in kafka.topics()
        kafka.advance(1)
        (outcome,) = kafka.scenario_steps
        assert (outcome.state, outcome.calls) == ("failed", 5)
    assert len(caplog.records) == 1


def test_late_calls_of_a_repeated_step_are_left_out(write: Write) -> None:
    with KafkaDouble(scenario=write(produce(every=0.001))) as kafka:
        kafka.wait_for_records("t", 3)
        kafka.scale(1_000_000)  # a thousand calls in each microsecond
        kafka.wait_for_records("t", len(kafka.records("t")) + 3)
        kafka.freeze()
        (before,) = kafka.scenario_steps
        for _ in range(50):
            kafka.produce("t", "y")
        (after,) = kafka.scenario_steps
        assert after.calls - before.calls <= 5  # those that had begun


def test_advance_over_too_many_steps_is_refused(write: Write) -> None:
    with stepped(path := write(produce(every=0.001), produce(every=0.5, until=100))) as kafka:
        with pytest.raises(UsageError) as refused:
            kafka.advance(86_400)
        problem = f"the step produce would be called 86400000 times in this advance, of {MOST_CALLS} for all steps"
        assert str(refused.value).startswith(f"{path}:1:")
        assert problem in str(refused.value)
        assert times(kafka) == []
        kafka.advance(1)
        assert len(times(kafka)) == 1002


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (produce(every=0), "every is a number of seconds from 0.001 to 31536000, not 0"),
        (produce(at=1, until=5), "until is the end of a step with every: add every, or leave until out"),
        (produce(at=9, every=1, until=5), "until is before the first call, which is at 9 s"),
    ],
)
def test_steps_with_impossible_times_are_refused(write: Write, step: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        load(write(step))
