"""A response future is completed once, for every request that waits."""

from __future__ import annotations

from typing import Any

from kafkadouble.server.coordinator.response_future import ResponseFuture
from kafkadouble.server.requests.waiting import Waiting


def test_every_waiting_request_gets_the_first_response() -> None:
    waiting, future = Waiting(), ResponseFuture[str]()
    results: list[Any] = []
    tasks = [waiting.start(future.wait(), results.append, results.append) for _ in range(3)]
    tasks[1].close()
    waiting.run(1_000_000)
    assert results == []
    future.complete("first")
    future.complete("second")
    waiting.run(1_000_000)
    assert results == ["first", "first"]
    waiting.start(future.wait(), results.append, results.append)
    assert results == ["first"] * 3, "a later request does not wait"


def test_response_future_may_be_created_completed() -> None:
    assert ResponseFuture("answer").response == "answer"
    assert repr(ResponseFuture("answer")) == "completed: 'answer'"
    assert repr(ResponseFuture()) == "open, 0 waiting"
