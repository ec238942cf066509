"""Calls the persister for several share partitions, and waits for all results (KIP-932)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ...coordinator.response_future import ResponseFuture
from ...requests.slices import in_one_step
from ...requests.waiting import OTHERS_FIRST, Slices, Wait

if TYPE_CHECKING:
    from ...share.persister import SharePartitionKey

R = TypeVar("R")


class StateError(NamedTuple):
    """The error code of one share partition, 0 for none, and the persister's message."""

    code: int
    message: str | None


def call_for_each(
    calls: Iterable[tuple[SharePartitionKey, Callable[[Callable[..., None]], None]]], result_of: Callable[..., R]
) -> ResponseFuture[dict[SharePartitionKey, R]]:
    """Makes the calls; each gets the function that takes its result. The future has all results,
    each made by `result_of` from what the persister returned."""
    return in_one_step(called_for_each(calls, result_of))


def called_for_each(
    calls: Iterable[tuple[SharePartitionKey, Callable[[Callable[..., None]], None]]], result_of: Callable[..., R]
) -> Wait[ResponseFuture[dict[SharePartitionKey, R]]]:
    """Makes the calls in slices."""
    results: dict[SharePartitionKey, R] = {}
    future: ResponseFuture[dict[SharePartitionKey, R]] = ResponseFuture()
    all_calls = list(calls)

    def take(key: SharePartitionKey, *result: Any) -> None:
        results[key] = result_of(*result)
        if len(results) == len(all_calls):
            future.complete(results)

    slices = Slices()
    for key, call in all_calls:
        call(lambda *result, key=key: take(key, *result))
        if slices.end():
            yield OTHERS_FIRST
    if not all_calls:
        future.complete(results)
    return future
