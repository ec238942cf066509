"""Each rule finds its habit, and nothing in requests that are much like it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.lint import old_versions
from kafkadouble.lint.finding import MOST_SHOWN, LintContext
from kafkadouble.lint.rules import BY_NAME, RULES, lint
from kafkadouble.messages import headers
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.apis.served import ROW_OF
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.requests.request import Peer
from kafkadouble.wire.batch import Record, encode_batch
from tests.hostile.stage import Line
from tests.lint.habits import BAD, GOOD, Habit, busy_fetches, rules_with_a_habit
from tests.server.harness import NOW, Harness
from tests.support import listeners
from tests.support.seen import Session


@pytest.mark.parametrize("habit", BAD.values(), ids=BAD)
def test_lint_rule_finds_its_habit(habit: Habit) -> None:
    session = Session()
    habit.act(session)
    (found,) = lint(session.requests, habit.context)
    assert (found.rule, found.client_id, len(found.requests)) == (habit.rule, "app", habit.shown)
    assert habit.says in found.sentence
    assert found.remedy == BY_NAME[habit.rule].remedy
    assert lint(session.requests, habit.context, ignore=[habit.rule]) == []


@pytest.mark.parametrize(("act", "context"), GOOD.values(), ids=GOOD)
def test_lint_rule_ignores_normal_use(act: Callable[[Session], object], context: LintContext) -> None:
    session = Session()
    act(session)
    assert len(session.requests) > 0
    assert lint(session.requests, context) == []


def test_every_rule_has_a_habit() -> None:
    assert set(rules_with_a_habit()) == BY_NAME.keys()
    assert len(BY_NAME) == len(RULES)


def test_the_old_versions_are_served() -> None:
    """A version that is not served could not be seen; a current one would be a false finding."""
    for name, old in old_versions.OLD.items():
        lowest, highest = ROW_OF[name].api.stable_versions
        assert lowest < old.below <= highest


def test_lint_without_requests_has_no_finding() -> None:
    assert lint([], LintContext()) == []


def test_lint_finding_is_shown_as_text() -> None:
    session = Session()
    busy_fetches(session)
    (found,) = lint(session.requests, LintContext())
    lines = str(found).splitlines()
    assert lines[0] == "busy-fetch-loop: 'app' fetched 100 times in 99 ms without a record, waiting 1 ms"
    assert lines[1] == f"  {found.requests[0]!r}"
    assert lines[-2:] == [f"  and {100 - MOST_SHOWN} more", f"  {found.remedy}"]


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="no rule 'busy-fetch'; did you mean 'busy-fetch-loop'"):
        lint([], LintContext(), ignore="busy-fetch")


def test_a_request_during_a_throttling_that_mutes_the_connection() -> None:
    """The connection reads the request later; the trace says when it arrived."""
    harness = Harness()
    harness.create("t")
    assert harness.node.history is not None
    harness.node.history.clear()
    connection = Connection(harness.node, Peer(1, "a", 1, listeners.BROKER), Line(), 1 << 20)
    harness.node.faults.arm(Rule.of("throttle", api="Produce", seconds=1))
    data = [ProduceRequest.PartitionProduceData(index=0, records=bytes(encode_batch([Record(0, NOW, None, b"x")])))]
    body = ProduceRequest(acks=1, topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=data)])

    def send(now: int, count: int = 1) -> None:
        connection.receive(b"".join(b"".join(headers.write_request(body, 5, "app", 9)) for _ in range(count)), now)

    send(NOW)
    send(NOW + 300, count=2)
    harness.tick(1000)
    connection.pump(NOW + 1000)
    send(NOW + 1200)
    seen = list(harness.node.history)
    assert [each.arrived_throttled for each in seen] == [None, NOW + 300, NOW + 300, None]
    assert [each.time - NOW for each in seen] == [0, 1000, 1000, 1200]
    (found,) = lint(seen, LintContext())
    assert (found.rule, found.requests) == ("ignored-throttle", tuple(seen[:3]))
    assert found.sentence == "was throttled for 1000 ms, and sent Produce after 300 ms"


def test_a_throttled_connection_that_closes_leaves_nothing() -> None:
    session = Session()
    peer = Peer(1, "a", 1, listeners.BROKER)
    session.history.arrived_throttled(peer, 0, 1, NOW)
    session.history.disconnected(peer)
    assert session.history._early == {}


def test_a_double_lints_after_the_stop_too() -> None:
    with KafkaDouble(brokers=2) as kafka:
        assert kafka.lint() == []
    assert kafka.lint() == []
    with KafkaDouble(stepped=True) as kafka:
        assert kafka.lint(ignore="old-version") == []
