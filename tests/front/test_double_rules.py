"""What a KafkaDouble does to requests, and what it remembers of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kafkadouble import KafkaDouble, Rule, UsageError
from tests.front.hello import connect, says_hello


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(seed=1) as kafka:
        yield kafka


class TestRules:
    def test_a_handle_counts_and_removes(self, kafka: KafkaDouble) -> None:
        handle = kafka.fail("ApiVersions", "UNKNOWN_SERVER_ERROR", times=None, client_id="test")
        with connect(kafka) as sock:
            assert [says_hello(sock) for _ in range(3)] == [False] * 3
            assert (handle.hits, handle.spent) == (3, False)
            handle.remove()
            handle.remove()
            assert says_hello(sock)
        assert repr(handle) == "fail ApiVersions with UNKNOWN_SERVER_ERROR client_id 'test' every time: applied 3 times"

    def test_a_rule_for_the_length_of_a_block(self, kafka: KafkaDouble) -> None:
        with kafka.disconnect("ApiVersions", times=None) as handle, connect(kafka) as sock:
            assert not says_hello(sock)
        assert handle.hits == 1
        with connect(kafka) as sock:
            assert says_hello(sock)

    def test_process_then_drop(self, kafka: KafkaDouble) -> None:
        kafka.disconnect("ApiVersions", after=True)
        with connect(kafka) as sock:
            assert not says_hello(sock)
        assert [seen.outcome for seen in kafka.requests] == ["disconnected"]

    def test_delay(self, kafka: KafkaDouble) -> None:
        handle = kafka.delay("ApiVersions", 0.05)
        with connect(kafka) as sock:
            assert says_hello(sock)
        (seen,) = kafka.requests
        assert handle.spent
        assert seen.took is not None
        assert seen.took >= 50

    def test_a_rule_as_a_value(self, kafka: KafkaDouble) -> None:
        rule = Rule.from_dict({"action": "disconnect", "api": "*"})
        assert kafka.arm(rule).rule == rule

    def test_wrong_rules(self, kafka: KafkaDouble) -> None:
        wrong: tuple[Callable[[], object], ...] = (
            lambda: kafka.fail("Fech", 6),
            lambda: kafka.fail("Fetch", "NOT_A_LEADER"),
            lambda: kafka.fail("Fetch", 6, colour="red"),
            lambda: kafka.delay("Fetch", -1),
            lambda: kafka.arm(Rule("explode", "Fetch")),
        )
        for arm in wrong:
            with pytest.raises(UsageError):
                arm()
        assert kafka._serving().broker.node.faults.rules == []


class TestRequests:
    def test_what_was_asked(self, kafka: KafkaDouble) -> None:
        with connect(kafka) as sock:
            assert says_hello(sock)
            assert says_hello(sock)
        requests = kafka.requests
        assert [(seen.api, seen.version, seen.client_id, seen.correlation_id) for seen in requests] == [
            ("ApiVersions", 0, "test", 7)
        ] * 2
        assert (len(requests.of("ApiVersions")), len(requests.of("Fetch")), len(requests.of(client_id="x"))) == (
            2,
            0,
            0,
        )
        assert requests[0].body == requests[-1].body
        assert repr(requests) == "2 requests, the last ApiVersions v0 #7 of 'test', answered"
        with pytest.raises(UsageError, match="did you mean 'Produce'"):
            requests.of("Prodcue")
        requests.clear()
        assert (list(requests), repr(requests)) == ([], "0 requests")

    def test_seeding_is_not_a_clients_request(self, kafka: KafkaDouble) -> None:
        kafka.fail("*", "UNKNOWN_SERVER_ERROR", times=None)
        kafka.create_topic("t")
        kafka.produce("t", "x")
        assert kafka.groups() == {}
        assert len(kafka.requests) == 0
