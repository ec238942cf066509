"""A background thread with an event loop: the only place where the state of a node is touched.

Rules. Other threads hand in functions (`call`) and coroutines (`run`) and get their results. A call
on the loop's own thread is made at once, so that no thread waits for itself. A call that comes too
late fails, so that no thread waits without an end. `stop` leaves no task, no open loop and no
thread. In a process that was forked the thread does not exist, and there is nothing to stop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError, Future
from typing import Any, ParamSpec, TypeVar

from kafkadouble.wire.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """An event loop that runs in a thread of its own from `start` to `stop`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._pending: set[Future[Any]] = set()
        self._held: set[Future[Any]] = set()
        self._is_adopted = self._has_left = self._holds_nothing = False

    @classmethod
    def adopted(cls, name: str) -> LoopThread:
        """Stands for this thread and the loop that runs here. `stop` leaves both running; call it
        before the loop ends."""
        made = cls.__new__(cls)
        made._name, made._process, made._pending, made._held = name, os.getpid(), set(), set()
        made._loop, made._thread = asyncio.get_running_loop(), threading.current_thread()
        made._is_adopted, made._has_left, made._holds_nothing = True, False, False
        return made

    def start(self) -> None:
        """Begins to run."""
        self._thread.start()

    def _main(self) -> None:
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(_settled(tasks))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            self._loop.close()
            self._cancel_all()

    def _cancel_all(self) -> None:
        for result in list(self._pending):
            result.cancel()
        self.cancel_held()

    @property
    def running(self) -> bool:
        """Whether calls can be made, in this process."""
        return not (self.elsewhere or self._has_left or self._loop.is_closed()) and self._thread.is_alive()

    @property
    def elsewhere(self) -> bool:
        """Whether this is a fork of the process that made it."""
        return self._process != os.getpid()

    @property
    def here(self) -> bool:
        """Whether this is the loop's own thread."""
        return threading.current_thread() is self._thread

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls the function on the loop's thread: its result, or its exception."""
        if self.here:
            return function(*args, **kwargs)
        result: Future[T] = Future()

        def carry_out() -> None:
            try:
                result.set_result(function(*args, **kwargs))
            except BaseException as failure:  # raised on the thread of the caller
                result.set_exception(failure)

        self._pending.add(result)
        try:
            self._post(carry_out)
            return result.result()
        except CancelledError:
            raise UsageError(f"{self._name} was stopped meanwhile") from None
        finally:
            self._pending.discard(result)

    def _post(self, function: Callable[[], None]) -> None:
        try:
            if self.running:
                self._loop.call_soon_threadsafe(function)
                return
        except RuntimeError:  # the loop was closed between the question and the call
            pass
        raise UsageError(f"{self._name} is not running")

    def hold(self, result: Future[Any]) -> Future[Any]:
        """Cancels this result, which comes later, if the loop ends before; at once after
        `cancel_held`."""
        self._held.add(result)
        result.add_done_callback(self._held.discard)
        if self._holds_nothing:
            result.cancel()
        return result

    def cancel_held(self) -> None:
        """Cancels the results that are held, and from now on those that would be: the loop is about
        to end."""
        self._holds_nothing = True
        for result in list(self._held):
            result.cancel()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs the coroutine in the loop: its result. UsageError on the loop's thread, which would
        wait for itself. Not to be called while another thread stops it."""
        if self.here:
            coroutine.close()
            raise UsageError(f"this takes time: a function that {self._name} itself calls cannot wait for it")
        if not self.running:
            coroutine.close()
            raise UsageError(f"{self._name} is not running")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        """Ends the loop and the thread; once is enough, and never is no error."""
        if self.elsewhere:
            return
        if self._is_adopted:
            self._has_left = True
            self._cancel_all()
            return
        if self._thread.ident is None:
            self._loop.close()
        elif self.running:
            self._loop.call_soon_threadsafe(self._loop.stop)
        if not self.here and self._thread.ident is not None:
            self._thread.join()

    def __repr__(self) -> str:
        return f"{self._name}, {'running' if self.running else 'not running'}"


async def _settled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)
