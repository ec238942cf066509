"""What a KafkaDouble does to requests, and what it remembers of them."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from kafkadouble import KafkaDouble, Match, Rule, UsageError
from kafkadouble.actions import Delay
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from tests.front.hello import HELLO, connect, frame, received, says_hello
from tests.support.client import ask


class TestRules:
    def test_a_rule_that_no_request_could_match_is_refused(self, kafka: KafkaDouble) -> None:
        for topic in ("a b", "", ".", "x" * 250):
            with pytest.raises(UsageError, match="no topic can have the name"):
                kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic=topic)
            with pytest.raises(UsageError, match="no topic can have the name"):
                kafka.delay("*", 1, topic=topic)
        assert kafka.rules == []

    def test_an_api_may_be_answered_with_every_error(self, kafka: KafkaDouble) -> None:
        kafka.fail("DescribeQuorum", "GROUP_ID_NOT_FOUND")
        request = DescribeQuorumRequest(topics=[])
        assert ask(("127.0.0.1", kafka.port), request, 0).error_code == 69

    def test_rule_handle_counts_hits_and_removes_its_rule(self, kafka: KafkaDouble) -> None:
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

    def test_disconnect_after_processing_drops_the_response(self, kafka: KafkaDouble) -> None:
        kafka.disconnect("ApiVersions", after=True)
        with connect(kafka) as sock:
            assert not says_hello(sock)
        assert [seen.outcome for seen in kafka.requests] == ["disconnected"]

    def test_delay_rule_holds_the_answer(self, kafka: KafkaDouble) -> None:
        handle = kafka.delay("ApiVersions", 0.05)
        with connect(kafka) as sock:
            assert says_hello(sock)
        (seen,) = kafka.requests
        assert handle.spent
        assert seen.took is not None
        assert seen.took >= 50

    def test_invalid_rule_is_refused_and_not_armed(self, kafka: KafkaDouble) -> None:
        wrong: tuple[Callable[[], object], ...] = (
            lambda: kafka.fail("Fech", 6),
            lambda: kafka.fail("Fetch", "NOT_A_LEADER"),
            lambda: kafka.fail("Fetch", 6, colour="red"),  # type: ignore[call-arg]
            lambda: kafka.delay("Fetch", -1),
            lambda: kafka.arm(Rule("explode", "Fetch")),  # type: ignore[arg-type]
            lambda: kafka.arm(Rule(Match("Fetch"), "fail")),  # type: ignore[arg-type]
            lambda: kafka.arm(Rule(Match("Fetch"), Delay(-1))),
            lambda: kafka.pause("Fetch", when="during"),
        )
        for arm in wrong:
            with pytest.raises(UsageError):
                arm()
        assert kafka._double_host.serving().broker.node.faults.rules == []

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
            at = reached.controller_bootstrap_servers
            answer = ask(at, DescribeQuorumRequest(), 2)
            assert (answer.error_code, handle.hits) == (6, 1)
            reached.reset()
            assert ask(at, DescribeQuorumRequest(), 2).error_code == 0

    def test_all_rules_are_cleared(self, kafka: KafkaDouble) -> None:
        handles = [kafka.fail("*", "UNKNOWN_SERVER_ERROR", times=None), kafka.disconnect("Fetch")]
        kafka.clear_rules()
        with connect(kafka) as sock:
            assert says_hello(sock)
        assert [handle.hits for handle in handles] == [0, 0]
        handles[0].remove()

    def test_requests_can_be_read_and_rules_armed_while_the_broker_is_down(self, kafka: KafkaDouble) -> None:
        with connect(kafka) as sock:
            assert says_hello(sock)
        kafka.down()
        unused = [kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER").rule, kafka.refuse_connections().rule]
        assert kafka.unused_rules == [handle.rule for handle in kafka.rules] == unused
        assert kafka.lint() == []
        assert [seen.api for seen in kafka.requests] == ["ApiVersions"]
        kafka.up()
        assert [handle.rule for handle in kafka.rules] == unused

    def test_the_armed_rules_are_listed(self, kafka: KafkaDouble) -> None:
        first, second = kafka.disconnect("ApiVersions"), kafka.pause("Fetch")
        assert [rule.rule for rule in kafka.rules] == [first.rule, second.rule]
        with connect(kafka) as sock:
            assert not says_hello(sock)
        assert [repr(rule) for rule in kafka.rules] == ["pause Fetch once: applied 0 times"]

    def test_rule_handle_waits_for_hits(self, kafka: KafkaDouble) -> None:
        handle = kafka.on("ApiVersions", lambda request: None, times=3, on_call=2)
        with connect(kafka) as sock, ThreadPoolExecutor(1) as pool:
            waits = pool.submit(handle.wait, 2)
            assert [says_hello(sock) for _ in range(3)] == [True] * 3
            waits.result(10)
        handle.wait(2)
        expected = r"call ApiVersions from the 2. on 3 times, applied 9 times: .* applied 2 times, 3 requests matched"
        with pytest.raises(TimeoutError, match=expected):
            handle.wait(9, timeout=0)

    @pytest.mark.parametrize("brokers", [1, 3])
    def test_a_pause_ends_when_it_is_released(self, brokers: int) -> None:
        with KafkaDouble(brokers=brokers, seed=1) as kafka, ThreadPoolExecutor(3) as pool:
            handle = kafka.pause("ApiVersions", times=None)
            address = kafka.bootstrap_servers.split(",")[-1]
            answers = [pool.submit(_hello, address) for _ in range(3)]
            handle.wait(3)
            assert not any(answer.done() for answer in answers)
            handle.release()
            assert [answer.result(10) for answer in answers] == [True] * 3
            assert kafka.rules == []

    def test_a_cleared_pause_ends(self, kafka: KafkaDouble) -> None:
        with ThreadPoolExecutor(1) as pool:
            handle = kafka.pause("ApiVersions", when="after")
            answer = pool.submit(_hello, kafka.bootstrap_servers)
            handle.wait()
            kafka.clear_rules()
            assert answer.result(10)

    @pytest.mark.parametrize("verb", ["ignore", "drop_answer"])
    def test_a_connection_without_an_answer_stays_open(self, kafka: KafkaDouble, verb: str) -> None:
        handle = getattr(kafka, verb)("ApiVersions")
        with connect(kafka) as sock, connect(kafka) as other:
            sock.sendall(HELLO + HELLO)
            handle.wait()
            assert says_hello(other)
            sock.setblocking(False)
            with pytest.raises(BlockingIOError):
                sock.recv(1)
        assert len(kafka.requests) == 2, "the second request is not read"

    def test_a_throttled_connection_is_muted(self) -> None:
        with KafkaDouble(stepped=True) as kafka:
            handle = kafka.throttle("ApiVersions", 5)
            with connect(kafka) as sock:
                assert says_hello(sock)
                sock.sendall(HELLO)
                kafka.advance(4.9)
                assert (handle.hits, len(kafka.requests)) == (1, 1)
                kafka.advance(0.1)
                assert frame(sock)[:6] == struct.pack(">ih", 7, 0)


class TestFrames:
    """The bytes on the wire of damaged answers."""

    @pytest.fixture
    def whole(self, kafka: KafkaDouble) -> bytes:
        with connect(kafka) as sock:
            sock.sendall(HELLO)
            return frame(sock)

    def test_wrong_correlation_id(self, kafka: KafkaDouble, whole: bytes) -> None:
        kafka.wrong_correlation_id("ApiVersions")
        with connect(kafka) as sock:
            sock.sendall(HELLO)
            assert frame(sock) == struct.pack(">i", 8) + whole[4:]
            assert says_hello(sock)

    @pytest.mark.parametrize("length", [0, 3, 4, 5, 20, 100_000])
    def test_cut_frame_ends_the_connection_inside_the_answer(
        self, kafka: KafkaDouble, whole: bytes, length: int
    ) -> None:
        kafka.cut_frame("ApiVersions", length)
        with connect(kafka) as sock:
            sock.sendall(HELLO)
            assert _until_closed(sock) == (struct.pack(">i", len(whole)) + whole)[:length]

    @pytest.mark.parametrize("length", [0, 4, 20])
    def test_short_frame_has_fewer_bytes_than_the_answer(self, kafka: KafkaDouble, whole: bytes, length: int) -> None:
        kafka.short_frame("ApiVersions", length)
        with connect(kafka) as sock:
            sock.sendall(HELLO)
            assert frame(sock) == whole[:length]
            assert says_hello(sock)

    @pytest.mark.parametrize("size", [10**6, 2**31 - 1, 2**40])
    def test_oversized_frame_announces_more_bytes_than_it_has(
        self, kafka: KafkaDouble, whole: bytes, size: int
    ) -> None:
        kafka.oversized_frame("ApiVersions", size)
        with connect(kafka) as sock:
            sock.sendall(HELLO)
            assert received(sock, 4) == struct.pack(">i", min(size, 2**31 - 1))
            assert received(sock, len(whole)) == whole

    @pytest.mark.parametrize("rate", [1, 100])
    def test_slow_frame_spreads_the_answer_over_time(self, rate: int) -> None:
        with KafkaDouble(stepped=True) as kafka:
            with connect(kafka) as sock:
                sock.sendall(HELLO)
                whole = frame(sock)
            handle = kafka.slow_frame("ApiVersions", rate)
            with connect(kafka) as sock:
                sock.sendall(HELLO + HELLO)
                handle.wait()
                size = len(whole) + 4
                kafka.advance(size / rate / 2)
                half = size // 2 - 10
                assert len(received(sock, half)) == half
                sock.setblocking(False)
                with suppress(BlockingIOError):
                    half += len(sock.recv(20))
                assert half <= size // 2 + 10
                kafka.advance(size / rate)
                sock.settimeout(10)
                assert len(received(sock, size - half)) == size - half
                assert frame(sock) == whole, "the next answer comes behind it"

    def test_slow_frame_at_a_very_high_rate_sends_the_response_at_once(self, kafka: KafkaDouble, whole: bytes) -> None:
        kafka.slow_frame("ApiVersions", 10**12)
        with connect(kafka) as sock:
            sock.sendall(HELLO)
            assert frame(sock) == whole

    def test_a_client_that_leaves_ends_a_slow_answer(self) -> None:
        with KafkaDouble(stepped=True) as kafka:
            handle = kafka.slow_frame("ApiVersions", 10)
            with connect(kafka) as sock:
                sock.sendall(HELLO)
                handle.wait()
            kafka.advance(600)
            with connect(kafka) as sock:
                assert says_hello(sock)


def _hello(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as sock:
        return says_hello(sock)


def _until_closed(sock: socket.socket) -> bytes:
    found = b""
    while data := sock.recv(1 << 16):
        found += data
    return found


class TestRequests:
    def test_rule_handle_lists_its_requests(self, kafka: KafkaDouble) -> None:
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
        assert re.fullmatch(
            r"2 requests, the last [\d:.]{12} ApiVersions v0 #7 of 'test' at broker 1, answered in \d+ ms",
            repr(requests),
        )
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
