"""What a KafkaDouble does to requests, and what it remembers of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble, Rule, UsageError
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from tests.front.client import ask
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
            lambda: kafka.fail("Fetch", 6, colour="red"),  # type: ignore[call-arg]
            lambda: kafka.delay("Fetch", -1),
            lambda: kafka.arm(Rule("explode", "Fetch")),
        )
        for arm in wrong:
            with pytest.raises(UsageError):
                arm()
        assert kafka._serving().broker.node.faults.rules == []

    def test_a_keyword_that_is_nearly_right(self, kafka: KafkaDouble) -> None:
        with pytest.raises(UsageError, match="no field 'topci'; did you mean 'topic'"):
            kafka.fail("Fetch", 6, topci="x")  # type: ignore[call-arg]
        with pytest.raises(UsageError, match="a rule is a Rule, not 'Fetch'"):
            kafka.arm("Fetch")  # type: ignore[arg-type]

    @pytest.mark.parametrize("brokers", [1, 3])
    def test_an_api_that_no_listener_here_serves(self, brokers: int) -> None:
        with (
            KafkaDouble(brokers=brokers) as alone,
            pytest.raises(UsageError, match=r"Vote is served to controllers only.*give controller_port=0"),
        ):
            alone.fail("Vote", 6)
        with KafkaDouble(brokers=brokers, controller_port=0) as reached:
            handle = reached.fail("DescribeQuorum", 6, times=None)
            reached.fail("Vote", 6, peers=True)
            host, port = reached.controller_bootstrap_servers.split(":")
            answer = ask((host, int(port)), DescribeQuorumRequest(), 2)
            assert (answer.error_code, handle.hits) == (6, 1)
            reached.reset()
            assert ask((host, int(port)), DescribeQuorumRequest(), 2).error_code == 0

    def test_all_rules_are_cleared(self, kafka: KafkaDouble) -> None:
        handles = [kafka.fail("*", "UNKNOWN_SERVER_ERROR", times=None), kafka.disconnect("Fetch")]
        kafka.clear_rules()
        with connect(kafka) as sock:
            assert says_hello(sock)
        assert [handle.hits for handle in handles] == [0, 0]
        handles[0].remove()

    @pytest.mark.parametrize(
        "fields",
        [{"action": "explode"}, {"action": "delay", "seconds": "long"}, {"action": "fail", "error": 6, "on_call": "2"}],
    )
    def test_a_rule_that_cannot_be_shows_what_is_in_it(self, fields: dict[str, Any]) -> None:
        rule = Rule(**fields, api="Fetch")
        assert all(repr(value) in repr(rule) for value in rule.to_dict().values())


class TestRequests:
    def test_which_requests_it_got(self, kafka: KafkaDouble) -> None:
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
