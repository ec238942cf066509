"""The loop in its thread: calls from any thread, a shutdown that leaves nothing behind, and no
caller that waits for ever."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator

import pytest

from kafkadouble.server.network.thread import LoopThread
from kafkadouble.wire.errors import UsageError


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    thread = LoopThread("test loop")
    thread.start()
    yield thread
    thread.stop()


def test_calls_are_made_on_the_one_thread(thread: LoopThread) -> None:
    seen = {thread.call(threading.current_thread) for _ in range(3)}
    assert len(seen) == 1
    assert threading.current_thread() not in seen
    assert thread.call(lambda a, b: a + b, 1, b=2) == 3


def test_an_exception_comes_back(thread: LoopThread) -> None:
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0)
    with pytest.raises(RuntimeError, match="mine"):
        thread.call(lambda: (_ for _ in ()).throw(RuntimeError("mine")))
    assert thread.call(int) == 0


def test_a_call_from_the_loops_own_thread_is_made_at_once(thread: LoopThread) -> None:
    assert thread.call(lambda: thread.call(lambda: thread.call(str))) == ""


def test_coroutines(thread: LoopThread) -> None:
    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    assert thread.run(add(1, 2)) == 3


def test_many_threads_at_once(thread: LoopThread) -> None:
    # Changed only on the loop's thread, so that no update is lost.
    counted: list[int] = []

    def work() -> None:
        for number in range(200):
            thread.call(counted.append, number)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(counted) == 1600


def test_stop_cancels_tasks_and_ends_the_thread() -> None:
    thread = LoopThread("test loop")
    thread.start()
    ended = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def begin() -> asyncio.Task[None]:
        task = asyncio.ensure_future(forever())
        await asyncio.sleep(0)
        return task

    task = thread.run(begin())
    thread.stop()
    thread.stop()
    assert (ended, task.cancelled(), thread.running) == ([True], True, False)
    assert "test loop" not in {one.name for one in threading.enumerate()}


def test_call_on_a_stopped_loop_thread_fails_at_once(thread: LoopThread) -> None:
    async def nothing() -> None: ...

    thread.stop()
    with pytest.raises(UsageError, match="test loop is not running"):
        thread.call(int)
    with pytest.raises(UsageError, match="test loop is not running"):
        thread.run(nothing())
    assert repr(thread) == "test loop, not running"


def test_call_on_a_stopping_loop_thread_fails(thread: LoopThread) -> None:
    """The loop is busy while one thread requests the shutdown and others wait for answers: all
    calls return."""
    hold, outcomes = threading.Event(), []

    def ask() -> None:
        try:
            outcomes.append(thread.call(str))
        except UsageError as problem:
            outcomes.append(str(problem))

    blocker = threading.Thread(target=thread.call, args=(hold.wait,))
    blocker.start()
    askers = [threading.Thread(target=ask) for _ in range(20)]
    stopper = threading.Thread(target=thread.stop)
    for number, asker in enumerate(askers):
        asker.start()
        if number == 10:
            stopper.start()
    hold.set()
    for one in (blocker, stopper, *askers):
        one.join(10)
        assert not one.is_alive()
    assert len(outcomes) == 20
    assert set(outcomes) <= {"", "test loop is not running", "test loop was stopped meanwhile"}


def test_loop_thread_that_never_started_can_be_stopped() -> None:
    thread = LoopThread("test loop")
    thread.stop()
    with pytest.raises(UsageError, match="is not running"):
        thread.call(int)


def test_stopped_from_its_own_thread() -> None:
    thread = LoopThread("test loop")
    thread.start()
    thread.call(thread.stop)
    thread.stop()
    assert not thread.running


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_process_has_no_loop_thread_to_stop(thread: LoopThread) -> None:
    child = os.fork()
    if not child:
        try:
            thread.stop()
            os._exit(0 if not thread.running else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert thread.running
