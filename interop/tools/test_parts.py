"""The parts that need no Java: what tools say taken apart, what matches what, and the page."""

from __future__ import annotations

import re

from interop.walks.page import served
from kafkadouble.messages.registry import api_named

from .page import section
from .parse import apis, columns, counts, everything, pairs, settings, stream, tabbed
from .resident import ToolOutput
from .row import CLASSES, Row, Says, Scenario, filled, has, lacks, matches, only_reads, refusal_of, those, words_of
from .rows import ROWS, SCENARIOS, scenarios


def printed(out: str) -> ToolOutput:
    return ToolOutput(0, out, "")


def test_columns_stand_below_their_heads() -> None:
    output = printed(
        "\nWarn: none\n\nGROUP    COORDINATOR (ID)  STATE\na-group  h:1  (1)          Empty\nb        h:1  (1)\n"
    )
    assert columns(output) == [
        {"GROUP": "a-group", "COORDINATOR (ID)": "h:1  (1)", "STATE": "Empty"},
        {"GROUP": "b", "COORDINATOR (ID)": "h:1  (1)", "STATE": ""},
    ]
    assert columns(printed("\n")) == []


def test_tables_with_tabs() -> None:
    assert tabbed(printed("A \tB\t\n1\t2 \t\n")) == [{"A": "1", "B": "2"}]


def test_pairs_of_a_line() -> None:
    assert pairs(printed("\tTopic: t\tIsr: 1\tElr: \n")) == [{"Topic": "t", "Isr": "1", "Elr": ""}]
    assert pairs(printed("Feature: a.b   Epoch: 3\nUrl: h:1\n")) == [{"Feature": "a.b", "Epoch": "3"}, {"Url": "h:1"}]


def test_settings_with_their_synonyms() -> None:
    output = printed(
        "All configs are:\n  a.b=c,d sensitive=false synonyms={X:a.b=c,d, Y:b=}\n  e= sensitive=true synonyms={}\n"
    )
    assert settings(output) == {
        "a.b": {"value": "c,d", "sensitive": "false", "synonyms": "X:a.b=c,d, Y:b="},
        "e": {"value": "", "sensitive": "true", "synonyms": ""},
    }


def test_json_lines_are_counted_by_name() -> None:
    assert counts(printed('text\n{"name": "a"}\n{"name": "b"}\n{"name": "a"}\n')) == {"a": 2, "b": 1}


def test_objects_without_lines_between() -> None:
    assert stream(printed('{"a": 1}{"b": "}{"}\n{"c": null}\n')) == [{"a": 1}, {"b": "}{"}, {"c": None}]


def test_versions_of_apis() -> None:
    output = printed("h:1 (id: 1) -> (\n\tProduce(0): 0 to 13 [usable: 13],\n\tEndTxn(26): UNSUPPORTED\n)\n")
    assert apis(output) == {"Produce": "13", "EndTxn": "UNSUPPORTED"}


def test_answers_match_expected_values_and_patterns() -> None:
    assert matches({"a": 1, "b": 2}, {"a": 1})
    assert not matches({"a": 1}, {"a": 1, "b": 2})
    assert matches(["x", {"a": "12"}], ["x", {"a": re.compile(r"\d+")}])
    assert not matches(["x", "y"], ["x"])
    assert not matches(["x12"], [re.compile(r"\d+")])
    assert matches(3, lambda found: found > 2)
    assert matches(["x", "y", "z"], has("z", "x"))
    assert not matches(["x"], has("x", "y"))
    assert matches("x and y", Says(("y", "x")))
    assert not matches("x", Says(("x", "y")))
    assert matches(["x"], lacks("y"))
    assert not matches(["x", "y"], lacks("y"))
    assert matches([{"a": 1, "b": 2}, {"a": 3}, {"a": 1}], those({"a": 1}, [{"b": 2}, {}]))
    assert not matches([{"a": 1}, {"a": 3}, {"a": 1}], those({"a": 1}, [{}]))


def test_placeholders_are_filled_in_wherever_they_stand() -> None:
    expected = {"{topic}": ["{topic}:0", has("{group}"), lacks("{group}"), those("{group}", 3)]}
    assert filled(expected, {"topic": "t", "group": "g"}) == {"t": ["t:0", has("g"), lacks("g"), those("g", 3)]}
    assert type(filled(lacks("{group}"), {"group": "g"})) is type(lacks())
    row = Row("kafka-topics", "", "--list 'a b' {topic}")
    assert words_of(row, {"topic": "t", "bootstrap": "h:1"}) == ["--bootstrap-server", "h:1", "--list", "a b", "t"]


def test_the_table_names_tools_and_apis_that_there_are() -> None:
    for row in [row for scenario in SCENARIOS for row in scenario.rows]:
        assert row.tool in CLASSES
        assert not row.needs or api_named(row.needs)
    assert {row.tool for row in ROWS} == set(CLASSES)
    names = [(row.tool, row.does) for row in ROWS]
    assert len(names) == len(set(names))


TEXT = """\
# About it.
== one: own, transaction open
create: kafka-topics --create --topic
        {topic} (code 1, needs CreateTopics)
    file a.txt "x\\n"
    stdin "y"
    says No.
    says Never.

== two
kafka-transactions list ( (code 1)
    tabbed has {A: '/.+/'}, {B: "1"}
kafka-topics --list
    []
"""


def test_the_language_of_the_table() -> None:
    create = Row("kafka-topics", "create", "--create --topic {topic}", Says(("No.", "Never.")), everything, 1)
    find = Row("kafka-transactions", "", "list (", has({"A": re.compile(".+")}, {"B": "1"}), tabbed, 1)
    assert list(scenarios(TEXT)) == [
        Scenario(
            "one",
            [create._replace(stdin="y", files={"a.txt": "x\n"}, needs="CreateTopics")],
            own=True,
            transaction="open",
        ),
        Scenario("two", [find, Row("kafka-topics", "", "--list", [])]),
    ]


def test_tool_commands_that_only_read_may_be_repeated() -> None:
    assert only_reads(Row("kafka-topics", "", "--describe --topic t"))
    assert only_reads(Row("kafka-console-consumer", "", "--topic t"))
    assert not only_reads(Row("kafka-console-consumer", "", "--topic t --group g"))
    assert not only_reads(Row("kafka-topics", "", "--create --topic t"))


def test_a_refusal_names_the_api() -> None:
    row = Row("kafka-metadata-quorum", "", "describe", needs="DescribeQuorum")
    assert refusal_of(row) == "The node does not support DESCRIBE_QUORUM"


def test_the_page_says_that_every_row_works_and_each_api_of_a_row_is_served() -> None:
    assert "| kafka-log-dirs | describe |" in section()
    assert {row.needs for row in ROWS if row.needs} <= served()
