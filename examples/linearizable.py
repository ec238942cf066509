"""Checks that a history of operations is linearizable: each operation could have happened at one
moment between its call and its return.

The search is that of Wing and Gong (Testing and verifying concurrent objects, 1993) with Lowe's
memory of failed states. It takes an operation that can be next, compares its result, continues with
the rest, and goes back where no operation fits. Keys are independent, so each is checked alone. An
operation without a known end may have happened at any time after its call, or never.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

UNKNOWN = "unknown"
"""The result of an operation without a known end."""

Value = str | None
Action = tuple[str, ...]
"""("get",), ("put", new) or ("swap", old, new). The result of a swap is whether the key had the
value `old`."""


class Operation(NamedTuple):
    """An operation of one client and its result. `called` and `returned` are times of one clock,
    all different."""

    client: str
    key: str
    action: Action
    called: float
    returned: float = inf
    result: object = UNKNOWN

    def __str__(self) -> str:
        end = "unknown" if self.returned == inf else f"[{self.returned:g}] {self.result!r}"
        return f"{self.client}: [{self.called:g}] {self.action[0]}({', '.join((self.key, *self.action[1:]))}) -> {end}"


class Verdict(NamedTuple):
    """The result of a check. `order` is a legal order of all operations that returned. If there is
    none, it is the longest legal order that was found, and `stuck` are the operations that could
    not come next."""

    linearizable: bool
    order: list[Operation]
    stuck: list[Operation]


def step(state: Value, action: Action) -> tuple[object, Value]:
    """The result of an action on a key with the value `state`, and the new value."""
    kind, *values = action
    if kind == "get":
        return state, state
    if kind == "put":
        return True, values[0]
    return (True, values[1]) if state == values[0] else (False, state)


def check(history: Iterable[Operation]) -> Verdict:
    """Checks all keys. Returns the verdict on the first key without a legal order, or the orders of
    all keys, one after the other."""
    by_key: dict[str, list[Operation]] = {}
    for operation in history:
        by_key.setdefault(operation.key, []).append(operation)
    order: list[Operation] = []
    for key in sorted(by_key):
        verdict = check_key(by_key[key])
        if not verdict.linearizable:
            return verdict
        order += verdict.order
    return Verdict(True, order, [])


def check_key(history: list[Operation]) -> Verdict:
    """Checks the operations on one key, which is None at first."""
    operations = sorted((one for one in history if one.returned < inf or one.action[0] != "get"), key=_seen_first)
    returned = sum(one.returned < inf for one in operations)
    complete = (1 << returned) - 1
    path: list[tuple[int, list[tuple[int, Value]]]] = [(-1, _next(operations, returned, 0, None))]
    done, longest = 0, list[int]()
    seen: set[tuple[int, Value]] = {(0, None)}
    while path:
        if done & complete == complete:
            return Verdict(True, [operations[index] for index, _ in path[1:]], [])
        choices = path[-1][1]
        if not choices:
            index, _ = path.pop()
            done &= ~(1 << index) if index >= 0 else 0
            continue
        index, state = choices.pop()
        if (done | 1 << index, state) not in seen:
            done |= 1 << index
            seen.add((done, state))
            path.append((index, _next(operations, returned, done, state)))
            if len(path) > len(longest) + 1:
                longest = [index for index, _ in path[1:]]
    left = [one for index, one in enumerate(operations[:returned]) if index not in longest]
    first = min(one.returned for one in left)
    return Verdict(False, [operations[index] for index in longest], [one for one in left if one.called < first])


def _seen_first(one: Operation) -> tuple[bool, float]:
    """The sort key: operations that returned, by their call; then operations without a known
    end."""
    return one.returned == inf, one.called


def _next(operations: list[Operation], returned: int, done: int, state: Value) -> list[tuple[int, Value]]:
    """The operations that can come next, each with the state after it; the best candidate is last.

    The first `returned` operations have an end. An operation without an end is useful only if it
    changes the state.
    """
    ended, deadline = [], inf
    for index in range((~done & (done + 1)).bit_length() - 1, returned):
        one = operations[index]
        if one.called > deadline:
            break
        if not done >> index & 1:
            deadline = min(deadline, one.returned)
            result, after = step(state, one.action)
            if result == one.result:
                ended.append((index, after))
    fitting = [each for each in ended if operations[each[0]].called < deadline]
    fitting.sort(key=lambda each: -operations[each[0]].returned)
    lost = [index for index in range(returned, len(operations)) if not done >> index & 1]
    changing = [
        (index, step(state, operations[index].action)[1]) for index in lost if operations[index].called < deadline
    ]
    return [each for each in changing if each[1] != state] + fitting
