"""The checker: histories with a known verdict, and small random histories compared with a search of
all orders."""

from __future__ import annotations

import itertools
import random
from math import inf

import pytest

from examples.linearizable import UNKNOWN, Action, Operation, Value, check, check_key, step


def op(called: float, returned: float, *action: str, gave: object = True, key: str = "k") -> Operation:
    return Operation("c", key, action, called, returned, gave)


LEGAL = {
    "nothing": [],
    "one after the other": [op(1, 2, "put", "a"), op(3, 4, "get", gave="a")],
    "a read beside a write sees the old": [op(1, 4, "put", "a"), op(2, 3, "get", gave=None)],
    "a read beside a write sees the new": [op(1, 4, "put", "a"), op(2, 3, "get", gave="a")],
    "two writes beside one another in either order": [
        op(1, 4, "put", "a"),
        op(2, 3, "put", "b"),
        op(5, 6, "get", gave="a"),
    ],
    "an unacknowledged write happened": [op(1, inf, "put", "a", gave=UNKNOWN), op(2, 3, "get", gave="a")],
    "an unacknowledged write did not happen": [op(1, inf, "put", "a", gave=UNKNOWN), op(2, 3, "get", gave=None)],
    "it happened late": [
        op(1, inf, "put", "a", gave=UNKNOWN),
        op(2, 3, "put", "b"),
        op(4, 5, "get", gave="b"),
        op(6, 7, "get", gave="a"),
    ],
    "one of two swaps": [
        op(1, 2, "put", "a"),
        op(3, 6, "swap", "a", "b"),
        op(4, 5, "swap", "a", "c", gave=False),
        op(7, 8, "get", gave="b"),
    ],
    "keys have nothing to do with one another": [op(1, 2, "put", "a"), op(3, 4, "get", gave=None, key="l")],
}
ILLEGAL = {
    "a read of a value that was never written": [op(1, 2, "get", gave="a")],
    "a stale read": [op(1, 2, "put", "a"), op(3, 4, "put", "b"), op(5, 6, "get", gave="a")],
    "a lost write": [op(1, 2, "put", "a"), op(3, 4, "get", gave=None)],
    "two reads that see a write and then do not": [
        op(1, 10, "put", "a"),
        op(2, 3, "get", gave="a"),
        op(4, 5, "get", gave=None),
    ],
    "both of two swaps": [op(1, 2, "put", "a"), op(3, 6, "swap", "a", "b"), op(4, 5, "swap", "a", "c")],
    "an unacknowledged write happened twice": [
        op(1, inf, "put", "a", gave=UNKNOWN),
        op(2, 3, "get", gave="a"),
        op(4, 5, "put", "b"),
        op(6, 7, "get", gave="a"),
    ],
    "it happened before it was asked for": [op(1, 2, "get", gave="a"), op(3, inf, "put", "a", gave=UNKNOWN)],
    "one key of two": [op(1, 2, "put", "a"), op(3, 4, "get", gave="a"), op(5, 6, "get", gave="z", key="l")],
}


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_history(name: str) -> None:
    verdict = check(LEGAL[name])
    assert verdict.linearizable
    assert verdict.stuck == []


@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_history(name: str) -> None:
    verdict = check(ILLEGAL[name])
    assert not verdict.linearizable
    assert verdict.stuck


def test_illegal_history_reports_its_stuck_operations() -> None:
    verdict = check(ILLEGAL["a stale read"])
    assert [str(one) for one in verdict.order] == ["c: [1] put(k, a) -> [2] True", "c: [3] put(k, b) -> [4] True"]
    assert [str(one) for one in verdict.stuck] == ["c: [5] get(k) -> [6] 'a'"]


def legal_by_trial(history: list[Operation]) -> bool:
    """Whether any order is legal: tries every order, with every subset of the operations that may
    not have happened."""
    sure = [one for one in history if one.returned < inf]
    unsure = [one for one in history if one.returned == inf]
    for count in range(len(unsure) + 1):
        for chosen in itertools.combinations(unsure, count):
            if any(is_legal(order) for order in itertools.permutations([*sure, *chosen])):
                return True
    return False


def is_legal(order: tuple[Operation, ...]) -> bool:
    state: Value = None
    for index, one in enumerate(order):
        if any(later.returned < one.called for later in order[index:]):
            return False
        result, state = step(state, one.action)
        if one.result not in (UNKNOWN, result):
            return False
    return True


def some_history(choose: random.Random) -> list[Operation]:
    count = choose.randint(1, 6)
    moments = choose.sample(range(100), 2 * count)
    history = []
    for index in range(count):
        called, returned = sorted(moments[2 * index : 2 * index + 2])
        actions: list[Action] = [
            ("get",),
            ("put", choose.choice("ab")),
            ("swap", choose.choice("ab"), choose.choice("ab")),
        ]
        action = choose.choice(actions)
        result = choose.choice((None, "a", "b")) if action[0] == "get" else action[0] == "put" or choose.random() < 0.5
        lost = choose.random() < 0.2
        history.append(Operation("c", "k", action, called, inf if lost else returned, UNKNOWN if lost else result))
    return history


def test_small_histories_as_by_trying_every_order() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    choose = random.Random(seed)
    verdicts = []
    for _ in range(1500):
        history = some_history(choose)
        verdict = check_key(history)
        assert verdict.linearizable == legal_by_trial(history), "\n".join(map(str, history))
        assert is_legal(tuple(verdict.order))
        verdicts.append(verdict.linearizable)
    assert 300 < sum(verdicts) < 1200


def test_a_long_history_of_a_real_register_is_judged_at_once() -> None:
    """Eight clients at once, 800 operations, some of them lost: the search stays short, because it
    remembers dead ends."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    choose, state, history = random.Random(seed), None, []
    for turn in range(100):
        order = list(range(8))
        choose.shuffle(order)
        for place, client in enumerate(order):
            action: Action = ("put", f"{turn}-{client}") if choose.random() < 0.5 else ("get",)
            result, state = step(state, action)
            lost = choose.random() < 0.005
            end = inf if lost else 100 * turn + 50 + place
            history.append(Operation(str(client), "k", action, 100 * turn + client, end, UNKNOWN if lost else result))
    assert check(history).linearizable
    reads = [index for index, one in enumerate(history) if one.action == ("get",) and one.returned < inf]
    spoilt = choose.choice(reads)
    history[spoilt] = history[spoilt]._replace(result="never written")
    assert not check(history).linearizable
