"""A promise is kept once, to everybody who waits."""

from __future__ import annotations

from typing import Any

from kafkadouble.server.coordinator.promise import Promise
from kafkadouble.server.requests.waiting import Waiting


def test_everybody_who_waits_gets_the_first_answer() -> None:
    waiting, promise = Waiting(), Promise[str]()
    results: list[Any] = []
    tasks = [waiting.start(promise.wait(), results.append, results.append) for _ in range(3)]
    tasks[1].close()
    waiting.run(1_000_000)
    assert results == []
    promise.keep("first")
    promise.keep("second")
    waiting.run(1_000_000)
    assert results == ["first", "first"]
    waiting.start(promise.wait(), results.append, results.append)
    assert results == ["first"] * 3, "who comes later need not wait"


def test_a_promise_may_be_kept_from_the_beginning() -> None:
    assert Promise("answer").answer == "answer"
    assert repr(Promise("answer")) == "kept: 'answer'"
    assert repr(Promise()) == "open, 0 waiting"
