"""What is named again: answered while that takes few bytes."""

from __future__ import annotations

import pytest

from kafkadouble.messages.generated.consumer_group_describe import ConsumerGroupDescribeResponse
from kafkadouble.messages.size import size_of
from kafkadouble.server.requests import repeats
from kafkadouble.server.requests.repeats import Repeats


def test_the_first_time_is_free_and_later_ones_are_answered_while_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeats, "MOST_BYTES", 1000)
    named, long = Repeats[str](), "x" * 398
    assert named.answer("a", lambda: "x" * 10**6) == "x" * 10**6
    assert named.answer("b", lambda: long) is long
    assert [named.answer("b", lambda: "another") for _ in range(3)] == [long, long, None]
    assert named.answer("c", lambda: long) is long, "for the first time"
    assert named.answer("d", lambda: "short") == "short"
    assert named.answer("d", lambda: "short") == "short"
    assert named.answer("a", lambda: "short") is None


def test_every_request_starts_its_own_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST_BYTES", 2)
    for _ in range(2):
        named = Repeats[str]()
        assert [named.answer("a", lambda: "") for _ in range(3)] == ["", "", None]


@pytest.mark.parametrize("names", [[], ["t"], ["t" * 1000] * 50, ["ä" * 100] * 3])
def test_the_size_of_a_value_is_near_what_it_takes(names: list[str]) -> None:
    member = ConsumerGroupDescribeResponse.Member(member_id="m", subscribed_topic_names=names)
    group = ConsumerGroupDescribeResponse.DescribedGroup(group_id="g", members=[member])
    written = len(ConsumerGroupDescribeResponse(groups=[group]).encode(1))
    assert written / 2 < size_of(group) + 50 < 4 * (written + 50)
