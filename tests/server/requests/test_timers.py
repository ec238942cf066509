"""Calls by time."""

from functools import partial

from kafkadouble.server.requests.timers import Timers


def noted(calls: list[tuple[str, int]], name: str, now: int) -> None:
    calls.append((name, now))


def test_timers_run_by_time_and_then_in_the_order_of_asking() -> None:
    timers = Timers()
    calls: list[tuple[str, int]] = []
    for deadline, name in ((20, "b"), (10, "a"), (20, "c"), (30, "d")):
        timers.at(deadline, partial(noted, calls, name))
    timers.run(25)
    assert calls == [("a", 25), ("b", 25), ("c", 25)]
    assert timers.next_deadline() == 30


def test_a_cancelled_timer_is_not_called_and_not_waited_for() -> None:
    timers = Timers()
    calls: list[int] = []
    timer = timers.at(10, calls.append)
    timers.at(20, calls.append)
    timer.cancel()
    timer.cancel()
    assert timers.next_deadline() == 20
    timers.run(20)
    assert calls == [20]


def test_a_timer_added_while_running_and_already_due_runs_too() -> None:
    timers = Timers()
    calls: list[int] = []

    def ask_again(now: int) -> None:
        timers.at(now, calls.append)

    timers.at(10, ask_again)
    timers.run(10)
    assert calls == [10]
    assert timers.next_deadline() is None


def test_timers_moved_a_million_times_keep_no_memory() -> None:
    timers = Timers()
    kept = [timers.at(1_000_000, print) for _ in range(10)]
    timer = timers.at(0, print)
    for deadline in range(100_000):
        timer.cancel()
        timer = timers.at(deadline, print)
    assert len(timers._heap) < 200
    assert all(each.action is not None for each in kept)
