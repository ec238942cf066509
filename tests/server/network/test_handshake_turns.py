"""When TLS handshakes begin, and which are given up."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from kafkadouble.server.network import handshake_turns
from kafkadouble.server.network.handshake_turns import AT_ONCE, HandshakeTurns


class Handshakes:
    """Handshakes that never end by themselves."""

    def __init__(self) -> None:
        self.turns, self.begun, self.failed = HandshakeTurns(), list[int](), dict[int, str]()
        self.tasks: list[asyncio.Task[None]] = []

    def add(self, count: int) -> None:
        for _ in range(count):
            self.tasks.append(asyncio.create_task(self._shake(len(self.tasks))))

    async def _shake(self, number: int) -> None:
        task = self.tasks[number]
        try:
            async with self.turns.one(task):
                self.begun.append(number)
                await asyncio.Event().wait()
        except OSError as problem:
            self.failed[number] = str(problem)

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def rounds(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_a_round_begins_a_few_in_their_order() -> None:
    async def test() -> None:
        made = Handshakes()
        made.add(3 * AT_ONCE)
        counts = []
        for _ in range(8):
            await rounds(1)
            counts.append(len(made.begun))
        assert made.begun == [*range(3 * AT_ONCE)]
        assert all(after - before <= AT_ONCE for before, after in pairwise(counts))
        await made.end()

    asyncio.run(test())


def test_oldest_tls_handshake_is_closed_for_a_waiting_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake_turns, "MOST", 3)
    monkeypatch.setattr(handshake_turns, "GRACE_S", 0)

    async def test() -> None:
        made = Handshakes()
        made.add(3)
        await rounds(5)
        made.add(1)
        await rounds(5)
        assert made.begun == [0, 1, 2, 3]
        assert list(made.failed) == [0]
        assert "has not gone on" in made.failed[0]
        await made.end()
        assert list(made.failed) == [0]

    asyncio.run(test())


def test_new_tls_handshake_keeps_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake_turns, "MOST", 3)
    monkeypatch.setattr(handshake_turns, "GRACE_S", 1000)

    async def test() -> None:
        made = Handshakes()
        made.add(4)
        await rounds(10)
        assert made.begun == [0, 1, 2]
        assert made.failed == {}
        await made.end()

    asyncio.run(test())


def test_ended_tls_handshake_frees_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake_turns, "MOST", 3)
    monkeypatch.setattr(handshake_turns, "GRACE_S", 1000)

    async def test() -> None:
        made = Handshakes()
        made.add(4)
        await rounds(10)
        made.tasks[1].cancel()
        await rounds(10)
        assert made.begun == [0, 1, 2, 3]
        await made.end()

    asyncio.run(test())
