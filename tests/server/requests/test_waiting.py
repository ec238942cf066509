"""The driver of handlers that wait: which handler is resumed, when, and with what."""

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.server.requests.waiting import (
    MOST_AT_ONCE,
    OTHERS_FIRST,
    SLICE,
    Aside,
    Until,
    Wait,
    Waiters,
    Waiting,
    sliced,
)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def start(waiting: Waiting, steps: Wait[Any]) -> list[Any]:
    """Starts a handler; the list gets its result, or its exception."""
    results: list[Any] = []
    waiting.start(steps, results.append, results.append)
    return results


def until(deadline: int | None, *places: Waiters, lacking: int = 1) -> Wait[bool]:
    moved: bool = yield Until(deadline, places, lacking)
    return moved


def test_a_handler_is_resumed_with_true_when_its_place_is_woken(waiting: Waiting) -> None:
    waiters = Waiters()
    results = start(waiting, until(100, waiters))
    waiters.wake()
    assert results == [], "waking only marks"
    waiting.run(0)
    assert results == [True]
    assert len(waiters) == 0
    assert waiting.timers.next_deadline() is None


def test_a_handler_is_resumed_with_false_when_its_time_is_up(waiting: Waiting) -> None:
    waiters = Waiters()
    results = start(waiting, until(100, waiters))
    waiting.run(99)
    assert results == []
    waiting.run(100)
    assert results == [False]
    assert len(waiters) == 0


def test_a_handler_sleeps_until_what_it_lacks_has_come_from_all_its_places(waiting: Waiting) -> None:
    here, there = Waiters(), Waiters()
    results = start(waiting, until(None, here, there, lacking=10))
    here.wake(4)
    there.wake(5)
    waiting.run(0)
    assert results == []
    here.wake(1)
    waiting.run(0)
    assert results == [True]
    assert (len(here), len(there)) == (0, 0)


def test_wake_all_resumes_every_waiting_task(waiting: Waiting) -> None:
    waiters = Waiters()
    results = start(waiting, until(None, waiters, lacking=1_000_000))
    waiters.wake_all()
    waiting.run(0)
    assert results == [True]


def test_task_woken_at_its_deadline_is_resumed_once(waiting: Waiting) -> None:
    waiters = Waiters()
    results = start(waiting, until(100, waiters))
    waiters.wake()
    waiters.wake()
    waiting.run(100)
    assert results == [True]


def test_handlers_are_resumed_in_the_order_in_which_they_came(waiting: Waiting) -> None:
    place, order = Waiters(), []

    def steps(name: str) -> Wait[None]:
        yield Until(None, [place])
        order.append(name)

    for name in "abc":
        start(waiting, steps(name))
    place.wake()
    waiting.run(0)
    assert order == ["a", "b", "c"]


def test_a_handler_may_wait_again_and_wake_others(waiting: Waiting) -> None:
    first, second = Waiters(), Waiters()

    def relay() -> Wait[str]:
        yield Until(None, [first])
        second.wake()
        yield Until(50)
        return "relayed"

    relayed, woken = start(waiting, relay()), start(waiting, until(None, second))
    first.wake()
    waiting.run(0)
    assert woken == [True]
    assert relayed == []
    waiting.run(50)
    assert relayed == ["relayed"]


def test_an_exception_goes_to_its_own_request_and_harms_no_other(waiting: Waiting) -> None:
    place, problem = Waiters(), ValueError("broken")

    def fails() -> Wait[None]:
        yield Until(None, [place])
        raise problem

    failed, fine = start(waiting, fails()), start(waiting, until(None, place))
    place.wake()
    waiting.run(0)
    assert failed == [problem]
    assert fine == [True]


def test_a_closed_handler_runs_its_finally_and_is_never_resumed(waiting: Waiting) -> None:
    waiters = Waiters()
    seen: list[Any] = []

    def steps() -> Wait[None]:
        try:
            yield Until(10, [waiters])
            seen.append("resumed")
        finally:
            seen.append("closed")

    task = waiting.start(steps(), seen.append, seen.append)
    waiters.wake()
    task.close()
    waiting.run(10)
    assert seen == ["closed"]
    assert len(waiters) == 0


def test_running_within_a_run_does_not_deepen_the_stack(waiting: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer may let a connection begin its next request, which runs the driver again; five
    thousand nested answers are not too many."""
    monkeypatch.setattr("kafkadouble.server.requests.waiting.MOST_AT_ONCE", 5000)
    waiters = Waiters()
    done: list[Any] = []

    def answered(result: bool) -> None:
        done.append(result)
        waiting.run(0)

    for _ in range(5000):
        waiting.start(until(None, waiters), answered, done.append)
    waiters.wake()
    waiting.run(0)
    assert len(done) == 5000


def test_tick_resumes_a_bounded_number_of_handlers_in_order(waiting: Waiting) -> None:
    waiters = Waiters()
    done: list[int] = []

    def numbered(number: int) -> Wait[int]:
        yield Until(None, [waiters])
        return number

    for number in range(3 * MOST_AT_ONCE):
        waiting.start(numbered(number), done.append, raised)
    waiters.wake()
    runs = 0
    while waiting.is_busy or not runs:
        waiting.run(0)
        runs += 1
        assert len(done) == runs * MOST_AT_ONCE
    assert done == [*range(3 * MOST_AT_ONCE)]


def raised(failure: Exception) -> None:
    raise failure


def test_handlers_that_yield_others_first_take_turns(waiting: Waiting) -> None:
    steps: list[str] = []

    def working(name: str) -> Wait[str]:
        for number in range(3):
            steps.append(f"{name}{number}")
            yield OTHERS_FIRST
        return name

    done: list[str] = []
    for name in "ab":
        waiting.start(working(name), done.append, raised)
    waiting.run(0)
    assert steps == ["a0", "b0"]  # a run alone resumes none of them
    while waiting.is_busy:
        waiting.take_turn()
        waiting.run(0)
    assert steps == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert done == ["a", "b"]


def test_closed_handler_is_not_resumed(waiting: Waiting) -> None:
    def working() -> Wait[None]:
        yield OTHERS_FIRST
        raise AssertionError("it went on")

    tasks = [waiting.start(working(), raised_never, raised) for _ in range(2)]
    for task in tasks:
        task.close()
    waiting.take_turn()
    waiting.run(0)
    assert not waiting.is_busy


def raised_never(result: Any) -> None:
    raise AssertionError(result)


def test_result_of_an_aside_resumes_the_handler(waiting: Waiting) -> None:
    def working(work: Callable[[], Any]) -> Wait[Any]:
        aside = Aside(work)
        yield aside
        try:
            return aside.result()
        except ZeroDivisionError:
            return "refused"

    done: list[Any] = []
    for work in (lambda: 7, lambda: 1 // 0):
        waiting.start(working(work), done.append, raised)
        waiting.run(0)
    assert done == [7, "refused"]


def test_slices_give_what_one_piece_would(waiting: Waiting) -> None:
    done: list[list[int]] = []
    waiting.start(sliced(lambda number: 2 * number, range(3 * SLICE + 1)), done.append, raised)
    turns = 0
    while waiting.is_busy:
        waiting.take_turn()
        waiting.run(0)
        turns += 1
    assert (turns, done) == (3, [[2 * number for number in range(3 * SLICE + 1)]])


def test_tasks_of_the_next_run_precede_those_after_others(waiting: Waiting) -> None:
    done: list[str] = []
    waiting.start_after_others(lambda: done.append("after others"))
    waiting.start_soon(lambda: done.append("soon"))
    waiting.run(0)
    assert (done, waiting.is_busy) == (["soon"], True)
    waiting.take_turn()
    waiting.run(0)
    assert (done, waiting.is_busy) == (["soon", "after others"], False)
