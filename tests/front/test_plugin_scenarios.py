"""Scenarios in the pytest plugin, by running suites: the marker, the setting of a run, and that no
test finds what the scenario of another one left."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.front.plugin_suites import run

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("broker_imported")

SCENARIO = """
topics: [{name: orders, records: [two pears]}]
rules: [{match: {api: Produce}, action: {type: fail, error: NOT_LEADER_OR_FOLLOWER}}]
steps: [{at: 5, verb: create_topic, name: late}, {at: 3600, verb: down}]
"""


@pytest.fixture
def _files(pytester: pytest.Pytester) -> None:
    (pytester.path / "x.yaml").write_text(SCENARIO)
    folder = pytester.path / "below"
    folder.mkdir()
    (folder / "y.toml").write_text('topics = [{ name = "below" }]')


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("isolation", ["fresh", "reset", "namespace", "none"])
def test_a_marked_test_has_its_scenario_and_no_other_test_has_it(pytester: pytest.Pytester, isolation: str) -> None:
    suite = """
        import threading
        import pytest
        from pathlib import Path

        def test_before(kafka_double):
            assert kafka_double.topics() == {}
            assert kafka_double.scenario_steps == []

        @pytest.mark.kafka_double(scenario="%s", stepped=True)
        def test_marked(kafka_double):
            assert list(kafka_double.topics()) == ["%s"]

        @pytest.mark.kafka_double(scenario=Path("%s"))
        def test_of_a_path(kafka_double):
            assert list(kafka_double.topics()) == ["%s"]

        def test_after(kafka_double):
            assert kafka_double.topics() == {}
            assert kafka_double.rules == []
            assert kafka_double.scenario_steps == []
            assert "kafkadouble-scenario" not in [each.name for each in threading.enumerate()]
        """
    (pytester.path / "x.yaml").write_text(SCENARIO.replace("rules:", "# rules:"))
    (pytester.path / "test_above.py").write_text(dedent(suite % ("x.yaml", "orders", "x.yaml", "orders")))
    (pytester.path / "below" / "test_below.py").write_text(dedent(suite % ("y.toml", "below", "y.toml", "below")))
    run(pytester, "--import-mode=importlib", f"--kafkadouble-isolation={isolation}", passed=8)


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("isolation", ["fresh", "reset"])
def test_every_test_of_a_run_finds_the_scenario_of_the_run(pytester: pytest.Pytester, isolation: str) -> None:
    pytester.makeini("[pytest]\nkafkadouble_scenario = x.yaml\nkafkadouble_stepped = true\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(3))
        def test_alike(kafka_double, number):
            assert list(kafka_double.topics()) == ["orders"]
            assert len(kafka_double.rules) == 1
            kafka_double.advance(4.9)
            assert list(kafka_double.topics()) == ["orders"]
            kafka_double.advance(0.2)
            assert list(kafka_double.topics()) == ["late", "orders"]
            kafka_double.produce("orders", "more")
            assert len(kafka_double.records("orders")) == 2

        @pytest.mark.kafka_double(scenario=None)
        def test_without(kafka_double):
            assert kafka_double.topics() == {}
        """
    )
    # The rules of the run are for all tests: that one uses none of them is no mistake.
    run(pytester, f"--kafkadouble-isolation={isolation}", passed=4)


@pytest.mark.usefixtures("_files")
def test_scenario_is_applied_once_with_isolation_namespace(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_first(kafka_double, kafka_double_session):
            assert kafka_double is kafka_double_session
            kafka_double.produce("orders", "more")

        def test_second(kafka_double):
            assert len(kafka_double.records("orders")) == 2
            assert kafka_double.rules == []
        """
    )
    run(pytester, "--kafkadouble-isolation=namespace", "--kafkadouble-scenario=x.yaml", passed=2)


@pytest.mark.usefixtures("_files")
def test_a_rule_of_the_marker_that_matched_nothing_fails_a_strict_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kafka_double(scenario="x.yaml", strict_rules=True)
        def test_strict(kafka_double):
            pass
        """
    )
    run(pytester, failed=1).stdout.fnmatch_lines(["*no request matched 1 fault rule: fail Produce with*"])


def test_a_wrong_scenario_is_an_error_of_the_test(pytester: pytest.Pytester) -> None:
    (pytester.path / "x.yaml").write_text("topcs: []")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kafka_double(scenario="x.yaml")
        def test_wrong(kafka_double):
            pass

        @pytest.mark.kafka_double(scenario="absent.yaml")
        def test_absent(kafka_double):
            pass

        @pytest.mark.kafka_double(scenario=5)
        def test_number(kafka_double):
            pass
        """
    )
    result = run(pytester, errors=3)
    result.stdout.fnmatch_lines(["*x.yaml:1:1: a scenario has no field 'topcs'; did you mean 'topics'?*"])
    result.stdout.fnmatch_lines(["*absent.yaml: the scenario cannot be read: No such file*"])
    result.stdout.fnmatch_lines(["*scenario is the path of a file, not 5*"])
