"""The driver of handlers that wait: who is resumed, when, and with what."""

from typing import Any

import pytest

from kafkadouble.server.waiting import Until, Wait, Waiters, Waiting


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def start(waiting: Waiting, steps: Wait[Any]) -> list[Any]:
    """Start a handler; the list gets its result, or its exception."""
    results: list[Any] = []
    waiting.start(steps, results.append, results.append)
    return results


def until(deadline: int | None, *places: Waiters, lacking: int = 1) -> Wait[bool]:
    moved: bool = yield Until(deadline, places, lacking)
    return moved


def test_a_handler_is_resumed_with_true_when_its_place_is_woken(waiting: Waiting) -> None:
    place = Waiters()
    results = start(waiting, until(100, place))
    place.wake()
    assert results == [], "waking only marks"
    waiting.run(0)
    assert results == [True]
    assert len(place) == 0
    assert waiting.timers.next_deadline() is None


def test_a_handler_is_resumed_with_false_when_its_time_is_up(waiting: Waiting) -> None:
    place = Waiters()
    results = start(waiting, until(100, place))
    waiting.run(99)
    assert results == []
    waiting.run(100)
    assert results == [False]
    assert len(place) == 0


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


def test_wake_all_resumes_however_much_is_lacking(waiting: Waiting) -> None:
    place = Waiters()
    results = start(waiting, until(None, place, lacking=1_000_000))
    place.wake_all()
    waiting.run(0)
    assert results == [True]


def test_woken_and_expired_at_once_is_woken_once(waiting: Waiting) -> None:
    place = Waiters()
    results = start(waiting, until(100, place))
    place.wake()
    place.wake()
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


def test_an_exception_goes_to_the_one_who_asked_and_harms_nobody_else(waiting: Waiting) -> None:
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
    place = Waiters()
    seen: list[Any] = []

    def steps() -> Wait[None]:
        try:
            yield Until(10, [place])
            seen.append("resumed")
        finally:
            seen.append("closed")

    task = waiting.start(steps(), seen.append, seen.append)
    place.wake()
    task.close()
    waiting.run(10)
    assert seen == ["closed"]
    assert len(place) == 0


def test_running_within_a_run_does_not_deepen_the_stack(waiting: Waiting) -> None:
    """An answer may let a connection begin its next request, which runs the driver again; five thousand of them at once are not too many."""
    place = Waiters()
    done: list[Any] = []

    def answered(result: bool) -> None:
        done.append(result)
        waiting.run(0)

    for _ in range(5000):
        waiting.start(until(None, place), answered, done.append)
    place.wake()
    waiting.run(0)
    assert len(done) == 5000
