"""What is named again: answered while that stays little."""

import pytest

from kafkadouble.server.requests import repeats
from kafkadouble.server.requests.repeats import Repeats


def test_the_first_time_is_free_and_later_ones_are_answered_while_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeats, "MOST", 5)
    named = Repeats()
    assert named.may("a", 1000)
    assert named.may("a", 3)
    assert named.may("b", 1000)
    assert named.may("b", 2)
    assert not named.may("a")
    assert named.may("c")
    assert not named.may("c")


def test_every_request_starts_its_own_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST", 1)
    for _ in range(2):
        named = Repeats()
        assert [named.may("a"), named.may("a"), named.may("a")] == [True, True, False]
