"""The parts of the differential tests: scripts, normalisation, differences, and the list of
divergences. These tests need no broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.error_rows import ROWS

from . import coverage
from .compare import Difference, RequestDifference, differences
from .divergence import PAGE, Pattern, as_markdown, rows, sorted_out
from .normal import Normal
from .request import body_of
from .script import SCRIPTS, Ask, Deed, Hear, Step, settings, steps

MEMBER = "a-0f2f11b5-0d4c-4b0e-8f0c-0123456789ab"
TOPIC = "oXqe-IlpRumpuOu1lDdhQQ"


def script(folder: Path, text: str) -> list[Step]:
    path = folder / "some_script.txt"
    path.write_text(text)
    return list(steps(path))


def test_a_line_is_a_request_in_every_version_of_its_range(tmp_path: Path) -> None:
    steps = script(tmp_path, "a > Heartbeat v2..3 {groupId: ~g<v>}\na > Heartbeat v3.. {}\na > Heartbeat v* {}")
    assert [step.version for step in steps if isinstance(step, Ask)] == [2, 3, 3, 4, 0, 1, 2, 3, 4]
    assert isinstance(steps[1], Ask)
    assert steps[1].body == "{groupId: some-script-g3}"


def test_play_includes_the_steps_of_another_script(tmp_path: Path) -> None:
    *played, last = script(tmp_path, "play describe_cluster\na < {}")
    assert played == list(steps(SCRIPTS / "describe_cluster.txt"))
    assert isinstance(last, Hear)


def test_loops_nest(tmp_path: Path) -> None:
    steps = script(
        tmp_path, "for n in 1 | 2\nfor v in OffsetDelete\na >> Heartbeat v0 {groupId: g<n><v>}\nend\na < {}\nend"
    )
    assert [step.body if isinstance(step, Ask) else step.pattern for step in steps if isinstance(step, Ask | Hear)] == [
        "{groupId: g10}",
        "{}",
        "{groupId: g20}",
        "{}",
    ]


@pytest.mark.parametrize("text", ["for n in 1 | 2", "a Heartbeat", "a > FetchSnapshot v0 {}"])
def test_invalid_script_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        script(tmp_path, text)


def test_requests_waits_and_kills_with_three_brokers(tmp_path: Path) -> None:
    request, *deeds = script(tmp_path, "a@2 ?> Metadata v12 {topics: []} :: {brokers: [{}]}\nkill 3\ngone 3\nstart 3")
    assert isinstance(request, Ask)
    assert (request.client, request.how, request.body, request.expected) == (
        "a@2",
        "?>",
        "{topics: []}",
        "{brokers: [{}]}",
    )
    assert deeds == [Deed(2, "kill", 3), Deed(3, "gone", 3), Deed(4, "start", 3)]


def test_coverage_of_three_brokers_requires_exactly_their_error_rows() -> None:
    assert "Produce NOT_LEADER_OR_FOLLOWER is not provoked" in coverage.problems_of_three(set())
    never = {("Produce", "KAFKA_STORAGE_ERROR"), ("Produce", "UNKNOWN_TOPIC_OR_PARTITION")}
    assert "Produce KAFKA_STORAGE_ERROR is listed as impossible" in coverage.problems_of_three(never)
    assert not [each for each in coverage.problems_of_three(never) if "UNKNOWN_TOPIC_OR_PARTITION" in each]


def test_body_of_leaves_out_fields_that_the_version_lacks() -> None:
    given = {"groupId": "g", "groupInstanceId": "i"}
    assert body_of("Heartbeat", 2, given).group_instance_id is None
    assert body_of("Heartbeat", 3, given).group_instance_id == "i"
    with pytest.raises(ValueError, match="has no"):
        body_of("Heartbeat", 2, {"group": "g"})


def test_generated_ids_are_replaced_by_stable_names() -> None:
    normal = Normal()
    assert normal.of({"memberId": MEMBER, "errorMessage": f"no {MEMBER} here"}) == {
        "memberId": "member 1",
        "errorMessage": "no member 1 here",
    }
    assert normal.of([{"name": "t", "topicId": TOPIC}, {"topicId": TOPIC}]) == [
        {"name": "t", "topicId": "id of t"},
        {"topicId": "id of t"},
    ]
    assert normal.of({"port": 9092, "producerId": 4000}) == {"port": "port", "producerId": "producer 1"}
    assert normal.of({"port": -1, "producerId": -1, "offset": 4000}) == {"port": -1, "producerId": -1, "offset": 4000}


def test_differences_have_paths_and_elements_have_keys() -> None:
    ours = {"topics": [{"name": "a", "n": 1}, {"name": "b", "n": 2}], "list": [1, 2]}
    theirs = {"topics": [{"name": "b", "n": 3}, {"name": "c", "n": 1}], "list": [1]}
    assert set(map(str, differences(ours, theirs))) == {
        "topics[]: ours {'name': 'a', 'n': 1}, theirs 'absent'",
        "topics[].n: ours 2, theirs 3",
        "topics[]: ours 'absent', theirs {'name': 'c', 'n': 1}",
        "list[]: ours 2, theirs 'absent'",
    }
    assert next(iter(differences("no answer", ours))).path == ""


def test_rows_of_unlisted_and_stale_divergences_fail() -> None:
    listed = rows(
        '[[row]]\nsection = "s"\nkafka = "k"\nhere = "h"\nwhy = "w"\n'
        'shown = [{ api = "Fetch", path = "topics[].x", ours = "1*" }, { api = "Fetch", path = "y" }]'
    )
    known = RequestDifference("fetch", 1, "Fetch", 4, Difference("topics[].x", 12, 3))
    new = RequestDifference("fetch", 2, "Fetch", 4, Difference("topics[].x", 2, 3))
    assert sorted_out([known, new], listed) == ([new], [Pattern("Fetch", "y")])


def test_divergence_with_versions_covers_exactly_these_versions() -> None:
    listed = rows(
        '[[row]]\nsection = "s"\nkafka = "k"\nhere = "h"\nwhy = "w"\n'
        'shown = [{ api = "Heartbeat", path = "x", versions = "3.." }]'
    )
    at = {version: RequestDifference("s", 1, "Heartbeat", version, Difference("x", 1, 2)) for version in (2, 3, 4)}
    assert sorted_out([at[3], at[4]], listed) == ([], [])
    assert sorted_out(list(at.values()), listed) == ([at[2]], [])
    assert sorted_out([at[3]], listed)[1] == [Pattern("Heartbeat", "x", versions="3..")]


def test_coverage_requires_that_error_rows_are_provoked_or_excused() -> None:
    provoked = {(api, code) for api, codes in ROWS.items() for code in codes} - coverage.excuses().keys()
    assert coverage.problems(provoked, provoked) == []
    assert coverage.problems(provoked - {("Fetch", "UNKNOWN_TOPIC_ID")}, set()) == [
        "Fetch UNKNOWN_TOPIC_ID is neither provoked nor excused"
    ]
    assert coverage.problems(provoked | {("Fetch", "FENCED_LEADER_EPOCH")}, {("Fetch", "NETWORK_EXCEPTION")}) == [
        "Fetch FENCED_LEADER_EPOCH is excused and provoked",
        "Fetch NETWORK_EXCEPTION came from Kafka and is no row",
    ]


def test_settings_of_a_script_are_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "some_script.txt"
    path.write_text("# What it is.\nbrokers a=1 b=2\na > Heartbeat v3 {}")
    assert settings(path) == ("a=1", "b=2")
    assert len(list(steps(path))) == 1
    path.write_text("a > Heartbeat v3 {}")
    assert settings(path) == ()


def test_divergence_row_needs_a_pattern_or_a_reason() -> None:
    with pytest.raises(ValueError, match="either"):
        rows('[[row]]\nsection = "s"\nkafka = "k"\nhere = "h"\nwhy = "w"')


def test_divergence_page_is_up_to_date() -> None:
    assert PAGE.read_text() == as_markdown(), "python -m interop.differential.divergence writes it"
