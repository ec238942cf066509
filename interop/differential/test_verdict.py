"""What fails a comparison, by plays that are made up: none of it needs a broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from . import verdict
from .compare import Difference, RequestDifference
from .divergence import rows
from .play import Report, changes_nothing
from .verdict import Problem

LISTED = rows(
    '[[row]]\nsection = "s"\nkafka = "k"\nhere = "h"\nwhy = "w"\nshown = [{ api = "Fetch", path = "listed", versions = "4" }]'
)


def found(path: str = "listed", *, line: int = 1, version: int = 4, ours: object = 1) -> RequestDifference:
    return RequestDifference("script", line, "Fetch", version, Difference(path, ours, 2))


def judged(*plays: Report) -> tuple[int, verdict.Verdict]:
    """How many of them were played, and the verdict."""
    left = list(plays)
    _, came = verdict.of_two(Path(), lambda _: left.pop(0), problems)
    return len(plays) - len(left), came


def problems(report: Report) -> list[Problem]:
    return verdict.of_report(report, LISTED, LISTED, sorted(f"{api} {code}" for api, code in report.codes))


def play(
    *differing: RequestDifference, unplayable: tuple[str, ...] = (), codes: tuple[tuple[str, str], ...] = ()
) -> Report:
    report = Report()
    report.found = [found(), *differing]
    report.unplayable, report.codes = [*unplayable], set(codes)
    return report


def test_script_without_problems_is_played_once() -> None:
    assert judged(play(), play(found("x"))) == (1, verdict.Verdict([], []))


def test_difference_in_both_plays_of_a_script_fails() -> None:
    count, came = judged(play(found("x", ours=1)), play(found("x", ours=3)))
    assert count == 2
    assert came == verdict.Verdict(["not in divergence.toml: script:1 Fetch v4 x: ours 3, theirs 2"], [])


@pytest.mark.parametrize("again", [(), (found("y"),), (found("x", line=2),), (found("x", version=5),)])
def test_difference_in_one_play_of_a_script_is_only_reported(again: tuple[RequestDifference, ...]) -> None:
    _, came = judged(play(found("x")), play(*again))
    assert came.failures == []
    assert came.once[0] == "not in divergence.toml: script:1 Fetch v4 x: ours 1, theirs 2"
    assert len(came.once) == 1 + len(again)
    assert came.lines("these")[0].startswith(
        "tried again: these, for what one play of two showed: not in divergence.toml"
    )


def test_stale_divergence_in_both_plays_of_a_script_fails() -> None:
    silent = Report()
    assert judged(silent, Report())[1].failures == [
        "in divergence.toml, and not different: api Fetch, path listed, versions 4"
    ]
    assert judged(silent, play())[1].failures == []


def test_a_script_that_cannot_be_played_fails_when_it_stops_at_the_same_line_twice() -> None:
    stops, elsewhere = play(unplayable=("script:7: Mismatch: 1",)), play(unplayable=("script:8: Mismatch: 1",))
    assert judged(stops, play(unplayable=("script:7: Mismatch: 2",)))[1].failures == [
        "cannot be played: script:7: Mismatch: 2"
    ]
    assert judged(stops, elsewhere)[1].failures == []


def test_other_problem_in_both_plays_of_a_script_fails() -> None:
    wrong = play(codes=(("Fetch", "NONE"),))
    assert judged(wrong, wrong)[1].failures == ["Fetch NONE"]
    assert judged(wrong, play())[1] == verdict.Verdict([], ["Fetch NONE"])


def test_differences_in_one_play_of_a_script_are_reported_up_to_a_bound() -> None:
    def many() -> Iterator[RequestDifference]:
        return (found("x", line=line) for line in range(verdict.MOST + 5))

    lines = judged(play(*many()), play())[1].lines("these")
    assert len(lines) == verdict.MOST + 1
    assert lines[-1].endswith("... and 5 more")


@pytest.mark.parametrize(
    ("api", "given", "nothing"),
    [
        ("DescribeTopicPartitions", {}, True),
        ("Produce", {}, False),
        ("Metadata", {"allowAutoTopicCreation": False}, True),
        ("Metadata", {}, False),
        ("Fetch", {"maxWaitMs": 0}, True),
        ("Fetch", {"sessionEpoch": 0}, False),
        ("Fetch", {"replicaId": 2}, False),
    ],
)
def test_requests_that_change_nothing_are_recognized(api: str, given: dict[str, object], nothing: bool) -> None:
    assert changes_nothing(api, given) == nothing
