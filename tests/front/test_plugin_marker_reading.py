"""Which markers give a test its arguments, and markers that nothing reads, by running suites."""

from __future__ import annotations

import pytest

from tests.front.plugin_suites import run

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("broker_imported")


def test_settings_of_class_and_function_are_merged(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.kafka_double(config={"num.partitions": 2, "message.max.bytes": 5000})

        @pytest.mark.kafka_double(config={"num.partitions": 3, "auto.create.topics.enable": True})
        class TestMarked:
            @pytest.mark.kafka_double(config={"num.partitions": 4})
            def test_both(self, kafka_double):
                kafka_double.produce("orders", "two pears")
                assert len(kafka_double.end_offsets("orders")) == 4
                settings = kafka_double._double_host.settings
                assert settings.int("message.max.bytes") == 5000
                assert "auto.create.topics.enable" in settings.given

            def test_of_the_class(self, kafka_double):
                kafka_double.produce("orders", "two pears")
                assert len(kafka_double.end_offsets("orders")) == 3
        """
    )
    run(pytester, passed=2)


def test_parameter_of_the_fixture_gives_its_arguments(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kafka_double(stepped=True, config={"num.partitions": 2, "message.max.bytes": 5000})
        @pytest.mark.parametrize("kafka_double", [{}, {"config": {"num.partitions": 3}}], indirect=True)
        def test_indirect(kafka_double, request):
            kafka_double.advance(1)
            kafka_double.produce("orders", "two pears")
            given = request.node.callspec.params["kafka_double"]
            assert len(kafka_double.end_offsets("orders")) == (3 if given else 2)
            assert kafka_double._double_host.settings.int("message.max.bytes") == 5000

        @pytest.mark.parametrize("kafka_double", ["one"], indirect=True)
        def test_wrong(kafka_double):
            pass
        """
    )
    run(pytester, passed=2, errors=1).stdout.fnmatch_lines(
        "*kafka_double is parametrized with 'one': give arguments of the marker, such as {'brokers': 3}*"
    )


def test_marker_that_nothing_reads_fails_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def own(request):
            return request.getfixturevalue("kafka_double")

        @pytest.mark.kafka_double(stepped=True)
        def test_without():
            pass

        @pytest.mark.kafka_double(brokers=3)
        def test_of_the_session(kafka_double_session):
            assert len(kafka_double_session.brokers) == 3

        @pytest.mark.kafka_double(seed=1)
        def test_never_asked_for(request):
            pass

        @pytest.mark.kafka_double(stepped=True)
        def test_indirectly(own):
            own.advance(1)

        @pytest.mark.kafka_double(stepped=True)
        def test_in_the_test(request):
            request.getfixturevalue("kafka_double").advance(1)

        @pytest.mark.kafka_double(strict_rules=True)
        def test_of_every_fixture(kafka_double_session):
            pass

        @pytest.mark.kafka_double(stepped=True)
        class TestSome:
            def test_one(self, kafka_double):
                kafka_double.advance(1)

            def test_other(self):
                pass
        """
    )
    result = run(pytester, passed=5, failed=3)
    result.stdout.fnmatch_lines(
        ["*marker kafka_double(stepped) has no effect: test_without does not use the fixture kafka_double;*"]
    )
    result.stdout.fnmatch_lines_random(
        ["*marker kafka_double(brokers) has no effect*", "*marker kafka_double(seed) has no effect*"]
    )


def test_marker_of_a_class_is_a_warning_where_a_test_uses_the_double_of_the_session(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kafka_double(brokers=3)
        class TestMarked:
            def test_one(self, kafka_double_session):
                pass
        """
    )
    result = run(pytester, "-W", "default", passed=1, warnings=1)
    result.stdout.fnmatch_lines("*UnusedMarkerWarning: test_one uses kafka_double_session, for which the marker*")
