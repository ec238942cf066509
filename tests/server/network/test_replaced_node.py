"""A node behind a listener stops, or is replaced by another: its connections end, and so does what
it has under way. A node that was replaced is not called any more."""

from __future__ import annotations

import asyncio
import threading

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.log.storage import Flush
from kafkadouble.server.network.connection import TURN
from kafkadouble.server.node import Node
from tests.server.network.served_listener import HELLO, connected, history_of, run, serving


def another(node: Node) -> Node:
    """A node that can replace this one."""
    return Node(Settings(), listeners=node.listeners, now=node.now, seed=1)


class SlowlyFlushed:
    """A log whose flush ends when the test lets it."""

    log_end_offset = 7

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.flushed_to: list[int] = []

    @property
    def log(self) -> SlowlyFlushed:
        return self

    def unflushed(self) -> Flush:
        return Flush(7, [self._wait])

    def _wait(self) -> None:
        assert self.may_end.wait(20)

    def flushed(self, offset: int) -> None:
        self.flushed_to.append(offset)


def test_another_node_takes_over() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as old:
            old.send(HELLO, 3)
            await old.receive(18, 3)
            first = listener.node
            listener.replace(another(first))
            assert await old.ended()
            async with connected(listener) as new:
                new.send(HELLO, 3)
                assert (await new.receive(18, 3)).error_code == 0
            assert len(history_of(listener.node)) == len(history_of(first)) == 1

    run(test)


def test_a_node_that_was_replaced_is_not_called_when_its_flush_ends() -> None:
    """It could append to files of the new node, which have the same paths."""

    async def story() -> None:
        slow = SlowlyFlushed()
        async with serving() as listener:
            old, ticked = listener.node, list[int]()
            old.flushing.want(slow)
            listener.reschedule()
            listener.replace(another(old))
            old.waiting.timers.at(old.now, ticked.append)
            slow.may_end.set()
        assert (slow.flushed_to, ticked) == ([], [])

    run(story)


def test_a_node_that_was_replaced_handles_no_request_that_was_sent_ahead() -> None:
    async def test() -> None:
        async with serving() as listener, connected(listener) as client:
            first = listener.node
            for _ in range(4 * TURN):
                client.send(HELLO, 3)
            while not first.history:
                await asyncio.sleep(0)
            handled = len(history_of(first))
            assert handled < 4 * TURN
            listener.replace(another(first))
            while listener.connections:
                await asyncio.sleep(0)
            assert len(history_of(first)) == handled

    run(test)


def test_stop_of_a_node_waits_for_its_flush() -> None:
    async def story() -> None:
        slow = SlowlyFlushed()
        async with serving() as listener:
            listener.node.flushing.want(slow)
            listener.reschedule()
            ending = asyncio.ensure_future(listener.stop())
            for _ in range(100):  # far more rounds than a shutdown takes
                await asyncio.sleep(0)
            assert not ending.done()
            assert not slow.flushed_to
            slow.may_end.set()
            await ending
            assert slow.flushed_to == [7]

    run(story)
