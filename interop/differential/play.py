"""Playing scripts to both brokers, request by request, and what came of it."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.support.matching import Mismatch, errors_in, match

from .compare import Difference, differences
from .normal import Normal
from .script import Ask, Hear, steps
from .settle import settle
from .side import GLANCE, NO_REQUEST, Outcome, Side

NAME = re.compile(r"\$(\w+)")

EVENTUALLY = 2.0
"""Seconds in which what Kafka does by and by must be done."""


class Found(NamedTuple):
    """A difference and the request that shows it."""

    script: str
    line: int
    api: str
    version: int
    difference: Difference

    def __str__(self) -> str:
        return f"{self.script}:{self.line} {self.api} v{self.version} {self.difference}"


class Report:
    """What a run compared."""

    def __init__(self) -> None:
        self.pairs = 0
        self.differing = 0
        self.distinct: set[tuple[str, int, str]] = set()
        self.versions: Counter[tuple[str, int]] = Counter()
        self.codes: set[tuple[str, str]] = set()
        """Error codes that both brokers gave in answer to one request, with its API."""
        self.codes_of_kafka: set[tuple[str, str]] = set()
        self.found: list[Found] = []
        self.unplayable: list[str] = []

    def summary(self) -> str:
        """The run in a line."""
        return (
            f"{self.pairs} request pairs compared, {len(self.distinct)} of them differ in API, version or outcome; "
            f"{self.differing} differ by design, if nothing else is said"
        )


class Play:
    """One script against two brokers. The first is ours."""

    def __init__(self, path: Path, ours: Side, theirs: Side, report: Report) -> None:
        self.path, self.sides, self.report = path, (ours, theirs), report
        self.normal = (Normal(), Normal())
        self._own_name = re.compile(rf"\b{path.stem.replace('_', '-')}-[\w.-]+")
        self._waiting: dict[str, list[Ask]] = {}
        self._last: tuple[Outcome, ...] = ()

    def run(self) -> None:
        """Play it to its end."""
        for side in self.sides:
            side.begin(int(time.time() * 1000))
        for step in steps(self.path):
            try:
                if isinstance(step, Ask):
                    self._ask(step)
                else:
                    self._hear(step)
            except (Mismatch, AssertionError, KeyError, ValueError) as problem:
                self.report.unplayable.append(f"{self.path.stem}:{step.line}: {type(problem).__name__}: {problem}")
                return

    def _ask(self, step: Ask) -> None:
        if step.version is None:
            frame = bytes.fromhex(step.body)
            outcomes = [side.ask_raw(step.client, step.api, frame) for side in self.sides]
            self._compare(step, int.from_bytes(frame[2:4], signed=True), outcomes)
            return
        given = yaml.safe_load(step.body) or {}
        outcomes = [side.ask(step.client, step.api, step.version, given, wait=step.how != ">>") for side in self.sides]
        if outcomes == [NO_REQUEST, NO_REQUEST]:
            return
        if step.how == ">>":
            self._waiting.setdefault(step.client, []).append(step)
            return
        for side, outcome in zip(self.sides, outcomes, strict=True):
            settle(side, step.api, given, outcome)
        end = time.monotonic() + EVENTUALLY
        while step.how == "~>" and self._differ(outcomes) and time.monotonic() < end:
            outcomes = [side.ask(step.client, step.api, step.version, given) for side in self.sides]
        self._compare(step, step.version, outcomes)

    def _differ(self, outcomes: list[Outcome]) -> bool:
        ours, theirs = (normal.of(outcome) for normal, outcome in zip(self.normal, outcomes, strict=True))
        return next(differences(ours, theirs), None) is not None

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
        asked = self._waiting[step.client][0]
        if step.pattern:
            ours, theirs = self.sides
            outcomes = [ours.hear(step.client, GLANCE), theirs.hear(step.client, GLANCE / 10)]
            self._compare(asked, asked.version or 0, outcomes)
            return
        self._waiting[step.client].pop(0)
        self._compare(asked, asked.version or 0, [side.hear(step.client) for side in self.sides])

    def _compare(self, step: Ask, version: int, outcomes: list[Outcome]) -> None:
        self._last = tuple(outcomes)
        ours, theirs = (normal.of(outcome) for normal, outcome in zip(self.normal, outcomes, strict=True))
        report = self.report
        report.pairs += 1
        report.versions[step.api, version] += 1
        codes, codes_of_kafka = ({(step.api, code) for _, code in errors_in(each, "")} for each in outcomes)
        report.codes |= codes & codes_of_kafka
        report.codes_of_kafka |= codes_of_kafka
        report.distinct.add((step.api, version, self._own_name.sub("~", repr(theirs))))
        found = [Found(self.path.stem, step.line, step.api, version, each) for each in differences(ours, theirs)]
        report.differing += bool(found)
        report.found += found
