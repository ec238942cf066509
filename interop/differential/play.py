"""Plays scripts to both brokers, request by request, and reports the differences."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.support.matching import Mismatch, errors_in, match

from .compare import RequestDifference, differences
from .divergence import is_listed
from .normal import Normal
from .script import Ask, Deed, Hear, steps
from .settle import settle
from .side import GLANCE, NO_REQUEST, Outcome, Side

NAME = re.compile(r"\$(\w+)")

EVENTUALLY = 30.0
"""Seconds within which both brokers must reach the same state."""

IN_VAIN = 120.0
"""Seconds that a run may wait for answers that never agree. After that, no request is repeated."""

PAUSE = 0.02
"""Seconds between two repetitions of a request."""

PATIENCE = 60.0
"""Seconds within which the answer that the script specifies must arrive. Several session timeouts
fit in this time."""

IN_SETS = {
    "isrNodes",
    "offlineReplicas",
    "eligibleLeaderReplicas",
    "lastKnownElr",
    "addingReplicas",
    "removingReplicas",
}
"""Fields with lists of replicas that are compared as sets, because they have no order."""

READS = {
    "ApiVersions",
    "DescribeCluster",
    "DescribeConfigs",
    "DescribeGroups",
    "DescribeLogDirs",
    "DescribeProducers",
    "DescribeQuorum",
    "DescribeTopicPartitions",
    "DescribeTransactions",
    "Fetch",
    "FindCoordinator",
    "ListGroups",
    "ListOffsets",
    "ListTransactions",
    "ListPartitionReassignments",
    "Metadata",
    "OffsetFetch",
    "OffsetForLeaderEpoch",
}
"""APIs that only read, so that their requests can be repeated; `changes_nothing` finds such
requests of other APIs."""

CHANGING = {"sessionId", "sessionEpoch", "replicaId", "replicaState"}
"""Fields by which a Fetch changes the state of a broker."""


class Report:
    """The counts of a run, and the differences that it found."""

    def __init__(self) -> None:
        self.pairs = 0
        self.differing = 0
        self.distinct: set[tuple[str, int, str]] = set()
        self.versions: Counter[tuple[str, int]] = Counter()
        self.codes: set[tuple[str, str]] = set()
        """Error codes that both brokers answered to the same request, with its API."""
        self.codes_of_kafka: set[tuple[str, str]] = set()
        self.found: list[RequestDifference] = []
        self.unplayable: list[str] = []
        self.in_vain = 0.0
        """Seconds spent waiting for answers that did not come."""

    def summary(self) -> str:
        """The summary of the run in one line."""
        return (
            f"{self.pairs} request pairs compared, {len(self.distinct)} of them differ in API, version or outcome; "
            f"{self.differing} differ by design, if nothing else is said"
        )


class Play:
    """Plays one script to two brokers, of which the first is ours, or to two clusters. With
    clusters, `do` applies a deed to both.

    The brokers of a cluster reach a state at different times: replicas fetch, leaders notice it,
    and each broker learns of it by itself. So a request that only reads is repeated until both
    sides give the same answer. If the answers still differ after EVENTUALLY, the difference is
    reported.
    """

    def __init__(
        self, path: Path, ours: Side, theirs: Side, report: Report, do: Callable[[Deed], None] | None = None
    ) -> None:
        self.path, self.sides, self.report, self._do = path, (ours, theirs), report, do
        self.normal = (Normal(), Normal())
        self._own_name = re.compile(rf"\b{path.stem.replace('_', '-')}-[\w.-]+")
        self._waiting: dict[str, list[Ask]] = {}
        self._last: tuple[Outcome, ...] = ()

    def run(self) -> None:
        """Plays the script to its end."""
        for side in self.sides:
            side.begin(int(time.time() * 1000))
        for step in steps(self.path):
            try:
                if isinstance(step, Ask):
                    self._ask(step)
                elif isinstance(step, Deed):
                    assert self._do is not None, "one broker is not killed"
                    self._do(step)
                else:
                    self._hear(step)
            except (Mismatch, AssertionError, KeyError, ValueError, OSError, RuntimeError) as problem:
                self.report.unplayable.append(f"{self.path.stem}:{step.line}: {type(problem).__name__}: {problem}")
                return

    def _ask(self, step: Ask) -> None:
        if step.version is None:
            frame = bytes.fromhex(step.body)
            outcomes = [side.ask_raw(step.client, step.api, frame) for side in self.sides]
            self._compare(step, int.from_bytes(frame[2:4], signed=True), outcomes)
            return
        given = yaml.safe_load(step.body) or {}
        if step.how == "?>":
            self._compare(step, step.version, [self._awaited(side, step, step.version, given) for side in self.sides])
            return
        outcomes = [side.ask(step.client, step.api, step.version, given, wait=step.how != ">>") for side in self.sides]
        if outcomes == [NO_REQUEST, NO_REQUEST]:
            return
        if step.how == ">>":
            self._waiting.setdefault(step.client, []).append(step)
            return
        for side, outcome in zip(self.sides, outcomes, strict=True):
            settle(side, step.api, given, outcome)
        if step.how == "~>" or (self._do and changes_nothing(step.api, given)):
            outcomes = self._agreed(step, step.version, given, outcomes)
        self._compare(step, step.version, outcomes)

    def _agreed(self, step: Ask, version: int, given: dict[str, Any], outcomes: list[Outcome]) -> list[Outcome]:
        """Repeats the request until both answers differ only in listed ways."""
        begun = time.monotonic()
        while not all(map(is_listed, self._found(step, version, outcomes))):
            waited = time.monotonic() - begun
            if waited > EVENTUALLY or self.report.in_vain > IN_VAIN:
                self.report.in_vain += waited
                break
            time.sleep(PAUSE)
            outcomes = [side.ask(step.client, step.api, version, given) for side in self.sides]
        return outcomes

    def _awaited(self, side: Side, step: Ask, version: int, given: dict[str, Any]) -> Outcome:
        """The first answer that matches the script's expectation."""
        expected, end = _sorted(yaml.safe_load(step.expected)), time.monotonic() + PATIENCE
        while True:
            outcome = side.ask(step.client, step.api, version, given)
            try:
                match(expected, _sorted(outcome), side.known)
            except Mismatch as mismatch:
                if time.monotonic() > end:
                    raise Mismatch(f"{side.name}: {mismatch}") from None
                time.sleep(PAUSE)
            else:
                return outcome

    def _found(self, step: Ask, version: int, outcomes: list[Outcome]) -> list[RequestDifference]:
        ours, theirs = (normal.of(outcome) for normal, outcome in zip(self.normal, outcomes, strict=True))
        return [
            RequestDifference(self.path.stem, step.line, step.api, version, each) for each in differences(ours, theirs)
        ]

    def _hear(self, step: Hear) -> None:
        if step.pattern and step.pattern != "nothing yet":
            for side, outcome in zip(self.sides, self._last, strict=True):
                for name in NAME.findall(step.pattern):
                    side.known.pop(name, None)
                try:
                    match(yaml.safe_load(step.pattern), outcome, side.known)
                except Mismatch as mismatch:
                    raise Mismatch(f"{side.name}: {mismatch}") from None
            return
        request = self._waiting[step.client][0]
        if step.pattern:
            ours, theirs = self.sides
            outcomes = [ours.hear(step.client, GLANCE), theirs.hear(step.client, GLANCE / 10)]
            self._compare(request, request.version or 0, outcomes)
            return
        self._waiting[step.client].pop(0)
        self._compare(request, request.version or 0, [side.hear(step.client) for side in self.sides])

    def _compare(self, step: Ask, version: int, outcomes: list[Outcome]) -> None:
        self._last = tuple(outcomes)
        found, theirs = self._found(step, version, outcomes), self.normal[1].of(outcomes[1])
        report = self.report
        report.pairs += 1
        report.versions[step.api, version] += 1
        codes, codes_of_kafka = ({(step.api, code) for _, code in errors_in(outcome, "")} for outcome in outcomes)
        report.codes |= codes & codes_of_kafka
        report.codes_of_kafka |= codes_of_kafka
        report.distinct.add((step.api, version, self._own_name.sub("~", repr(theirs))))
        report.differing += bool(found)
        report.found += found


def changes_nothing(api: str, given: dict[str, Any]) -> bool:
    """Whether a request changes nothing, so that it can be repeated."""
    if api == "Fetch":
        return not CHANGING & given.keys()
    return api in READS and (api != "Metadata" or not given.get("allowAutoTopicCreation", True))


def _sorted(value: Any, field: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _sorted(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return sorted(value) if field in IN_SETS else [_sorted(each, field) for each in value]
    return value
