"""How a test may end, with every fixture, scope and isolation of the plugin: good tests are green,
bad ones red, and the next test finds nothing of them. The suites are generated."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, product
from textwrap import dedent

import pytest

from tests.front import plugin_suites

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("broker_imported")

ARGUMENTS = (*plugin_suites.ARGUMENTS, "-q", "-rA", "--tb=no")
INI = """
[pytest]
kafkadouble_strict_rules = true
kafkadouble_security = SASL_PLAINTEXT
kafkadouble_users = alice:secret
kafkadouble_acls = User:alice allow READ topic:orders
"""

GOOD = {
    "nothing": "",
    "down": "kafka.down()",
    "down_and_up": "kafka.down(); kafka.up()",
    "stopped": "kafka.stop()",
    "reset": "kafka.reset()",
    "rule_armed": "kafka.fail('*', 'UNKNOWN_SERVER_ERROR', times=None); hello(kafka)",
    "rule_armed_then_down": "kafka.fail('*', 'UNKNOWN_SERVER_ERROR', times=None); hello(kafka); kafka.down()",
    "rule_spent": "kafka.fail('ApiVersions', 'UNKNOWN_SERVER_ERROR'); hello(kafka)",
    "dialogue_at_its_end": "kafka.fail('ApiVersions', [35, None]); hello(kafka)",
    "errors_expected": "handle = kafka.on('ApiVersions', raises); hello(kafka); handle.errors.clear()",
    "connections_shaped": "kafka.latency(0.001, times=None); hello(kafka)",
    "frozen": "kafka.freeze()",
    "frozen_and_stepped": "kafka.freeze(); kafka.advance(7)",
    "scaled": "kafka.scale(2)",
    "quota_set": "kafka.set_quota(user='alice', producer_byte_rate=1)",
    "snapshot_named": "kafka.snapshot('one')",
    "snapshot_restored": "kafka.restore(kafka.snapshot())",
    "config_altered": "alter_broker(kafka, 'log.retention.ms', '1000')",
    "user_set": "kafka.set_user('bob', 'secret')",
    "user_changed_then_down": "kafka.set_user('alice', 'other'); kafka.down()",
    "user_removed": "kafka.remove_user('alice')",
    "acl_created": "kafka.create_acls(['User:bob allow READ topic:orders'])",
    "acls_deleted": "kafka.delete_acls(kafka.acls)",
}
BAD = {
    "assertion": "assert False",
    "assertion_then_left_down": "kafka.down(); assert False",
    "rule_unused": "kafka.fail('Produce', 'UNKNOWN_SERVER_ERROR')",
    "rule_unused_then_down": "kafka.fail('Produce', 'UNKNOWN_SERVER_ERROR'); kafka.down()",
    "rule_unused_then_stopped": "kafka.fail('Produce', 'UNKNOWN_SERVER_ERROR'); kafka.stop()",
    "dialogue_unfinished": "kafka.fail('ApiVersions', [35, 41]); hello(kafka)",
    "callback_raised": "kafka.on('ApiVersions', raises); hello(kafka)",
    "callback_failed": "kafka.on('ApiVersions', lambda request: pytest.fail('seen')); hello(kafka)",
    "callback_returned_nonsense": "kafka.on('ApiVersions', lambda request: {'errorCod': 1}); hello(kafka)",
    "predicate_raised": "kafka.fail('ApiVersions', 'UNKNOWN_SERVER_ERROR', predicate=raises); hello(kafka)",
    "callback_raised_then_down": "kafka.on('ApiVersions', raises); hello(kafka); kafka.down()",
    "callback_raised_then_stopped": "kafka.on('ApiVersions', raises); hello(kafka); kafka.stop()",
    "callback_raised_then_reset": "kafka.on('ApiVersions', raises); hello(kafka); kafka.reset()",
}
OF_CLUSTERS = {
    "killed": "kafka.brokers[1].kill()",
    "all_killed": "[broker.kill() for broker in kafka.brokers.values()]",
    "partly_down": "kafka.down(2)",
    "paused": "kafka.brokers[3].pause()",
    "isolated_and_killed": "kafka.brokers[3].isolate(); kafka.brokers[2].kill()",
    "frozen_and_killed": "kafka.freeze(); kafka.brokers[1].kill()",
}
ALL = {**GOOD, **BAD, **OF_CLUSTERS}
CLUSTER = "--kafkadouble-brokers=3"
SOME = ("down", "stopped", "rule_armed", "quota_set", "config_altered", "rule_unused_then_down", "callback_raised")

SUPPORT = """
    import socket
    from itertools import count
    import pytest
    from kafkadouble.brokers import broker_settings

    numbers = count()

    def raises(request):
        raise AssertionError("seen")

    def hello(kafka):
        with socket.create_connection(("127.0.0.1", kafka.port)) as sock:
            sock.sendall(bytes.fromhex("0000000a 0012 0000 00000007 0000"))
            sock.recv(100)

    def alter_broker(kafka, name, value):
        node = kafka._double_host.serving().broker.members[0].node.id
        broker_settings.check_results(kafka._double_host.ask(broker_settings.to_set(node, {name: value})))

    def looks_as_new(kafka):
        broker = kafka._double_host.serving().broker
        image = broker.node.controller.image
        assert kafka.rules == [] and kafka.snapshots == {}
        assert not kafka._double_host.clock.is_changed
        assert [at for at in image.configs if at[0] == 4 and at[1]] == []
        assert not image.quotas
        assert kafka.acls == ["User:alice allow READ topic:orders"]
        assert kafka._double_host.security.users == {"alice": "secret"}
        assert {user for user, _ in image.scram} == {"alice"}
        assert "paused" not in repr(kafka) and "isolated" not in repr(kafka) and "running" in repr(kafka) + "running"
        topic = f"topic-{next(numbers)}"
        kafka.create_topic(topic)
        kafka.produce(topic, "x")
        hello(kafka)

    def fixture(scope):
        @pytest.fixture(scope=scope)
        def of_scope(kafka_double_factory):
            with kafka_double_factory() as kafka:
                yield kafka
        return of_scope

    of_function, of_class, of_module = fixture("function"), fixture("class"), fixture("module")
    of_package, of_session = fixture("package"), fixture("session")

    @pytest.fixture(scope="module")
    def never_closed(kafka_double_factory):
        return kafka_double_factory()

    class TestEnds:
"""
TEST = """
    def test_{fixture}_{end}_1(self, {fixture}):
        kafka = {fixture}
        {code}

    def test_{fixture}_{end}_2(self, {fixture}):
        assert "{fixture}" != "kafka_double" or len({fixture}.requests) == 0
        looks_as_new({fixture})
"""
SCOPES = ("of_function", "of_class", "of_module", "of_package", "of_session", "never_closed", "kafka_double_session")
OUTCOMES = ("PASSED ", "FAILED ", "ERROR test_")


def check(pytester: pytest.Pytester, pairs: Sequence[tuple[str, str]], *arguments: str) -> None:
    """Runs a suite in which each test that ends in some way is followed by one that looks."""
    pytester.makeini(INI)
    tests = [TEST.format(fixture=name, end=end, code=ALL[end] or "pass") for name, end in pairs]
    (pytester.path / "test_ends.py").write_text(dedent(SUPPORT) + "".join(tests))
    run = pytester.runpytest_subprocess if CLUSTER in arguments else pytester.runpytest_inprocess
    lines = run(*ARGUMENTS, *arguments).stdout.lines
    found = {line.split()[1].split("::")[-1]: line.split()[0] for line in lines if line.startswith(OUTCOMES)}
    first = {f"test_{name}_{end}_1": "FAILED" if end in BAD else "PASSED" for name, end in pairs}
    assert found == first | {f"test_{name}_{end}_2": "PASSED" for name, end in pairs}


@pytest.mark.parametrize("isolation", ["fresh", "reset", "namespace", "none"])
def test_every_end_of_a_test_with_a_broker_of_every_isolation(pytester: pytest.Pytester, isolation: str) -> None:
    check(pytester, [("kafka_double", end) for end in (*GOOD, *BAD)], f"--kafkadouble-isolation={isolation}")


def test_every_end_of_a_test_with_a_broker_of_every_scope(pytester: pytest.Pytester) -> None:
    """Some ends with all scopes, and each other end with one of them."""
    others = zip(cycle(SCOPES), (end for end in (*GOOD, *BAD) if end not in SOME))
    check(pytester, [*product(SCOPES, SOME), *others])


@pytest.mark.parametrize("isolation", ["fresh", "reset", "namespace"])
def test_every_end_of_a_test_with_a_cluster_of_every_isolation(pytester: pytest.Pytester, isolation: str) -> None:
    fixtures = ("kafka_double", "of_module") if isolation == "fresh" else ("kafka_double",)
    pairs = list(product(fixtures, (*OF_CLUSTERS, *SOME)))
    check(pytester, pairs, f"--kafkadouble-isolation={isolation}", CLUSTER)


def test_state_of_a_fixture_of_wider_scope_stays_for_all_its_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module")
        def slow(kafka_double_factory):
            with kafka_double_factory() as kafka:
                kafka.delay("Produce", 1, times=None)
                kafka.set_quota(user="alice", producer_byte_rate=1000)
                kafka.snapshot("empty")
                kafka.scale(2)
                yield kafka

        @pytest.mark.parametrize("number", range(2))
        def test_slow(slow, number):
            assert [repr(rule.rule) for rule in slow.rules] == ["delay Produce by 1 s every time"]
            assert list(slow.snapshots) == ["empty"]
            assert slow._double_host.clock.factor == 2
            image = slow._double_host.serving().broker.image
            assert [dict(quotas) for quotas in image.quotas.values()] == [{"producer_byte_rate": 1000}]
            slow.clear_rules() if number else slow.fail("Fetch", "UNKNOWN_SERVER_ERROR").remove()
            slow.remove_quota(user="alice")
            slow.drop_snapshot("empty")
            slow.scale(3)
        """
    )
    result = pytester.runpytest_inprocess(*ARGUMENTS, "-W", "default")
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(["*no request matched 1 fault rule: fail Fetch with*"])


def test_an_error_of_a_function_is_that_of_the_test_and_names_the_rule(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import socket
        import pytest

        @pytest.fixture
        def asks(kafka_double):
            yield
            hello(kafka_double)

        def hello(kafka):
            with socket.create_connection(("127.0.0.1", kafka.port)) as sock:
                sock.sendall(bytes.fromhex("0000000a 0012 0000 00000007 0000"))
                sock.recv(100)

        def look(request):
            assert request.version == 3, "not the version of this test"

        def test_looks(kafka_double):
            kafka_double.on("ApiVersions", look)
            hello(kafka_double)

        def test_fails_otherwise(kafka_double):
            kafka_double.on("ApiVersions", look)
            hello(kafka_double)
            assert "this is the failure" == ""

        def test_at_the_end(asks, kafka_double):
            kafka_double.on("ApiVersions", look)
        """
    )
    result = pytester.runpytest_inprocess(*ARGUMENTS[:-1], "-W", "default")
    result.stdout.fnmatch_lines(
        ["*assert request.version == 3*", "*not the version of this test*", "*call ApiVersions*"]
    )
    result.stdout.fnmatch_lines(["*this is the failure*", "*functions of fault rules that raised (kafka_double)*"])
    result.stdout.fnmatch_lines_random(["FAILED*test_looks*", "FAILED*test_fails_otherwise*", "ERROR*test_at_the_end*"])
    result.assert_outcomes(passed=1, failed=2, errors=1, warnings=1)
